"""Whole lines out of ripgrep's JSON, however the pipe cuts them up, and never more than a bounded part of one.

A minified file is one line of megabytes, and its message repeats every
match in it. Of such a message the beginning is kept, which nobody reads
to its end anyway, and the number of the line, which comes after it.
"""

import re
from collections.abc import Iterator

MAX_BYTES = 256 * 1024

# In JSON a quote inside of a text never follows a comma directly, so this is found in no line's text.
_NUMBER = re.compile(rb',"line_number":(\d+),')
_NUMBER_BYTES = 64
_BASE64 = b'"lines":{"bytes":"'
_ESCAPE_BYTES = 6


class JsonLines:
    """Takes chunks in and gives lines out."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = b""
        self._number: bytes | None = None

    @property
    def held_bytes(self) -> int:
        """How much of an unfinished line is held."""
        return len(self._head) + len(self._tail)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in this chunk."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            line = self._taken()
            if line:
                yield line
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        room = MAX_BYTES - len(self._head)
        if len(piece) <= room:
            self._head += piece
            return
        self._head += piece[:room]
        if self._number is None:
            seen = (self._tail or bytes(self._head[-_NUMBER_BYTES:])) + piece[room:]
            found = _NUMBER.search(seen)
            self._number = found[1] if found else None
            self._tail = seen[-_NUMBER_BYTES:]

    def _taken(self) -> bytes:
        line, cut = bytes(self._head), bool(self._tail)
        if cut:
            line = _mended(line, self._number)
        self._head.clear()
        self._tail, self._number = b"", None
        return line


def _mended(head: bytes, number: bytes | None) -> bytes:
    """The beginning of a message, made a whole message again; empty when its line has no number."""
    found = _NUMBER.search(head)
    if found:
        return head[: found.end(1)] + b"}}"
    if number is None:
        return b""
    return _without_broken_end(head) + b'"},"line_number":' + number + b"}}"


def _without_broken_end(head: bytes) -> bytes:
    start = head.find(_BASE64)
    if start >= 0:
        start += len(_BASE64)
        return head[: start + (len(head) - start) // 4 * 4]
    head = head.decode(errors="ignore").encode()
    escape = head.rfind(b"\\", len(head) - _ESCAPE_BYTES) + 1
    run = escape - len(head[:escape].rstrip(b"\\"))
    # Backslashes come in pairs, unless the last one begins an escape, which may be cut off.
    return head[: escape - 1] if run % 2 else head
