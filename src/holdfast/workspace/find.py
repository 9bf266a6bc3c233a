"""Entries by their name, kind and size."""

import os
from dataclasses import dataclass
from threading import Event

from .deadline import until_left, within
from .directories import Names
from .entry import Kind
from .glob import Selection, select
from .pattern import Matches, name_matcher
from .place import Place
from .sight import Sight
from .walk import Tally, runs


@dataclass(frozen=True)
class Criteria:
    """What an entry must be like; what is None does not matter.

    `name` knows `*`, `?` and `[…]`. Sizes and times are inclusive, and
    only files have a size. Times are seconds since 1970.
    """

    name: str | None = None
    kinds: frozenset[Kind] | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    modified_from: float | None = None
    modified_until: float | None = None
    recursive: bool = True

    def fits(self, about: os.stat_result) -> bool:
        """Whether kind, size and time are as wanted."""
        kind = Kind.of(about.st_mode)
        if self.kinds is not None and kind not in self.kinds:
            return False
        if (self.min_bytes is not None or self.max_bytes is not None) and kind is not Kind.FILE:
            return False
        return _within(self.min_bytes, about.st_size, self.max_bytes) and _within(self.modified_from, about.st_mtime, self.modified_until)


def _within(least: float | None, value: float, most: float | None) -> bool:
    return (least is None or least <= value) and (most is None or value <= most)


async def find(place: Place, criteria: Criteria, sight: Sight, *, limit: int = 0, deadline: float | None = None) -> Selection:
    """The entries beneath `place` that fit the criteria, at most `limit` of them, 0 for all.

    Raises:
        InvalidPattern: The name's pattern is empty or too long.
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
        TimedOut: It took longer than `deadline` seconds.
    """
    matches = name_matcher("*" if criteria.name is None else criteria.name)
    async with within(deadline, "the search for files"):
        return await until_left(place.mount.pool, lambda stop: _find_now(place, criteria, matches, sight, limit, stop))


def _find_now(place: Place, criteria: Criteria, matches: Matches, sight: Sight, limit: int, stop: Event) -> Selection:
    def choose(recursive: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
        every = [*names.files, *names.directories, *names.others]
        return list(filter(matches, every)), [(name, recursive) for name in names.directories if recursive]

    tally = Tally()
    found = runs(place, sight, criteria.recursive, choose, tally=tally, stop=stop)
    return select((run.only(criteria.fits) for run in found), limit, tally)
