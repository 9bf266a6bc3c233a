"""Everything beneath a directory, in the order of the paths.

Each directory is opened by the kernel beneath the mount's root and
without following a link, so what is met lies inside, however the tree
is changed meanwhile. Only the first few levels stay open on the way, so
neither depth nor width uses up descriptors.
"""

import errno
import os
import stat
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
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
_KIND, _FILE = 0o170000, stat.S_IFREG
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
    last one.
    """

    directory: str
    names: list[str]
    abouts: list[os.stat_result]

    def paths(self) -> list[str]:
        """The paths as the disk has them, counted from the mount's root."""
        above = f"{self.directory}/" if self.directory else ""
        return [above + name for name in self.names]

    def entries(self) -> list[Entry]:
        """The entries, by the paths that can be said."""
        paths = self.paths()
        if not (self.directory.isascii() and "".join(self.names).isascii()):
            paths = list(map(sayable, paths))
        # Nearly all are files, and a large tree has many.
        return [
            Entry(path, Kind.FILE, about.st_size, about.st_mtime) if about.st_mode & _KIND == _FILE else Entry.of(path, about)
            for path, about in zip(paths, self.abouts, strict=True)
        ]


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
    way = [ask.step(open_directory(place, wait=wait), place.path, state, depth=0)]
    try:
        while way:
            step = way[-1]
            if not step.pieces:
                way.pop().close()
                continue
            if stop is not None and stop.is_set():
                raise Stopped
            names, abouts, name, below = step.pieces.pop()
            if names:
                yield Run(step.directory, names, abouts)
            if below is None:
                continue
            deeper = f"{step.directory}/{name}" if step.directory else name
            descriptor = _opened(step, name, deeper, mount, tally, wait=wait) if deeper not in kept_out else None
            if descriptor is not None:
                way.append(ask.step(descriptor, deeper, below, depth=len(way)))
    finally:
        for step in way:
            step.close()


class _Step(Generic[S]):
    """A directory on the way: what is still to come in it, the first piece last, and its descriptor while that is kept open."""

    __slots__ = ("descriptor", "directory", "pieces")

    def __init__(self, directory: str, pieces: "list[_Piece[S]]", descriptor: int) -> None:
        self.directory = directory
        self.pieces = pieces
        self.descriptor = descriptor

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _opened(step: "_Step[S]", name: str, path: str, mount: Mount, tally: Tally, *, wait: bool) -> int | None:
    try:
        if step.descriptor >= 0:
            # One name, and no link is followed: that stays inside as surely as the kernel's own way, and is quicker.
            return os.open(name, _AS_DIRECTORY, dir_fd=step.descriptor)
        return open_beneath(mount.descriptor, path, os.O_RDONLY | os.O_DIRECTORY, follow=False, cached=not wait)
    except OSError as error:
        # Gone, or no directory any more: then it is none of ours. Anything else is a part of the tree that nobody gets to see.
        tally.unreadable += error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None


# Names that are wanted, what is known of them, the directory that is entered after them, and the state to enter it with.
_Piece: TypeAlias = tuple[list[str], list[os.stat_result], str, S | None]


@dataclass(frozen=True)
class _Ask(Generic[S]):
    """What is asked of every directory."""

    mount: Mount
    sight: Sight
    choose: Choose[S]
    look: bool
    wait: bool

    def step(self, descriptor: int, directory: str, state: S, *, depth: int) -> _Step[S]:
        """What is chosen of one directory. The descriptor is closed when nothing in it is entered, or too many are open."""
        try:
            pieces, enters = self._chosen(descriptor, directory, state)
        except BaseException:
            os.close(descriptor)
            raise
        if enters and self.wait and depth < _MAX_OPEN:
            return _Step(directory, pieces, descriptor)
        os.close(descriptor)
        return _Step(directory, pieces, -1)

    def _chosen(self, descriptor: int, directory: str, state: S) -> "tuple[list[_Piece[S]], bool]":
        wanted, entered = self.choose(state, self.mount.directories.names(descriptor, wait=self.wait))
        hidden = _hidden(directory, self.mount, self.sight, [*wanted, *[name for name, _ in entered]])
        if hidden:
            wanted = [name for name in wanted if name not in hidden]
            entered = [(name, state) for name, state in entered if name not in hidden]
        wanted.sort()
        abouts = _abouts(wanted, descriptor) if self.look else []
        # Most directories have only files in them.
        if not entered:
            return ([(wanted, abouts, "", None)] if wanted else []), False
        pieces: list[_Piece[S]] = []
        start = 0
        for name, below in sorted(entered, key=_NAME):
            end = bisect_right(wanted, name, start)
            pieces.append((wanted[start:end], abouts[start:end], name, below))
            start = end
        if start < len(wanted):
            pieces.append((wanted[start:], abouts[start:], "", None))
        pieces.reverse()
        return pieces, True


def _hidden(directory: str, mount: Mount, sight: Sight, names: list[str]) -> set[str]:
    prefix = f"{directory}/" if directory else ""
    # One look at all the names instead of one at each: most directories have nothing to hide.
    if not names or not sight.may_hide(prefix + "\n".join(names)):
        return set()
    return {name for name in names if sight.hides(mount.name, prefix + name)}


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
