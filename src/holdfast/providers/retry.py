"""Asking again: here and nowhere else, and only while nothing of an answer has been passed on."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from holdfast.vocabulary.chunks import Chunk, Fault, Retrying, Start
from holdfast.vocabulary.errors import ProviderError

from .settings import Retries


async def retried(attempt: Callable[[int], AsyncGenerator[Chunk]], retries: Retries) -> AsyncGenerator[Chunk]:
    """The chunks of the first attempt that gets somewhere; each is told its number, from 0.

    `Start` is held back until something follows it: an answer that fails
    right after it has not been acted on by anybody.
    """
    for number in range(retries.most + 1):
        start: Start | None = None
        is_passed_on = False
        failed: ProviderError | None = None
        async with aclosing(attempt(number)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Start) and not is_passed_on and start is None:
                    start = chunk
                    continue
                if isinstance(chunk, Fault) and not is_passed_on:
                    failed = chunk.error
                    break
                if start is not None:
                    held, start = start, None
                    yield held
                is_passed_on = True
                yield chunk
        if failed is None:
            return
        seconds = _pause(failed, number, retries)
        if seconds is None:
            yield Fault(failed)
            return
        yield Retrying(failed.message, seconds, number + 1)
        await asyncio.sleep(seconds)


def _pause(error: ProviderError, number: int, retries: Retries) -> float | None:
    """How long to wait before the next attempt; None when there is to be none."""
    if not error.is_passing or number >= retries.most:
        return None
    if error.retry_seconds is not None:
        # A little later than it says, and not everybody at once.
        return error.retry_seconds * (1 + random.random() * 0.1) if error.retry_seconds <= retries.longest_seconds else None
    return min(retries.first_seconds * 2**number, retries.longest_seconds) * (1 - random.random() * 0.25)
