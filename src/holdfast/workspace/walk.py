"""Everything beneath a directory, in the order of the paths.

Each directory is opened by the kernel beneath the mount's root and
without following a link, so what is met lies inside, however the tree
is changed meanwhile. Only the first few levels stay open on the way, so
neither depth nor width uses up descriptors.
"""

import errno
import os
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from threading import Event
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from .directories import Names
from .entry import Entry, Kind
from .kernel import open_beneath
from .listing import open_directory
from .mount import Mount
from .names import sayable
from .place import Place
from .sight import Sight
from .survey import Stopped

S = TypeVar("S")
_NAME = itemgetter(0)
_MAX_OPEN = 16
_AS_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

# Of the names in a directory that was entered with a state: those that are wanted, and the directories to enter, each with its own state.
Choose: TypeAlias = Callable[[S, Names], tuple[list[str], list[tuple[str, S]]]]


@dataclass
class Tally:
    """What a walk had to leave out: directories that may not be read, or lie too deep to be named."""

    unreadable: int = 0


class Run(NamedTuple):
    """Some wanted entries of one directory that follow one another; `abouts` is empty on a walk that does not look.

    A run ends with the directory that is entered next, unless it is the
    last one. `above` is the directory's path with a slash after it, empty
    for the mount's root. `is_plain` says that the paths can be said as they are.
    """

    above: str
    names: list[str]
    abouts: list[os.stat_result]
    is_plain: bool

    def paths(self) -> list[str]:
        """The paths as the disk has them, counted from the mount's root."""
        above = self.above
        return [above + name for name in self.names]

    def sayable_paths(self) -> list[str]:
        """The paths as they can be said."""
        return self.paths() if self.is_plain else list(map(sayable, self.paths()))

    def entries(self) -> list[Entry]:
        """The entries, by the paths that can be said."""
        return list(map(Entry.of, self.sayable_paths(), self.abouts))

    def only(self, fits: Callable[[os.stat_result], bool]) -> "Run":
        """Those of the entries about which `fits` is true."""
        fitting = [fits(about) for about in self.abouts]
        if all(fitting):
            return self
        return self._replace(names=list(compress(self.names, fitting)), abouts=list(compress(self.abouts, fitting)))


def walk(place: Place, sight: Sight, *, descend: Callable[[Entry], bool], tally: Tally | None = None) -> Iterator[Entry]:
    """Every entry beneath `place`, hidden ones too; a directory comes right before what is in it.

    `descend` is asked whether to go into a directory. Links are entries,
    and nothing is looked for behind them. What cannot be read further
    down is left out and counted in `tally`.

    Raises:
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    kept_out: set[str] = set()
    for run in runs(place, sight, True, _everything, tally=tally, kept_out=kept_out):
        for entry, path in zip(run.entries(), run.paths(), strict=True):
            if entry.kind is Kind.DIRECTORY and not descend(entry):
                kept_out.add(path)
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
    kept_out: Container[str] = (),
) -> Iterator[Run]:
    """The wanted entries beneath `place`, where `choose` tells what is wanted and which directories to go into.

    Without `look` nothing is asked about an entry but its name. A
    directory that is in `kept_out` when its turn comes is not entered.

    Raises:
        Stopped: `stop` was set.
        WouldBlock: Only without `wait`: the answer is not in memory.
        NotFound, NotDirectory, AccessDenied: Of `place` itself.
    """
    tally = tally or Tally()
    mount = place.mount
    ask = _Ask(mount, sight, choose, look, wait)
    way = [ask.step(open_directory(place, wait=wait), f"{place.path}/" if place.path else "", state, depth=0)]
    try:
        while way:
            step = way[-1]
            if not step.pieces:
                way.pop().close()
                continue
            if stop is not None and stop.is_set():
                raise Stopped
            run, name, below = step.pieces.pop()
            if run is not None:
                yield run
            if below is None:
                continue
            deeper = step.above + name
            descriptor = _opened(step.descriptor, name, deeper, mount, tally, wait=wait) if deeper not in kept_out else None
            if descriptor is not None:
                way.append(ask.step(descriptor, f"{deeper}/", below, depth=len(way)))
    finally:
        for step in way:
            step.close()


# A run, the directory that is entered after it, and the state to enter it with.
_Piece: TypeAlias = tuple[Run | None, str, S | None]


class _Step(Generic[S]):
    """A directory on the way: what is still to come in it, the first piece last, and its descriptor while that is kept open."""

    __slots__ = ("above", "descriptor", "pieces")

    def __init__(self, above: str, pieces: "list[_Piece[S]]", descriptor: int) -> None:
        self.above = above
        self.pieces = pieces
        self.descriptor = descriptor

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _opened(above: int, name: str, path: str, mount: Mount, tally: Tally, *, wait: bool) -> int | None:
    try:
        if above >= 0:
            # One name, and no link is followed: that stays inside as surely as the kernel's own way, and is quicker.
            return os.open(name, _AS_DIRECTORY, dir_fd=above)
        return open_beneath(mount.descriptor, path, os.O_RDONLY | os.O_DIRECTORY, follow=False, cached=not wait)
    except OSError as error:
        # Gone, or no directory any more: then it is none of ours. Anything else is a part of the tree that nobody gets to see.
        tally.unreadable += error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None


@dataclass(frozen=True)
class _Ask(Generic[S]):
    """What is asked of every directory."""

    mount: Mount
    sight: Sight
    choose: Choose[S]
    look: bool
    wait: bool

    def step(self, descriptor: int, above: str, state: S, *, depth: int) -> _Step[S]:
        """What is chosen of one directory. The descriptor is closed when nothing in it is entered, or too many are open."""
        try:
            pieces, enters = self._pieces(descriptor, above, state)
        except BaseException:
            os.close(descriptor)
            raise
        if enters and self.wait and depth < _MAX_OPEN:
            return _Step(above, pieces, descriptor)
        os.close(descriptor)
        return _Step(above, pieces, -1)

    def _pieces(self, descriptor: int, above: str, state: S) -> "tuple[list[_Piece[S]], bool]":
        names = self.mount.directories.names(descriptor, wait=self.wait)
        wanted, entered = self.choose(state, names)
        # One look at all the names instead of one at each: most directories have nothing to hide.
        if self.sight.may_hide(above + names.every):
            hides, mount = self.sight.hides, self.mount.name
            wanted = [name for name in wanted if not hides(mount, above + name)]
            entered = [(name, below) for name, below in entered if not hides(mount, above + name)]
        wanted.sort()
        abouts = _abouts(wanted, descriptor) if self.look else []
        is_plain = above.isascii() and names.every.isascii()
        # Most directories have only files in them.
        if not entered:
            return ([(Run(above, wanted, abouts, is_plain), "", None)] if wanted else []), False
        pieces: list[_Piece[S]] = []
        start = 0
        for name, below in sorted(entered, key=_NAME):
            end = bisect_right(wanted, name, start)
            run = Run(above, wanted[start:end], abouts[start:end], is_plain) if start < end else None
            pieces.append((run, name, below))
            start = end
        if start < len(wanted):
            pieces.append((Run(above, wanted[start:], abouts[start:], is_plain), "", None))
        pieces.reverse()
        return pieces, True


def _abouts(names: list[str], directory: int) -> list[os.stat_result]:
    """What is known of the entries; takes away the names of those that are gone."""
    try:
        return [os.stat(name, dir_fd=directory, follow_symlinks=False) for name in names]
    except FileNotFoundError:
        return _abouts_of_the_rest(names, directory)


def _abouts_of_the_rest(names: list[str], directory: int) -> list[os.stat_result]:
    abouts: list[os.stat_result] = []
    left: list[str] = []
    for name in names:
        with suppress(FileNotFoundError):
            abouts.append(os.stat(name, dir_fd=directory, follow_symlinks=False))
            left.append(name)
    names[:] = left
    return abouts
