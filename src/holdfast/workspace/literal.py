"""Plain text in the bytes of a file, found as ripgrep would find it."""

import codecs
from dataclasses import dataclass

from .match import Match, Query, shown
from .place import Place

# Outside of ASCII, and yet k and s when case does not matter: rare enough to leave them to ripgrep.
_KELVIN_AND_LONG_S = ("\u212a".encode(), "\u017f".encode())
BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotForUs(Exception):
    """Only ripgrep can tell."""


@dataclass(frozen=True)
class Line:
    """A line that matches, not yet with its place."""

    number: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def at(self, place: Place) -> Match:
        """The match, in this file."""
        return Match(place, self.number, self.text, self.before, self.after)


def is_plain(query: Query) -> bool:
    """Whether the query can be answered here. A caller's pattern never meets Python's `re`, which it could make run away."""
    return not query.regex and (query.case_sensitive or query.pattern.isascii())


def lines_with(data: bytes, query: Query, *, at_most: int | None = None) -> list[Line]:
    """The first lines that have the query's text in them; none if there is a NUL byte, which makes a file binary.

    Raises:
        NotForUs: Some letters in it can only be compared by ripgrep.
    """
    data = _as_utf8(data)
    wanted, text = query.pattern.encode(), data
    if not query.case_sensitive:
        wanted, text = wanted.lower(), data.lower()
        if not data.isascii() and any(letter in data for letter in _KELVIN_AND_LONG_S):
            raise NotForUs
    at = text.find(wanted)
    if at < 0 or b"\0" in data:
        return []
    lines: list[Line] = []
    number, counted = 1, 0
    while at >= 0 and (at_most is None or len(lines) < at_most):
        start = data.rfind(b"\n", 0, at) + 1
        end = _end_of_line(data, at)
        number += data.count(b"\n", counted, start)
        lines.append(Line(number, _said(data[start:end]), _lines_before(data, start, query.before), _lines_after(data, end, query.after)))
        counted = start
        at = text.find(wanted, end)
    return lines


def _as_utf8(data: bytes) -> bytes:
    if data.startswith(BYTE_ORDER_MARKS):
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
