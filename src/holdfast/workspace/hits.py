"""What ripgrep says in JSON, turned into matches while it is still speaking."""

import base64
import os
from collections.abc import Callable
from typing import TypedDict

import orjson

from .json_lines import JsonLines
from .match import Match, Query, shown
from .place import Place


class _Text(TypedDict, total=False):
    """Valid UTF-8 comes as `text`, anything else as `bytes` in base64."""

    text: str
    bytes: str


class _Stats(TypedDict):
    searches: int


class _Data(TypedDict, total=False):
    path: _Text
    lines: _Text
    line_number: int
    binary_offset: int | None
    stats: _Stats


class _Said(TypedDict):
    type: str
    data: _Data


class Hits:
    """The matches that ripgrep has told of so far, without those in binary files.

    `place_of` gives the place for a path, None when it is none of ours.
    With `stop_after` there is `enough` once a match more than that is
    known, and the lines after the last one that counts.
    """

    def __init__(self, query: Query, place_of: Callable[[str], Place | None], *, stop_after: int = 0) -> None:
        self.matches: list[Match] = []
        self.files_searched: int | None = None
        self.enough = False
        self._query = query
        self._place_of = place_of
        self._stop_after = stop_after
        self._json = JsonLines()
        self._place: Place | None = None
        self._texts: dict[int, str] = {}
        self._matching: list[int] = []

    def feed(self, chunk: bytes) -> None:
        """Take in more of what ripgrep says."""
        for line in self._json.feed(chunk):
            said: _Said = orjson.loads(line)
            self._hear(said["type"], said["data"])
            if self.enough:
                self._end_file()
                return

    def _hear(self, kind: str, data: _Data) -> None:
        match kind:
            case "begin" if "path" in data:
                self._texts, self._matching = {}, []
                self._place = self._place_of(os.fsdecode(_raw(data["path"])))
            case "match" | "context" if self._place is not None and "lines" in data and "line_number" in data:
                self._hear_line(data["line_number"], _text(data["lines"]), matches=kind == "match")
            case "end" if data.get("binary_offset") is None:
                self._end_file()
            case "summary" if "stats" in data:
                self.files_searched = data["stats"]["searches"]
            case _:
                pass

    def _hear_line(self, number: int, text: str, *, matches: bool) -> None:
        self._texts[number] = shown(text)
        if matches:
            self._matching.append(number)
        if self._stop_after and len(self.matches) + len(self._matching) > self._stop_after:
            still_open = self._stop_after - len(self.matches)
            self.enough = still_open <= 0 or number >= self._matching[still_open - 1] + self._query.after

    def _end_file(self) -> None:
        if self._place is None:
            return
        for number in self._matching:
            before = self._around(range(number - self._query.before, number))
            after = self._around(range(number + 1, number + 1 + self._query.after))
            self.matches.append(Match(self._place, number, self._texts[number], before, after))
        self._place = None

    def _around(self, numbers: range) -> tuple[str, ...]:
        return tuple(self._texts[number] for number in numbers if number in self._texts)


def _raw(text: _Text) -> bytes:
    return text["text"].encode() if "text" in text else base64.b64decode(text.get("bytes", ""))


def _text(text: _Text) -> str:
    return text["text"] if "text" in text else _raw(text).decode(errors="replace")
