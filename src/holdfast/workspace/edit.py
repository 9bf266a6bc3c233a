"""Changing a part of a file: one text for another, or lines put in between.

Done on bytes, so that whatever the change does not touch stays as it
is: invalid UTF-8, byte order mark, line ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from holdfast.vocabulary.errors import InvalidArguments, InvalidRange, ManyMatches, NoMatch
from holdfast.vocabulary.json import Json

from .changes import Changes
from .nearest import nearest
from .place import Place
from .text import Encoding, detect
from .write import MAX_REVISED_BYTES, Check, Written, revise

_LINES_NAMED = 20


async def replace(
    changes: Changes,
    place: Place,
    old: str,
    new: str,
    *,
    only_if: str | None = None,
    check: Check | None = None,
    max_bytes: int = MAX_REVISED_BYTES,
) -> Written:
    """Put `new` where `old` is, which must be there exactly once.

    Line ends are the file's own: `old` with `\\n` in it also finds the
    same text with `\\r\\n`, and `new` is then written like that.

    Raises:
        NoMatch: `old` is not there; the facts name what comes nearest.
        ManyMatches: It is there more than once; the facts name the lines.
        InvalidArguments: It is empty, or cannot be said in the file's encoding.
        NotFound, StaleHash, TooLarge: As in `revise`.
    """
    if not old:
        raise InvalidArguments.of("old_string", "is empty", hint="Name the text to replace, or insert by line.")
    return await revise(changes, place, lambda data: replaced(data, old, new, place), only_if=only_if, check=check, max_bytes=max_bytes)


async def insert(
    changes: Changes,
    place: Place,
    line: int,
    content: str,
    *,
    only_if: str | None = None,
    check: Check | None = None,
    max_bytes: int = MAX_REVISED_BYTES,
) -> Written:
    """Put whole lines before the line with the number `line`, counted from 0; the count of lines appends.

    Raises:
        InvalidRange: There is no such line.
        InvalidArguments: The content cannot be said in the file's encoding.
        NotFound, StaleHash, TooLarge: As in `revise`.
    """
    return await revise(
        changes, place, lambda data: inserted(data, line, content, place), only_if=only_if, check=check, max_bytes=max_bytes
    )


def replaced(data: bytes, old: str, new: str, place: Place) -> bytes:
    """`data` with `new` where `old` is; `place` is for the errors, which are those of `replace`."""
    text = _Text.of(data)
    for wanted, instead in _spellings(old, new, all_crlf=text.all_crlf):
        wanted_bytes = text.encoded(wanted, "old_string")
        places = text.every(wanted_bytes)
        at = next(places, None)
        if at is None:
            continue
        if next(places, None) is not None:
            raise _many(text, wanted_bytes, place)
        return data[:at] + text.encoded(instead, "new_string") + data[at + len(wanted_bytes) :]
    raise _none(text, old, place)


def _spellings(old: str, new: str, *, all_crlf: bool) -> Iterator[tuple[str, str]]:
    """The ways in which the file may say `old`, each with its way of saying `new`."""
    yield old, _crlf(new) if all_crlf else new
    if "\n" in old:
        yield _crlf(old), _crlf(new)
        yield _lf(old), _lf(new)


def inserted(data: bytes, line: int, content: str, place: Place) -> bytes:
    """`data` with whole lines before a line; `place` is for the errors, which are those of `insert`."""
    text = _Text.of(data)
    total = text.count_lines()
    if not 0 <= line <= total:
        raise InvalidRange(
            f"'{place}' has {total} lines, so nothing can go before line {line}",
            hint=f"Use a number from 0 to {total}.",
            line=line,
            lines=total,
        )
    whole_lines = content if not content or content.endswith("\n") else content + "\n"
    new = text.encoded(_crlf(whole_lines) if text.all_crlf else whole_lines, "insert_content")
    at = text.line_start(line) if line < total else len(data)
    if line == total and text.ends_within_line():
        new = text.newline + new
    return data[:at] + new + data[at:]


@dataclass(frozen=True)
class _Text:
    """The bytes of a file, and how it says things."""

    data: bytes
    encoding: Encoding
    all_crlf: bool

    @classmethod
    def of(cls, data: bytes) -> "_Text":
        encoding = detect(data)
        line_feeds = data.count("\n".encode(encoding.name))
        return cls(data, encoding, all_crlf=line_feeds > 0 and line_feeds == data.count("\r\n".encode(encoding.name)))

    @property
    def newline(self) -> bytes:
        return ("\r\n" if self.all_crlf else "\n").encode(self.encoding.name)

    @property
    def line_feed(self) -> bytes:
        return "\n".encode(self.encoding.name)

    def encoded(self, text: str, argument: str) -> bytes:
        try:
            return text.encode(self.encoding.name)
        except UnicodeEncodeError:
            raise InvalidArguments.of(argument, f"has characters that cannot be written in {self.encoding.name}") from None

    def decoded(self) -> str:
        return self.encoding.decode(self.data[len(self.encoding.mark) :])

    def every(self, wanted: bytes) -> Iterator[int]:
        """Where `wanted` is; also where it overlaps with itself, and never in the middle of a character."""
        width = len(self.line_feed)
        at = self.data.find(wanted)
        while at >= 0:
            if at % width == 0:
                yield at
            at = self.data.find(wanted, at + 1)

    def line_of(self, at: int) -> int:
        return self.data.count(self.line_feed, 0, at) + 1

    def count_lines(self) -> int:
        line_feeds = sum(1 for _ in self.every(self.line_feed)) if self.encoding.is_wide else self.data.count(b"\n")
        return line_feeds + (1 if self.ends_within_line() else 0)

    def ends_within_line(self) -> bool:
        return len(self.data) > len(self.encoding.mark) and not self.data.endswith(self.line_feed)

    def line_start(self, line: int) -> int:
        """Where a line begins; a byte order mark is before the first."""
        if line == 0:
            return len(self.encoding.mark)
        if self.encoding.is_wide:
            return next(islice(self.every(self.line_feed), line - 1, None)) + len(self.line_feed)
        return len(self.data) - len(self.data.split(b"\n", line)[-1])


def _many(text: _Text, wanted: bytes, place: Place) -> ManyMatches:
    count = max(2, text.data.count(wanted))
    lines: list[Json] = [text.line_of(at) for at in islice(text.every(wanted), _LINES_NAMED)]
    return ManyMatches(
        f"the text to replace is in '{place}' {count} times",
        hint="Take more of what is around it, so that it is there only once.",
        path=str(place),
        count=count,
        lines=lines,
    )


def _none(text: _Text, old: str, place: Place) -> NoMatch:
    candidates = nearest(text.decoded(), old)
    hint = "Read the file again, and copy the text exactly."
    if candidates:
        best = candidates[0]
        hint = f"The nearest is at line {best.line}, which has {best.found!r} instead of {best.expected!r}. " + hint
    near: list[Json] = [{"line": one.line, "expected": one.expected, "found": one.found} for one in candidates]
    return NoMatch(f"the text to replace is not in '{place}'", hint=hint, path=str(place), count=0, nearest=near)


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _crlf(text: str) -> str:
    return _lf(text).replace("\n", "\r\n")
