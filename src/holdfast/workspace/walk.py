"""Everything beneath a directory, in the order of the paths.

Each directory is opened by the kernel beneath the mount's root and
without following a link, so what is met lies inside, however the tree
is changed meanwhile. One directory is open at a time, so neither depth
nor width uses up descriptors.
"""

import errno
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from threading import Event
from typing import TypeAlias, TypeVar

from .directories import Names
from .entry import Entry, Kind
from .kernel import open_beneath
from .listing import open_directory
from .names import sayable
from .place import Place
from .sight import Sight
from .survey import Stopped

S = TypeVar("S")
_NAME = itemgetter(0)

# Of the names in a directory that was entered with a state: those that are wanted, and the directories to enter, each with its own state.
Choose: TypeAlias = Callable[[S, Names], tuple[list[str], list[tuple[str, S]]]]


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
        if self._place is not None:
            return self._place
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
class Run:
    """Some wanted entries of one directory that follow one another; `abouts` is empty on a walk that does not look.

    A run ends with the directory that is entered next, unless it is the
    last one: setting `enter` to False keeps the walk out of it.
    """

    level: Level
    names: list[str]
    abouts: list[os.stat_result]
    enter: bool = True

    def paths(self) -> list[str]:
        """The paths as the disk has them, counted from the mount's root."""
        above = f"{self.level.path}/" if self.level.path else ""
        return [above + name for name in self.names]

    def entries(self) -> list[Entry]:
        """The entries, with their places."""
        places = self.level.place.children(map(sayable, self.names))
        return list(map(Entry.of, places, self.abouts))


def walk(place: Place, sight: Sight, *, descend: Callable[[Entry], bool], tally: Tally | None = None) -> Iterator[Entry]:
    """Every entry beneath `place`, hidden ones too; a directory comes right before what is in it.

    `descend` is asked whether to go into a directory. Links are entries,
    and nothing is looked for behind them. What cannot be read further
    down is left out and counted in `tally`.

    Raises:
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    for run in runs(place, sight, True, _everything, tally=tally):
        for entry in run.entries():
            run.enter = entry.kind is Kind.DIRECTORY and descend(entry)
            yield entry


def _everything(state: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
    return [*names.files, *names.directories, *names.others], [(name, state) for name in names.directories]


def runs(
    place: Place,
    sight: Sight,
    state: S,
    choose: Choose[S],
    *,
    look: bool = True,
    tally: Tally | None = None,
    wait: bool = True,
    stop: Event | None = None,
) -> Iterator[Run]:
    """The wanted entries beneath `place`, where `choose` tells what is wanted and which directories to go into.

    Without `look` nothing is asked about an entry but its name.

    Raises:
        Stopped: `stop` was set.
        WouldBlock: Only without `wait`: the answer is not in memory.
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    tally = tally or Tally()
    level = Level(None, place.name, place.path, place)
    way = [(level, iter(_chosen(open_directory(place, wait=wait), level, place, sight, state, choose, look=look, wait=wait)))]
    while way:
        level, pieces = way[-1]
        for run, name, below in pieces:
            if stop is not None and stop.is_set():
                raise Stopped
            if run.names:
                yield run
            if below is None or not run.enter:
                continue
            deeper = Level(level, name, f"{level.path}/{name}" if level.path else name)
            descriptor = _opened(deeper, place, tally, wait=wait)
            if descriptor is not None:
                way.append((deeper, iter(_chosen(descriptor, deeper, place, sight, below, choose, look=look, wait=wait))))
                break
        else:
            way.pop()


def _opened(level: Level, place: Place, tally: Tally, *, wait: bool) -> int | None:
    try:
        return open_beneath(place.mount.descriptor, level.path, os.O_RDONLY | os.O_DIRECTORY, follow=False, cached=not wait)
    except OSError as error:
        # Gone, or no directory any more: then it is none of ours. Anything else is a part of the tree that nobody gets to see.
        tally.unreadable += error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None


def _chosen(
    descriptor: int, level: Level, place: Place, sight: Sight, state: S, choose: Choose[S], *, look: bool, wait: bool
) -> list[tuple[Run, str, S | None]]:
    """What is chosen of one directory, in order: runs, each with the directory to enter after it and the state to enter it with.

    Closes the descriptor.
    """
    try:
        wanted, entered = choose(state, place.mount.directories.names(descriptor, wait=wait))
        hidden = _hidden(level, place, sight, [*wanted, *[name for name, _ in entered]])
        if hidden:
            wanted = [name for name in wanted if name not in hidden]
            entered = [(name, state) for name, state in entered if name not in hidden]
        wanted = sorted(wanted)
        abouts = _abouts(wanted, descriptor) if look else []
    finally:
        os.close(descriptor)
    pieces: list[tuple[Run, str, S | None]] = []
    start = 0
    for name, below in sorted(entered, key=_NAME):
        end = bisect_right(wanted, name, start)
        pieces.append((Run(level, wanted[start:end], abouts[start:end]), name, below))
        start = end
    if start < len(wanted):
        pieces.append((Run(level, wanted[start:], abouts[start:]), "", None))
    return pieces


def _hidden(level: Level, place: Place, sight: Sight, names: list[str]) -> set[str]:
    prefix = f"{level.path}/" if level.path else ""
    # One look at all the names instead of one at each: most directories have nothing to hide.
    if not names or not sight.may_hide(prefix + "\n".join(names)):
        return set()
    return {name for name in names if sight.hides(place.mount.name, prefix + name)}


def _abouts(names: list[str], directory: int) -> list[os.stat_result]:
    """What is known of the entries; takes away the names of those that are gone."""
    abouts: list[os.stat_result] = []
    gone: set[str] = set()
    for name in names:
        try:
            abouts.append(os.stat(name, dir_fd=directory, follow_symlinks=False))
        except FileNotFoundError:
            gone.add(name)
    if gone:
        names[:] = [name for name in names if name not in gone]
    return abouts
