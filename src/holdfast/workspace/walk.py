"""Everything beneath a directory, in the order of the paths.

Each directory is opened by the kernel beneath the mount's root and
without following a link, so what is met lies inside, however the tree
is changed meanwhile. One directory is open at a time, so neither depth
nor width uses up descriptors.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from threading import Event
from typing import TypeAlias, TypeVar

from .entry import Entry, Kind
from .kernel import open_beneath
from .listing import open_directory
from .names import sayable
from .place import Place
from .sight import Sight

S = TypeVar("S")

# What to take of a directory entered with a state: (entry, whether it is wanted, the state to enter it with or None). It keeps no entry.
Choose: TypeAlias = Callable[[S, Iterator[os.DirEntry[str]]], Iterable[tuple[os.DirEntry[str], bool, S | None]]]


class Stopped(Exception):
    """Nobody waits for the walk any more."""


@dataclass
class Tally:
    """What a walk had to leave out: directories that may not be read, or lie too deep to be named."""

    unreadable: int = 0


class Level:
    """One directory on the way down; its place is made only when asked for, since most are passed without a find."""

    __slots__ = ("_place", "above", "name", "path")

    def __init__(self, above: "Level | None", name: str, path: str, place: Place | None = None) -> None:
        self.above = above
        self.name = name
        self.path = path
        self._place = place

    @property
    def place(self) -> Place:
        """The directory's place, made name by name from where the walk began."""
        missing: list[Level] = []
        level = self
        while level._place is None and level.above is not None:
            missing.append(level)
            level = level.above
        place = level._place
        assert place is not None, "a walk begins at a place"
        for level in reversed(missing):
            place = level._place = place.child(sayable(level.name))
        return place


@dataclass(slots=True)
class Step:
    """One entry that was wanted. Setting `enter` to False keeps the walk out of it."""

    level: Level
    name: str
    about: os.stat_result
    enter: bool = True

    @property
    def path(self) -> str:
        """The path as the disk has it, counted from the mount's root."""
        return f"{self.level.path}/{self.name}" if self.level.path else self.name

    def entry(self) -> Entry:
        """The entry, with its place."""
        return Entry.of(self.level.place.child(sayable(self.name)), self.about)


def walk(place: Place, sight: Sight, *, descend: Callable[[Entry], bool], tally: Tally | None = None) -> Iterator[Entry]:
    """Every entry beneath `place`, hidden ones too; a directory comes right before what is in it.

    `descend` is asked whether to go into a directory. Links are entries,
    and nothing is looked for behind them. What cannot be read further
    down is left out and counted in `tally`.

    Raises:
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    for step in steps(place, sight, True, _everything, tally=tally):
        entry = step.entry()
        step.enter = entry.kind is Kind.DIRECTORY and descend(entry)
        yield entry


def _everything(state: bool, entries: Iterator[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], bool, bool | None]]:
    for entry in entries:
        yield entry, True, state if entry.is_dir(follow_symlinks=False) else None


def steps(
    place: Place, sight: Sight, state: S, choose: Choose[S], *, tally: Tally | None = None, stop: Event | None = None
) -> Iterator[Step]:
    """The wanted entries beneath `place`, where `choose` tells what is wanted and which directories to go into.

    Raises:
        Stopped: `stop` was set.
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    tally = tally or Tally()
    level = Level(None, place.name, place.path, place)
    way = [(level, iter(_chosen(open_directory(place), level, place, sight, state, choose)))]
    while way:
        level, entries = way[-1]
        for name, about, below in entries:
            if stop is not None and stop.is_set():
                raise Stopped
            if about is not None:
                step = Step(level, name, about)
                yield step
                if not step.enter:
                    continue
            if below is None:
                continue
            deeper = Level(level, name, f"{level.path}/{name}" if level.path else name)
            descriptor = _opened(deeper, place, tally)
            if descriptor is not None:
                way.append((deeper, iter(_chosen(descriptor, deeper, place, sight, below, choose))))
                break
        else:
            way.pop()


def _opened(level: Level, place: Place, tally: Tally) -> int | None:
    try:
        return open_beneath(place.mount.descriptor, level.path, os.O_RDONLY | os.O_DIRECTORY, follow=False)
    except OSError as error:
        # Gone, or no directory any more: then it is none of ours. Anything else is a part of the tree that nobody gets to see.
        tally.unreadable += error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None


def _chosen(
    descriptor: int, level: Level, place: Place, sight: Sight, state: S, choose: Choose[S]
) -> list[tuple[str, os.stat_result | None, S | None]]:
    """What is chosen of one directory, sorted by name; closes the descriptor."""
    chosen: list[tuple[str, os.stat_result | None, S | None]] = []
    try:
        with os.scandir(descriptor) as entries:
            for entry, wanted, below in choose(state, entries):
                try:
                    chosen.append((entry.name, entry.stat(follow_symlinks=False) if wanted else None, below))
                except FileNotFoundError:
                    continue
    finally:
        os.close(descriptor)
    prefix = f"{level.path}/" if level.path else ""
    # One look at all the names instead of one at each: most directories have nothing to hide.
    if chosen and sight.may_hide(prefix + "\n".join([name for name, _, _ in chosen])):
        chosen = [item for item in chosen if not sight.hides(place.mount.name, prefix + item[0])]
    chosen.sort(key=itemgetter(0))
    return chosen
