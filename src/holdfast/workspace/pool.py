"""Threads for work that may wait for a disk, a bounded number for each mount.

One pool per mount, so that one hung file system does not use up the
threads of the others.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, ParamSpec, TypeVar

from .kernel import WouldBlock

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")

# About two milliseconds of light work.
_ITEMS_PER_TURN = 1_000


class Pool:
    """A few threads, started when first needed."""

    def __init__(self, name: str, threads: int = 4) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"holdfast-{name}")
        self._underway: set[Future[Any]] = set()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do the work in a thread; a cancelled caller does not wait for it, and the work runs to its end."""
        return await self.start(work, *args, **kwargs)

    def start(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """The same, for a caller that must hear of the end even when it is cancelled."""
        job = self._executor.submit(lambda: work(*args, **kwargs))
        self._underway.add(job)
        job.add_done_callback(self._underway.discard)
        return asyncio.wrap_future(job)

    def afterwards(self, step: Callable[[], None]) -> None:
        """Take `step` when all the work that is under way now has ended, which may be at once."""
        if jobs := self._underway.copy():
            threading.Thread(target=lambda: (wait(jobs), step()), daemon=True).start()
        else:
            step()

    def close(self) -> None:
        """Let running work end and take no more."""
        self._executor.shutdown(wait=False)


async def here_or_there(pool: Pool, work: Callable[[bool], T]) -> T:
    """Do the work on the loop's own thread when nothing has to be waited for, otherwise in the pool.

    `work` is given whether it may wait; when it may not and would have
    to, it raises `WouldBlock` before it has changed anything.
    """
    try:
        return work(False)
    except WouldBlock:
        return await pool.run(work, True)


async def in_turns(work: Callable[[A], T], items: Sequence[A]) -> list[T]:
    """Do light work on many things without keeping the loop from others for long."""
    done: list[T] = []
    for start in range(0, len(items), _ITEMS_PER_TURN):
        if start:
            await asyncio.sleep(0)
        done += map(work, items[start : start + _ITEMS_PER_TURN])
    return done
