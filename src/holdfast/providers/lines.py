"""Bytes as they come from a connection, cut into what was meant: lines, or server-sent events.

Cut before anything is decoded, so that a character may come in two pieces.
"""

from typing import Protocol

MAX_BYTES = 16 * 1024 * 1024


class TooLong(Exception):
    """A piece that has no end."""


class Splitter(Protocol):
    """Whatever cuts bytes into pieces."""

    def feed(self, data: bytes) -> list[bytes]:
        """The pieces that are whole now."""
        ...


class Lines:
    """Every line that has something in it."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_BYTES:
            raise TooLong
        return [line for line in whole if line.strip()]


class Events:
    """The data of every server-sent event, without its name; a comment is an empty one, because it is a sign of life."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The events that are whole now."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        events: list[bytes] = []
        for line in whole:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
                self._size += len(line)
            elif line in (b"", b"\r"):
                if self._data:
                    events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data, self._size = [], 0
            elif line.startswith(b":"):
                events.append(b"")
        if len(self._rest) + self._size > MAX_BYTES:
            raise TooLong
        return events
