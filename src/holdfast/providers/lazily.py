"""Something that is made when it is first wanted, in a thread: importing an SDK takes up to two seconds."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazily(Generic[T]):
    """One value, made once."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = asyncio.Lock()
        self.made: T | None = None

    async def get(self) -> T:
        """The value."""
        if self.made is None:
            async with self._lock:
                if self.made is None:
                    self.made = await asyncio.to_thread(self._make)
        return self.made
