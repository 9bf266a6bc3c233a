"""The YAML at the head of a Markdown file: splitting it off, reading it, and changing it without touching anything else."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from holdfast.vocabulary.errors import InvalidFrontMatter
from holdfast.vocabulary.json import Json

from .changes import Changes
from .operations import Operation, read_operations
from .place import Place
from .write import MAX_REVISED_BYTES, Check, Written, revise
from .yaml_nodes import reader
from .yaml_splice import Splice

# The parser takes seconds for 64 KiB that are nothing but brackets and commas.
MAX_FRONT_MATTER_BYTES = 64 * 1024
MAX_DEPTH = 100

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(\r?\n)")
_CLOSING = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_BRACKETS = re.compile(r"[\[\]{}]")
# What the parser raises beside its own errors: for a date or a number that cannot be, for a tree too deep.
_UNREADABLE = (YAMLError, ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError)


async def patch(
    changes: Changes,
    place: Place,
    update: Mapping[str, Json],
    *,
    only_if: str | None = None,
    check: Check | None = None,
    max_bytes: int = MAX_REVISED_BYTES,
) -> Written:
    """Change what the front matter of a workflow says; its comments, its other keys and the body stay byte for byte.

    Raises:
        InvalidArguments: `update` has a key, an operation or a value that is not known; all such are named.
        InvalidFrontMatter: There is none that can be read.
        InvalidState: What is there is not of the kind that the operation needs.
        NotFound, StaleHash, TooLarge: As in `revise`.
    """
    operations = read_operations(update)
    return await revise(changes, place, lambda data: patched(data, operations), only_if=only_if, check=check, max_bytes=max_bytes)


def patched(data: bytes, operations: Sequence[Operation]) -> bytes:
    """The file after the operations.

    Raises:
        InvalidFrontMatter, InvalidState: As in `patch`.
    """
    parts = split(data)
    text = _text(parts)
    state = _parsed(text)
    splice = Splice(text, newline=parts.newline)
    for operation in operations:
        operation.apply(state, splice)
    new = splice.result()
    if _parsed(new) != state:
        raise InvalidFrontMatter(
            "the front matter is written in a way that cannot be changed in place", hint="Write the file whole, in plain block style."
        )
    return parts.opening + new.encode() + parts.rest


def parse(data: bytes) -> dict[str, object]:
    """What the front matter of a file says.

    Raises:
        InvalidFrontMatter: There is none, or it is not a mapping that can be read.
    """
    return _parsed(_text(split(data)))


@dataclass(frozen=True)
class Parts:
    """A file cut where its front matter begins and ends; put together they are the file again."""

    opening: bytes
    front: bytes
    rest: bytes
    newline: str


def split(data: bytes) -> Parts:
    """The front matter, and what is before and after it.

    Raises:
        InvalidFrontMatter: There is none, or it does not end.
    """
    opening = _OPENING.match(data)
    if opening is None:
        raise InvalidFrontMatter("the file does not begin with front matter", hint="Its first line must be '---'.")
    start = opening.end()
    closing = _CLOSING.search(data, start, start + MAX_FRONT_MATTER_BYTES)
    if closing is None:
        raise InvalidFrontMatter(
            f"the front matter has no end within {MAX_FRONT_MATTER_BYTES} bytes", hint="It must be closed by a second line '---'."
        )
    return Parts(data[:start], data[start : closing.start()], data[closing.start() :], opening[1].decode())


def _text(parts: Parts) -> str:
    try:
        return parts.front.decode()
    except UnicodeDecodeError:
        raise InvalidFrontMatter("the front matter is not valid UTF-8", hint="Write it in UTF-8.") from None


def _parsed(text: str) -> dict[str, object]:
    """The mapping that the text says, without anything that could grow when it is used.

    An alias repeats the part of the tree that has its anchor, and a few
    lines of them repeat it a billion times, so there must be none.
    """
    if _bracket_depth(text) > MAX_DEPTH:
        raise _too_deep()
    try:
        if ("&" in text or "*" in text) and any(getattr(event, "anchor", None) is not None for event in reader().parse(text)):
            raise InvalidFrontMatter("the front matter has anchors or aliases in it", hint="Write out what they stand for.")
        loaded: object = reader().load(text)
    except _UNREADABLE as error:
        raise _invalid(error) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise InvalidFrontMatter("the front matter is not a mapping", hint="Write it as lines of 'key: value'.")
    return cast("dict[str, object]", loaded)


def _bracket_depth(text: str) -> int:
    """How deep the brackets go: the parser's time grows with the square of it."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _invalid(error: Exception) -> InvalidFrontMatter:
    marked: Any = error if isinstance(error, MarkedYAMLError) else None
    if marked is not None and marked.problem_mark is not None:
        line = int(marked.problem_mark.line) + 2
        return InvalidFrontMatter(f"the front matter cannot be read at line {line}: {marked.problem}", hint="Correct the YAML.", line=line)
    if isinstance(error, RecursionError):
        return _too_deep()
    return InvalidFrontMatter(f"the front matter cannot be read: {str(error)[:200]}", hint="Correct the YAML.")


def _too_deep() -> InvalidFrontMatter:
    return InvalidFrontMatter("the front matter is nested too deep", hint="Make it flatter.")
