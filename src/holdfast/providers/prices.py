"""What models cost and how much they can read, from a table that comes with a library; no network."""

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.vocabulary.chunks import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo
    from genai_prices.types import Provider as TableProvider

_TABLE = "genai_prices.data"
# Whose prices a provider's models have; the others' cost is not known, or nothing.
_TABLES = {"anthropic": "anthropic", "openai": "openai"}


async def load() -> None:
    """Read the table, in a thread: it takes a third of a second."""
    if _TABLE not in sys.modules:
        await asyncio.to_thread(import_module, _TABLE)


async def window(provider: str, model: str) -> int | None:
    """How many tokens a model can read; None when the table does not know."""
    await load()
    return _window(provider, model)


async def priced(usage: Usage, provider: str, model: str) -> Usage:
    """The usage with its cost in US dollars, when that is known."""
    if provider not in _TABLES:
        return usage
    await load()
    return replace(usage, cost=_cost(usage, provider, model))


async def per_million(provider: str, model: str) -> tuple[float, float] | None:
    """What a million tokens cost in US dollars, in and out; None when the table does not know."""
    if provider not in _TABLES:
        return None
    await load()
    # By the thousand, because some ask more for each token of what is very long.
    costs = [_cost(usage, provider, model) for usage in (Usage(1_000, 0), Usage(0, 1_000))]
    return (round(costs[0] * 1000, 4), round(costs[1] * 1000, 4)) if costs[0] is not None and costs[1] is not None else None


def _window(provider: str, model: str) -> int | None:
    found = _found(_TABLES.get(provider), model) or _found(None, model)
    return found[1].context_window if found is not None else None


def _cost(usage: Usage, provider: str, model: str) -> float | None:
    found = _found(_TABLES[provider], model)
    if found is None:
        return None
    from genai_prices import Usage as Counted

    counted = Counted(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    whose, priced_model = found
    try:
        return float(priced_model.calc_price(counted, whose, genai_request_timestamp=datetime.now(UTC)).total_price)
    except (LookupError, ValueError):
        return None


@lru_cache(1024)
def _found(table: str | None, model: str) -> "tuple[TableProvider, ModelInfo] | None":
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, table, None)
    except LookupError:
        return None
