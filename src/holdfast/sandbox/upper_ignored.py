"""What git ignores, by the `.gitignore` files that were there before a command ran.

A command cannot make its own effects ignored, since what it writes into
such a file counts only from the next command on. The patterns are a
stranger's: they are matched name by name and without backtracking, so
none of them can run away.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from .upper import Tree

MAX_BYTES = 256 * 1024
MAX_PATTERNS = 2_000
_ANY = "**"


@dataclass(frozen=True)
class Pattern:
    """One line of a `.gitignore`: names to match one after the other, where `**` is any number of them."""

    parts: tuple[str, ...]
    is_anchored: bool
    is_for_folders: bool
    is_exception: bool

    def matches(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Whether it is about the entry that these names lead to, counted from the file's folder."""
        if self.is_for_folders and not is_folder:
            return False
        if not self.is_anchored:
            return _name(self.parts[0]).match(names[-1]) is not None
        return _matches(self.parts, names)


@dataclass(frozen=True)
class Rules:
    """All patterns that are in force in a folder: those of the folders above first. `depth` is how many folders each file lies deep."""

    levels: tuple[tuple[int, tuple[Pattern, ...]], ...] = ()

    def within(self, lower: Tree, path: str) -> "Rules":
        """The rules for what is in the folder at `path`."""
        found = [_patterns(_text(lower, _join(path, name))) for name in (".git/info/exclude", ".gitignore")]
        depth = path.count("/") + 1 if path else 0
        added = tuple((depth, patterns) for patterns in found if patterns)
        return Rules(self.levels + added) if added else self

    def ignore(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry is ignored by itself; one in an ignored folder is so in any case."""
        names = path.split("/")
        for depth, patterns in reversed(self.levels):
            for pattern in reversed(patterns):
                if pattern.matches(names[depth:], is_folder=is_folder):
                    return not pattern.is_exception
        return False


def _patterns(text: str) -> tuple[Pattern, ...]:
    found = (_pattern(line) for line in text.splitlines()[:MAX_PATTERNS])
    return tuple(pattern for pattern in found if pattern is not None)


def _pattern(line: str) -> Pattern | None:
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\) +\Z", "", line) if len(line) < 4096 else ""
    is_exception = line.startswith("!")
    body = line[is_exception:]
    is_for_folders = body.endswith("/")
    body = body.rstrip("/") if is_for_folders else body
    if not body:
        return None
    parts = tuple(part for part in body.split("/") if part)
    return Pattern(parts, "/" in body, is_for_folders, is_exception) if parts else None


def _matches(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the names are what the parts say; only the last `**` has to be tried again, which is never wrong."""
    if parts[-1] == _ANY:
        # What is in the folder, and not the folder itself.
        return any(_matches(parts[:-1], names[:end]) for end in range(len(names))) if len(parts) > 1 else True
    part = name = 0
    star, resume = -1, 0
    while name < len(names):
        if part < len(parts) and parts[part] == _ANY:
            star, resume = part, name
            part += 1
        elif part < len(parts) and _name(parts[part]).match(names[name]):
            part += 1
            name += 1
        elif star >= 0:
            resume += 1
            part, name = star + 1, resume
        else:
            return False
    return part == len(parts)


@lru_cache(maxsize=4096)
def _name(pattern: str) -> "re.Pattern[str]":
    """A pattern of one name. What stands between two stars is taken where it is first found, for good (`(?>`)."""
    pieces = [""]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "\\" and position < len(pattern):
            pieces[-1] += re.escape(pattern[position])
            position += 1
        elif character == "[" and (end := _end_of_set(pattern, position)) > 0:
            pieces[-1] += _set(pattern[position:end])
            position = end + 1
        else:
            pieces[-1] += re.escape(character)
    first, *rest = pieces
    text = first
    if rest:
        text += "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece) + f".*{rest[-1]}"
    try:
        return re.compile(f"(?s:{text})\\Z")
    except re.error:
        return re.compile(r"(?!)")


def _end_of_set(pattern: str, start: int) -> int:
    after = start + (pattern[start : start + 1] in ("!", "^"))
    return pattern.find("]", after + 1)


def _set(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    inside = inside[negated:]
    # Python warns of what may mean more one day: doubled signs in a set.
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside).replace("--", r"-\-")
    return f"[{'^' if negated else ''}{inside}]"


def _text(lower: Tree, path: str) -> str:
    with suppress(OSError), lower.opened(path) as descriptor:
        return os.pread(descriptor, MAX_BYTES, 0).decode(errors="surrogateescape")
    return ""


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
