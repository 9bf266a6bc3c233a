"""Searching for plain text in process, where that is quicker than to start ripgrep.

What is found is what ripgrep would find: the same lines, and nothing in
files with a NUL byte in them.
"""

import codecs
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event

from .filter import Filter
from .kernel import open_beneath
from .match import Match, Query, shown
from .mount import Mount
from .opening import opened
from .place import Place
from .sight import Sight
from .walk import Choose, steps

MAX_FILES = 200
MAX_BYTES = 4 * 1024 * 1024

# Outside of ASCII, and yet k and s when case does not matter: rare enough to leave them to ripgrep.
_KELVIN_AND_LONG_S = ("\u212a".encode(), "\u017f".encode())
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TooMuch(Exception):
    """ripgrep does this better."""


@dataclass
class Scan:
    """What was found; `left` are the files that only ripgrep can look into."""

    matches: list[Match] = field(default_factory=list[Match])
    files_searched: int = 0
    left: list[Place] = field(default_factory=list[Place])


def is_plain(query: Query) -> bool:
    """Whether the query can be answered here. A caller's pattern never meets Python's `re`, which it could make run away."""
    return not query.regex and (query.case_sensitive or query.pattern.isascii())


def scan(place: Place, query: Query, sight: Sight, stop: Event, *, small: bool) -> Scan:
    """Search the files beneath `place` in the order of their paths, until there is a match too many.

    Raises:
        TooMuch: Only with `small`: they are too many or too large for that.
        Stopped: Nobody waits any more.
    """
    result = Scan()
    files = Filter(place, query, sight)
    beneath = len(place.path) + 1 if place.path else 0
    room = MAX_BYTES
    for step in steps(place, sight, True, _files_for(query), stop=stop):
        path = step.path[beneath:]
        if not files.accepts(path):
            continue
        result.files_searched += 1
        room -= step.about.st_size
        if small and (room < 0 or result.files_searched > MAX_FILES):
            raise TooMuch
        try:
            lines = _lines_of_file(place.mount, step.path, query)
        except TooMuch:
            if small:
                raise
            result.left.append(files.place(path))
            continue
        if lines:
            found = files.place(path)
            result.matches += [line.at(found) for line in lines]
        if query.max_matches and len(result.matches) > query.max_matches and not result.left:
            break
    return result


def scan_file(place: Place, query: Query) -> list[Match]:
    """The matches in one file.

    Raises:
        TooMuch: It is too large.
        NotFound, SpecialFile, AccessDenied: As the names say.
    """
    with opened(place) as (descriptor, about):
        data = _all_of(descriptor, about.st_size)
    return [line.at(place) for line in lines_with(data, query)]


def _files_for(query: Query) -> Choose[bool]:
    skipped, skip_hidden = frozenset(query.skip_directories), query.skip_hidden_directories

    def choose(state: bool, entries: Iterator[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], bool, bool | None]]:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield entry, True, None
            elif entry.is_dir(follow_symlinks=False) and entry.name not in skipped and not (skip_hidden and entry.name.startswith(".")):
                yield entry, False, state

    return choose


@dataclass(frozen=True)
class Line:
    """A line that matches, not yet with its place."""

    number: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def at(self, place: Place) -> Match:
        return Match(place, self.number, self.text, self.before, self.after)


def _lines_of_file(mount: Mount, path: str, query: Query) -> list[Line]:
    if not is_plain(query):
        raise TooMuch
    try:
        data = _contents(mount, path)
    except OSError:
        # Gone, swapped for something else, or not ours to read: ripgrep would say nothing either.
        return []
    return lines_with(data, query)


def _contents(mount: Mount, path: str) -> bytes:
    """The bytes of a regular file, which is looked at before it is opened."""
    seen = open_beneath(mount.descriptor, path, os.O_PATH, follow=False)
    try:
        about = os.fstat(seen)
        if not stat.S_ISREG(about.st_mode):
            return b""
        descriptor = os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(seen)
    try:
        return _all_of(descriptor, about.st_size)
    finally:
        os.close(descriptor)


def _all_of(descriptor: int, size: int) -> bytes:
    if size > MAX_BYTES:
        raise TooMuch
    data = os.read(descriptor, size + 1)
    # It may have grown since.
    while len(data) > size and (more := os.read(descriptor, MAX_BYTES)):
        data += more
        if len(data) > MAX_BYTES:
            raise TooMuch
    return data


def lines_with(data: bytes, query: Query) -> list[Line]:
    """The lines of a file that have the query's text in them.

    Raises:
        TooMuch: Whether they have depends on letters that only ripgrep compares.
    """
    data = _as_utf8(data)
    wanted, text = query.pattern.encode(), data
    if not query.case_sensitive:
        wanted, text = wanted.lower(), data.lower()
        if not data.isascii() and any(letter in data for letter in _KELVIN_AND_LONG_S):
            raise TooMuch
    at = text.find(wanted)
    if at < 0 or b"\0" in data:
        return []
    lines: list[Line] = []
    number, counted = 1, 0
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        number += data.count(b"\n", counted, start)
        counted = start
        end = _end_of_line(data, at)
        lines.append(Line(number, _said(data[start:end]), _lines_before(data, start, query.before), _lines_after(data, end, query.after)))
        at = text.find(wanted, end)
    return lines


def _as_utf8(data: bytes) -> bytes:
    if data.startswith(_UTF_16):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _end_of_line(data: bytes, at: int) -> int:
    """Where the line ends that `at` is in: right after its line break."""
    return data.find(b"\n", at) + 1 or len(data)


def _lines_before(data: bytes, start: int, count: int) -> tuple[str, ...]:
    first = start
    for _ in range(count):
        if not first:
            break
        first = data.rfind(b"\n", 0, first - 1) + 1
    return _each_line(data[first:start])


def _lines_after(data: bytes, end: int, count: int) -> tuple[str, ...]:
    last = end
    for _ in range(count):
        if last == len(data):
            break
        last = _end_of_line(data, last)
    return _each_line(data[end:last])


def _each_line(data: bytes) -> tuple[str, ...]:
    return tuple(_said(line) for line in data.removesuffix(b"\n").split(b"\n")) if data else ()


def _said(line: bytes) -> str:
    return shown(line.decode(errors="replace"))
