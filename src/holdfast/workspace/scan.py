"""Searching files in process: plain text in a small tree, where that is quicker than to start ripgrep."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from threading import Event
from typing import NamedTuple

from .directories import Names
from .filter import Filter
from .kernel import WouldBlock, open_beneath
from .literal import BYTE_ORDER_MARKS, NotForUs, is_plain, lines_with
from .match import Match, Query
from .mount import Mount
from .names import sayable
from .opening import opened
from .place import Place
from .read import contents
from .sight import Sight
from .walk import Choose, runs

MAX_FILE_BYTES = 4 * 1024 * 1024
_LOOKED_INTO_BYTES = 512 * 1024


@dataclass
class Allowance:
    """What may still be spent on a tree before it is no longer small; `size` is in bytes.

    Files count whether or not they are asked for.
    """

    directories: int
    files: int
    size: int
    matches: int

    @classmethod
    def of(cls, *, wait: bool) -> "Allowance":
        """In a thread of the pool there is more time than on the loop's own."""
        if wait:
            return cls(directories=200, files=200, size=4 * 1024 * 1024, matches=20_000)
        return cls(directories=64, files=64, size=512 * 1024, matches=1_000)

    def spend(self, *, directories: int = 0, files: int = 0, size: int = 0, matches: int = 0) -> None:
        """Take away so much.

        Raises:
            NotForUs: There is not so much left.
        """
        self.directories -= directories
        self.files -= files
        self.size -= size
        self.matches -= matches
        if min(self.directories, self.files, self.size, self.matches) < 0:
            raise NotForUs


@dataclass
class Scan:
    """What was found; `left` are files that only ripgrep can look into."""

    matches: list[Match] = field(default_factory=list[Match])
    files_searched: int = 0
    left: list[Place] = field(default_factory=list[Place])


def scan_small(place: Place, query: Query, sight: Sight, *, wait: bool) -> Scan:
    """Search the files beneath `place` if they are few and small, in the order of their paths, until there is a match too many.

    Raises:
        NotForUs: They are not few and small, or only ripgrep can tell.
        WouldBlock: Only without `wait`: it would take too long for the loop's thread, or they are not in memory.
    """
    try:
        return _scan_small(Filter(place, query, sight), Allowance.of(wait=wait), wait=wait)
    except NotForUs:
        if wait:
            raise
        raise WouldBlock from None


def _scan_small(files: Filter, allowance: Allowance, *, wait: bool) -> Scan:
    result = Scan()
    needle = files.query.pattern.encode() if files.query.case_sensitive else None
    # All names first: a tree that is too large is then given up before a file of it is opened.
    for file in list(_files(files, allowance, wait=wait)):
        data = _contents(files.top.mount, file.path, max_bytes=allowance.size, wait=wait)
        # Most files do not have it, and that is quickly told.
        if needle is not None and needle not in data and data[:2] not in BYTE_ORDER_MARKS:
            found: list[Match] = []
        else:
            found = _matches(data, file, files.query, at_most=allowance.matches + 1)
        result.files_searched += 1
        result.matches += found
        if 0 < files.query.max_matches < len(result.matches):
            break
        allowance.spend(size=len(data), matches=len(found))
    return result


class Size(Enum):
    """How much there is to search."""

    LARGE = "large"
    SMALL = "small"
    SMALL_ASCII = "small, and nothing but ASCII"


def size_of(place: Place, query: Query, sight: Sight, *, wait: bool) -> Size:
    """Whether the files that would be searched are few and small, and what is in them.

    Raises:
        WouldBlock: Only without `wait`: the answer is not in memory.
    """
    allowance = Allowance.of(wait=False)
    allowance.size = MAX_FILE_BYTES
    try:
        files = list(_files(Filter(place, query, sight), allowance, look=True, wait=wait))
        for file in files:
            allowance.spend(size=file.size)
    except NotForUs:
        return Size.LARGE
    if sum(file.size for file in files) > _LOOKED_INTO_BYTES:
        return Size.SMALL
    try:
        every = all(_contents(place.mount, file.path, max_bytes=_LOOKED_INTO_BYTES, wait=wait).isascii() for file in files)
    except NotForUs:
        return Size.SMALL
    return Size.SMALL_ASCII if every else Size.SMALL


def scan_all(place: Place, query: Query, sight: Sight, stop: Event) -> Scan:
    """Search all files beneath `place`, and tell which are left to ripgrep.

    Raises:
        Stopped: Nobody waits any more.
    """
    result = Scan()
    files = Filter(place, query, sight)
    for file in _files(files, stop=stop):
        result.files_searched += 1
        try:
            if not is_plain(query):
                raise NotForUs
            result.matches += _matches(_contents(place.mount, file.path, max_bytes=MAX_FILE_BYTES), file, query)
        except NotForUs:
            result.left.append(file.place)
    return result


def scan_file(place: Place, query: Query) -> list[Match]:
    """The matches in one file.

    Raises:
        NotForUs: It is too large, or only ripgrep can tell.
        NotFound, SpecialFile, AccessDenied: As the names say.
    """
    with opened(place) as (descriptor, about):
        if about.st_size > MAX_FILE_BYTES:
            raise NotForUs
        data = contents(descriptor, about.st_size, wait=True)
    return [line.at(place) for line in lines_with(data, query)]


class _File(NamedTuple):
    """A file met on a walk; `size` is 0 on one that does not look."""

    top: Place
    path: str
    size: int

    @property
    def place(self) -> Place:
        return self.top.below(sayable(self.path))


def _files(
    files: Filter, allowance: Allowance | None = None, *, look: bool = False, wait: bool = True, stop: Event | None = None
) -> Iterator[_File]:
    for run in runs(files.top, files.sight, True, _choose_files(files.query, allowance), look=look, wait=wait, stop=stop):
        sizes = [about.st_size for about in run.abouts] if look else [0] * len(run.names)
        for path, size in zip(run.paths(), sizes, strict=True):
            if files.asks_for(path):
                yield _File(files.top, path, size)


def _matches(data: bytes, file: _File, query: Query, *, at_most: int | None = None) -> list[Match]:
    lines = lines_with(data, query, at_most=at_most)
    if not lines:
        return []
    place = file.place
    return [line.at(place) for line in lines]


def _contents(mount: Mount, path: str, *, max_bytes: int, wait: bool = True) -> bytes:
    """The bytes of a file; none when it is gone, is something else by now or may not be read, of which ripgrep says nothing either.

    `opened` does the same for a place. It is not used here because a
    small search is mostly this, and making the place would double it.
    """
    if (recent := mount.recent.bytes_of(path)) is not None and len(recent) <= max_bytes:
        return recent
    descriptor = -1
    try:
        seen = open_beneath(mount.descriptor, path, os.O_PATH, follow=False, cached=not wait)
        try:
            about = os.fstat(seen)
            if not stat.S_ISREG(about.st_mode):
                return b""
            if about.st_size > max_bytes:
                raise NotForUs
            descriptor = os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(seen)
        data = contents(descriptor, about.st_size, wait=wait)
        mount.recent.keep(path, descriptor, about, data)
        return data
    except OSError:
        return b""
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _choose_files(query: Query, allowance: Allowance | None) -> Choose[bool]:
    skipped, skip_hidden = frozenset(query.skip_directories), query.skip_hidden_directories

    def choose(state: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
        files = names.files
        if allowance is not None:
            allowance.spend(directories=1, files=len(files))
        return files, [(name, state) for name in names.directories if name not in skipped and not (skip_hidden and name[0] == ".")]

    return choose
