"""Work that ends when its time is up or nobody waits for it any more."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from threading import Event
from typing import TypeVar

from holdfast.vocabulary.errors import TimedOut

from .pool import Pool

T = TypeVar("T")


@asynccontextmanager
async def within(seconds: float | None, what: str) -> AsyncGenerator[None]:
    """Let the block take `seconds` at most, or as long as it likes.

    Raises:
        TimedOut: It took longer.
    """
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            yield
    except TimeoutError:
        if not clock.expired():
            raise
        hint = "Look in a smaller directory, or for something more particular."
        raise TimedOut(f"{what} took longer than {seconds:g} seconds", hint=hint, seconds=seconds) from None


async def until_left(pool: Pool, work: Callable[[Event], T]) -> T:
    """Do the work in a thread of the pool; `work` is given an event that is set as soon as nobody waits for its result."""
    left = Event()
    try:
        return await pool.run(work, left)
    finally:
        left.set()
