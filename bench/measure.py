"""Timing several ways to do one thing, in turns, so that a busy machine is unfair to all of them alike."""

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from statistics import median
from types import CoroutineType
from typing import Any, TypeAlias

Work: TypeAlias = Callable[[], Coroutine[Any, Any, object] | object]


@dataclass(frozen=True)
class Timed:
    """Work with something to be done before each time, which is not counted."""

    work: Work
    before: Callable[[], object]

    def __call__(self) -> Coroutine[Any, Any, object] | object:
        """Do the work alone."""
        return self.work()


async def interleaved(contenders: Mapping[str, Work], *, rounds: int, times: int) -> dict[str, float]:
    """The median seconds of each contender over the rounds, in each of which everybody has one turn of `times` times.

    One round more than is counted: the first fills caches. Whoever began one round ends the next.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    turns = list(contenders.items())
    for number in range(rounds + 1):
        for name, work in turns:
            taken = await _turn(work, times)
            if number > 0:
                seconds[name].append(taken / times)
        turns = turns[1:] + turns[:1]
    return {name: median(each) for name, each in seconds.items()}


async def _turn(work: Work, times: int) -> float:
    if isinstance(work, Timed):
        work.before()
    started = time.perf_counter()
    for _ in range(times):
        result = work()
        if isinstance(result, CoroutineType):
            await result
    return time.perf_counter() - started
