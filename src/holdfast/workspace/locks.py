"""Locks on paths, for the tasks of one process.

A lock on a path covers everything below it, so whoever moves a folder
waits for those who write in it, and they for him. Several paths are
locked at once or not at all: two moves that cross never wait for each
other.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Hold:
    """Some paths that one change has for itself, or waits for."""

    paths: tuple[str, ...]
    granted: asyncio.Future[None] = field(repr=False)


class Locks:
    """First come, first served: nobody overtakes somebody who waits for a path that he wants too."""

    def __init__(self) -> None:
        self._held = _Taken()
        self._waiting: dict[Hold, None] = {}

    async def acquire(self, paths: Iterable[str]) -> Hold:
        """Wait until nobody else holds any of the paths, anything above or anything below them."""
        hold = Hold(tuple(paths), asyncio.get_running_loop().create_future())
        self._waiting[hold] = None
        self._grant()
        try:
            await hold.granted
        except asyncio.CancelledError:
            self.release(hold)
            raise
        return hold

    def release(self, hold: Hold) -> None:
        """Give the paths back, or no longer wait for them."""
        if hold in self._waiting:
            del self._waiting[hold]
        else:
            self._held.remove(hold.paths)
        self._grant()

    def _grant(self) -> None:
        wanted_before = _Taken()
        for hold in list(self._waiting):
            if self._held.overlaps(hold.paths) or wanted_before.overlaps(hold.paths):
                wanted_before.add(hold.paths)
                continue
            del self._waiting[hold]
            self._held.add(hold.paths)
            if not hold.granted.done():
                hold.granted.set_result(None)


class _Taken:
    """A set of paths that can tell, in as many steps as a path is deep, whether another overlaps with it."""

    def __init__(self) -> None:
        self._paths: Counter[str] = Counter()
        self._above: Counter[str] = Counter()

    def add(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._paths[path] += 1
            self._above.update(_above(path))

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            _less(self._paths, path)
            for above in _above(path):
                _less(self._above, above)

    def overlaps(self, paths: Iterable[str]) -> bool:
        return any(path in self._paths or path in self._above or any(above in self._paths for above in _above(path)) for path in paths)


def _above(path: str) -> Iterator[str]:
    while (cut := path.rfind("/")) >= 0:
        path = path[:cut]
        yield path


def _less(counter: Counter[str], path: str) -> None:
    counter[path] -= 1
    if not counter[path]:
        del counter[path]
