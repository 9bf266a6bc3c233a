"""Timing several ways to do one thing, in turns, so that a busy machine is unfair to all of them alike."""

import resource
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from statistics import median
from types import CoroutineType
from typing import Any, TypeAlias

Clock: TypeAlias = Callable[[], float]
Work: TypeAlias = Callable[[], Coroutine[Any, Any, object] | object]


@dataclass(frozen=True)
class Timed:
    """Work with something to be done before each time, which is not counted."""

    work: Work
    before: Callable[[], object]

    def __call__(self) -> Coroutine[Any, Any, object] | object:
        """Do the work alone."""
        return self.work()


def processor_seconds() -> float:
    """What this process and the programs it ran have used of the processor: a clock that a busy machine does not disturb."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


async def interleaved(contenders: Mapping[str, Work], *, rounds: int, times: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """The median seconds of each contender over the rounds, in each of which everybody has one turn of `times` times.

    One round more than is counted: the first fills caches. Whoever began one round ends the next.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    turns = list(contenders.items())
    for number in range(rounds + 1):
        for name, work in turns:
            taken = await _turn(work, times, clock)
            if number > 0:
                seconds[name].append(taken / times)
        turns = turns[1:] + turns[:1]
    return {name: median(each) for name, each in seconds.items()}


async def _turn(work: Work, times: int, clock: Clock) -> float:
    if isinstance(work, Timed):
        work.before()
    started = clock()
    for _ in range(times):
        result = work()
        if isinstance(result, CoroutineType):
            await result
    return clock() - started
