"""Glob patterns, followed down a tree one directory at a time.

A directory in which nothing can match any more is seen to be one before
it is entered. Names are matched by `fnmatch`'s translation, in which
every star is atomic, so that no pattern makes it try again and again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from holdfast.vocabulary.errors import InvalidPattern

from .directories import Names

MAX_BYTES = 1_024
MAX_BYTES_SPELLED_OUT = 16_384
MAX_CHOICES = 256

_ANY_DEPTH = "**"

Matches: TypeAlias = Callable[[str], object]


class Route(NamedTuple):
    """What is left of a pattern at some directory: a name or `**` for each level further down."""

    parts: tuple[str, ...]
    directories_only: bool


class Trail:
    """Where patterns stand in one directory: which names in it match, and how they go on below.

    `wanted` and `wanted_directory` are given the name of an entry and
    answer something true when it matches. `pick` gives the files that
    match.
    """

    def __init__(self, routes: frozenset[Route], known: "dict[frozenset[Route], Trail] | None" = None) -> None:
        self._known = {} if known is None else known
        here = routes | {Route(route.parts[1:], route.directories_only) for route in routes if _skips(route)}
        ends = [route for route in here if len(route.parts) == 1]
        names = [route.parts[0] for route in ends if not route.directories_only]
        self.wanted = _matcher(names)
        self.wanted_directory = _matcher(route.parts[0] for route in ends)
        self.pick = _picker(names)
        self._anywhere = frozenset(route for route in here if route.parts[0] == _ANY_DEPTH)
        self._onward = [
            (_matcher([route.parts[0]]), Route(route.parts[1:], route.directories_only))
            for route in here
            if len(route.parts) > 1 and route.parts[0] != _ANY_DEPTH
        ]

    def below(self, name: str) -> "Trail | None":
        """How the patterns stand in the directory `name` of this one, None when nothing in it can match."""
        routes = self._anywhere
        if self._onward:
            routes |= {rest for matches, rest in self._onward if matches(name)}
        if not routes:
            return None
        trail = self._known.get(routes)
        if trail is None:
            trail = self._known[routes] = Trail(routes, self._known)
        return trail


def trail(patterns: Iterable[str]) -> Trail:
    """Where the patterns stand in the directory that they are counted from.

    `*`, `?` and `[…]` stay within one name, `**` as a whole name means
    any depth, `{a,b}` means either, a backslash takes away the meaning of
    what follows it, and a slash at the end asks for directories only.

    Raises:
        InvalidPattern: A pattern is empty, too long, or goes up with `..`.
    """
    routes = [_route(spelled, pattern) for pattern in patterns for spelled in _spelled_out(pattern)]
    if sum(len(part) for route in routes for part in route.parts) > MAX_BYTES_SPELLED_OUT:
        raise _too_many_choices()
    return Trail(frozenset(routes))


def name_matcher(pattern: str) -> Matches:
    """A test of one name against `*`, `?` and `[…]`."""
    _check(pattern)
    return _matcher([pattern])


def _skips(route: Route) -> bool:
    """Whether the route may also begin right here, its `**` standing for no directory at all."""
    return route.parts[0] == _ANY_DEPTH and len(route.parts) > 1


def _matcher(patterns: Iterable[str]) -> Matches:
    wanted = set(patterns)
    if not wanted:
        return _nothing
    if wanted & {"*", _ANY_DEPTH}:
        return _anything
    return re.compile("|".join(translate(pattern) for pattern in sorted(wanted))).match


def _picker(patterns: Sequence[str]) -> Callable[[Names], list[str]]:
    # Patterns such as `*.py` are the most usual ones, and have a quicker answer than a regular expression.
    if len(patterns) == 1 and _ENDING.fullmatch(patterns[0]):
        ending = patterns[0][1:]
        return lambda names: names.files_ending(ending)
    matches = _matcher(patterns)
    if matches is _anything:
        return lambda names: names.files
    return lambda names: list(filter(matches, names.files))


_ENDING = re.compile(r"\*[^*?\[]+", re.DOTALL)


def _nothing(_name: str) -> object:
    return None


def _anything(_name: str) -> object:
    return True


def _route(spelled: str, pattern: str) -> Route:
    parts: list[str] = []
    for raw in spelled.split("/"):
        part = _ESCAPED.sub(_taken_literally, raw)
        if part == "..":
            raise InvalidPattern(f"the pattern '{pattern}' goes up with '..'", hint="Leave out the '..', or start from another directory.")
        # Two `**` in a row say no more than one.
        if part not in ("", ".") and not (part == _ANY_DEPTH and parts[-1:] == [_ANY_DEPTH]):
            parts.append(part)
    if not parts:
        raise InvalidPattern(f"the pattern '{pattern}' names nothing", hint="Write a pattern such as '**/*.py'.")
    return Route(tuple(parts), spelled.endswith("/"))


_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _taken_literally(escaped: re.Match[str]) -> str:
    return f"[{escaped[1]}]" if escaped[1] in "*?[" else escaped[1]


def _check(pattern: str) -> None:
    if not pattern:
        raise InvalidPattern("the pattern is empty", hint="Write a pattern such as '**/*.py'.")
    if len(pattern.encode(errors="replace")) > MAX_BYTES:
        raise InvalidPattern(f"the pattern is over {MAX_BYTES} bytes long", hint="Write a shorter one.")


def _spelled_out(pattern: str) -> list[str]:
    """The pattern without braces, once for each of the choices that they offer."""
    _check(pattern)
    done: list[str] = []
    pending = [pattern]
    while pending:
        if len(done) + len(pending) > MAX_CHOICES:
            raise _too_many_choices()
        text = pending.pop()
        braces = _first_braces(text)
        if braces is None:
            done.append(text)
            continue
        start, options, end = braces
        pending.extend(text[:start] + option + text[end:] for option in options)
    return done


def _first_braces(text: str) -> tuple[int, list[str], int] | None:
    """Where the first pair of braces begins, what it offers, and where it ends; a brace without its pair is an ordinary character."""
    starts: list[int] = []
    commas: list[list[int]] = []
    for found in _BRACE_WORDS.finditer(text):
        match found[0]:
            case "{":
                starts.append(found.start())
                commas.append([])
            case "," if starts:
                commas[-1].append(found.start())
            case "}" if starts:
                start, cuts = starts.pop(), [*commas.pop(), found.start()]
                options = [text[one + 1 : two] for one, two in pairwise([start, *cuts])]
                return start, options, found.end()
            case _:
                pass
    return None


# Escaped characters and what stands in brackets are passed over as a whole.
_BRACE_WORDS = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|[{},]", re.DOTALL)


def _too_many_choices() -> InvalidPattern:
    return InvalidPattern("the patterns in braces make too many combinations", hint="Use fewer braces, or '*' in their place.")
