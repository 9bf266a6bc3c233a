"""Entries whose path matches a pattern."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Event

from .deadline import until_left, within
from .directories import Names
from .entry import Entry
from .finds import Columns, Finds, entries
from .pattern import Trail, trail
from .place import Place
from .sight import Sight
from .walk import Run, Tally, runs


@dataclass(frozen=True)
class Selection:
    """Entries in the order of their paths; `truncated` when there would have been more.

    `unreadable` counts the directories that could not be looked into.
    """

    entries: Finds[Entry]
    truncated: bool
    unreadable: int


async def glob(place: Place, patterns: Sequence[str], sight: Sight, *, limit: int = 0, deadline: float | None = None) -> Selection:
    """The entries beneath `place` that match one of the patterns, at most `limit` of them, 0 for all.

    Directories and links match like files, and hidden entries like any
    other. Nothing is ignored.

    Raises:
        InvalidPattern: A pattern is empty, too long, or goes up with `..`.
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
        TimedOut: It took longer than `deadline` seconds.
    """
    start = trail(patterns)
    async with within(deadline, "the search for names"):
        return await until_left(place.mount.pool, lambda stop: _glob_now(place, start, sight, limit, stop))


def _glob_now(place: Place, start: Trail, sight: Sight, limit: int, stop: Event) -> Selection:
    tally = Tally()
    found = runs(place, sight, start, _on_the_trail, tally=tally, stop=stop)
    return select(found, limit, tally)


def _on_the_trail(trail: Trail, names: Names) -> tuple[list[str], list[tuple[str, Trail]]]:
    wanted = trail.pick(names)
    # Most directories have only files in them.
    if not names.directories and not names.others:
        return wanted, []
    wanted += [*filter(trail.wanted_directory, names.directories), *filter(trail.wanted, names.others)]
    return wanted, [(name, below) for name in names.directories if (below := trail.below(name)) is not None]


def select(found: Iterable[Run], limit: int, tally: Tally) -> Selection:
    """The first `limit` of what is found, 0 for all."""
    columns = Columns()
    truncated = False
    for run in found:
        columns.add(run.sayable_paths(), run.abouts)
        if 0 < limit < len(columns.paths):
            columns.cut(limit)
            truncated = True
            break
    return Selection(entries(columns), truncated, tally.unreadable)
