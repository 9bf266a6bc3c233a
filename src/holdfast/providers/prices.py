"""What models cost and how much they can read, from a table that comes with a library; no network."""

import asyncio
import sys
from dataclasses import replace
from functools import lru_cache
from importlib import import_module

from holdfast.vocabulary.chunks import Usage

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


@lru_cache(1024)
def _window(provider: str, model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot

    for table in dict.fromkeys((_TABLES.get(provider), None)):
        try:
            _, found = get_snapshot().find_provider_model(model, None, table, None)
        except LookupError:
            continue
        return found.context_window
    return None


def _cost(usage: Usage, provider: str, model: str) -> float | None:
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    counted = Counted(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        return float(calc_price(counted, model, provider_id=_TABLES[provider]).total_price)
    except (LookupError, ValueError):
        return None
