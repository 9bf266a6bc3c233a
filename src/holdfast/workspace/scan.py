"""Searching files in process: plain text in a small tree, where that is quicker than to start ripgrep."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event

from .directories import Names
from .filter import Filter
from .kernel import WouldBlock, open_beneath
from .literal import NotForUs, is_plain, lines_with
from .match import Match, Query
from .mount import Mount
from .opening import opened
from .place import Place
from .read import contents
from .sight import Sight
from .walk import Choose, Step, steps

MAX_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Budget:
    """What still counts as a small tree."""

    files: int
    bytes: int


ON_LOOP = Budget(files=64, bytes=512 * 1024)
IN_POOL = Budget(files=200, bytes=4 * 1024 * 1024)


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
    budget = IN_POOL if wait else ON_LOOP
    result = Scan()
    room = budget.bytes
    files = Filter(place, query, sight)
    for step in _files(files, wait=wait):
        data = _contents(place.mount, step.path, wait=wait)
        result.files_searched += 1
        room -= len(data)
        if room < 0 or result.files_searched > budget.files:
            raise NotForUs if wait else WouldBlock
        result.matches += _matches(data, step, query)
        if 0 < query.max_matches < len(result.matches):
            break
    return result


def is_small(place: Place, query: Query, sight: Sight, stop: Event) -> bool:
    """Whether the files that would be searched are few and small.

    Raises:
        Stopped: Nobody waits any more.
    """
    size = 0
    for number, step in enumerate(_files(Filter(place, query, sight), look=True, stop=stop), 1):
        size += step.about.st_size if step.about else 0
        if number > ON_LOOP.files or size > IN_POOL.bytes:
            return False
    return True


def scan_all(place: Place, query: Query, sight: Sight, stop: Event) -> Scan:
    """Search all files beneath `place`, and tell which are left to ripgrep.

    Raises:
        Stopped: Nobody waits any more.
    """
    result = Scan()
    files = Filter(place, query, sight)
    for step in _files(files, stop=stop):
        result.files_searched += 1
        try:
            if not is_plain(query):
                raise NotForUs
            result.matches += _matches(_contents(place.mount, step.path), step, query)
        except NotForUs:
            result.left.append(step.place)
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


def _files(files: Filter, *, look: bool = False, wait: bool = True, stop: Event | None = None) -> Iterator[Step]:
    for step in steps(files.top, files.sight, True, _choose_files(files.query), look=look, wait=wait, stop=stop):
        if files.asks_for(step.path):
            yield step


def _matches(data: bytes, step: Step, query: Query) -> list[Match]:
    lines = lines_with(data, query)
    if not lines:
        return []
    place = step.place
    return [line.at(place) for line in lines]


def _contents(mount: Mount, path: str, *, wait: bool = True) -> bytes:
    """The bytes of a file; none when it is gone, is something else by now or may not be read, of which ripgrep says nothing either.

    `opened` does the same for a place. It is not used here because a
    small search is mostly this, and making the place would double it.
    """
    descriptor = -1
    try:
        seen = open_beneath(mount.descriptor, path, os.O_PATH, follow=False, cached=not wait)
        try:
            about = os.fstat(seen)
            if not stat.S_ISREG(about.st_mode):
                return b""
            if about.st_size > MAX_FILE_BYTES:
                raise NotForUs
            descriptor = os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(seen)
        return contents(descriptor, about.st_size, wait=wait)
    except OSError:
        return b""
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _choose_files(query: Query) -> Choose[bool]:
    skipped, skip_hidden = frozenset(query.skip_directories), query.skip_hidden_directories

    def choose(state: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
        return names.files, [(name, state) for name in names.directories if name not in skipped and not (skip_hidden and name[0] == ".")]

    return choose
