"""What is searched for in files, and what is found."""

from collections.abc import Callable
from dataclasses import dataclass

from .place import Place

MAX_LINE_CHARACTERS = 10_000
CUT = " … [line cut]"


@dataclass(frozen=True)
class Query:
    """What to search for, and where not to.

    `regex` is in ripgrep's syntax; without it the pattern is taken as it
    stands. `max_matches` 0 means all of them. `include` is given a path,
    counted from the mount's root, and says whether that file is searched;
    `names` are patterns with `*`, `?` and `[…]`, one of which its name
    must match, if there are any: ripgrep then opens no other file.
    """

    pattern: str
    regex: bool = True
    case_sensitive: bool = True
    before: int = 0
    after: int = 0
    max_matches: int = 0
    include: Callable[[str], bool] | None = None
    names: tuple[str, ...] = ()
    skip_directories: tuple[str, ...] = ()
    skip_hidden_directories: bool = False


@dataclass(frozen=True)
class Match:
    """One line that matches, numbered from 1, with the lines around it; none of them has its line break."""

    place: Place
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """Matches in the order of path and line; `truncated` when there would have been more.

    `files_searched` is None when the search was stopped before it had
    looked at everything.
    """

    matches: list[Match]
    truncated: bool
    files_searched: int | None

    @property
    def files_matched(self) -> int:
        """How many files the matches are in."""
        return len({match.place.path for match in self.matches})


def shown(line: str) -> str:
    """A line as it is shown: without its line break, and not longer than anybody reads."""
    line = line.removesuffix("\n").removesuffix("\r")
    return line if len(line) <= MAX_LINE_CHARACTERS else line[:MAX_LINE_CHARACTERS] + CUT
