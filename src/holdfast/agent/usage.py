"""What the answers of a turn have cost together."""

from collections.abc import Mapping

from holdfast.vocabulary.chunks import Usage
from holdfast.vocabulary.json import Json, JsonObject

NOTHING = Usage(0, 0)


def sum_of(total: Usage, more: Usage | None) -> Usage:
    """Both together."""
    if more is None:
        return total
    cost = None if total.cost is None and more.cost is None else (total.cost or 0) + (more.cost or 0)
    return Usage(
        total.input_tokens + more.input_tokens,
        total.output_tokens + more.output_tokens,
        total.cached_tokens + more.cached_tokens,
        total.cache_write_tokens + more.cache_write_tokens,
        cost,
    )


def as_told(usage: Usage) -> JsonObject:
    """As clients see it."""
    told: dict[str, Json] = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "cachedTokens": usage.cached_tokens}
    return told if usage.cost is None else {**told, "cost": usage.cost}


def from_told(told: Json) -> Usage:
    """The same, read again; nothing when there is none."""
    if not isinstance(told, Mapping):
        return NOTHING
    counted = [told.get(name, 0) for name in ("inputTokens", "outputTokens", "cachedTokens")]
    cost = told.get("cost")
    return Usage(*(each if isinstance(each, int) else 0 for each in counted), cost=cost if isinstance(cost, float | int) else None)
