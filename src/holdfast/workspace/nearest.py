"""What in a text comes nearest to something that is not in it.

It must stay quick on a large file, so only the lines that share a word
with what is wanted are compared, and else no more than its first part.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise

_AT_MOST = 3
_SIMILAR = 0.5
_WORSE_THAN_BEST = 0.15
_KEYS = 3
_HITS_PER_WORD = 50
_LOOKED_AT_LINES = 2000
_COMPARED = 200
_NOT_BLANK = re.compile(r"^.*\S", re.MULTILINE)


@dataclass(frozen=True)
class Candidate:
    """A line, counted from 1, where the text nearly is, and the first of its lines that differs, both ways."""

    line: int
    expected: str
    found: str


def nearest(text: str, wanted: str) -> list[Candidate]:
    """The few places that look most like `wanted`, the best first."""
    lines = [line.rstrip("\r") for line in wanted.split("\n")]
    longest_first = sorted((number for number, line in enumerate(lines) if line.strip()), key=lambda number: -len(lines[number].strip()))
    for number in longest_first[:_KEYS]:
        if starts := _similar_lines(text, lines[number].strip()):
            candidates = (_candidate(text, _lines_back(text, start, number), lines) for start in starts)
            return [candidate for candidate in candidates if candidate is not None]
    return []


def _similar_lines(text: str, key: str) -> list[int]:
    """Where the lines begin that look most like `key`."""
    rough: dict[int, float] = {}
    grams = _grams(key)
    for start in _lines_with_a_word_of(text, key) or _first_lines(text):
        rough[start] = _overlap(grams, _grams(_line_at(text, start)))
    best = sorted(rough, key=lambda start: (-rough[start], start))[: 4 * _AT_MOST]
    exact = {
        start: SequenceMatcher(None, key[:_COMPARED], _line_at(text, start).strip()[:_COMPARED], autojunk=False).ratio() for start in best
    }
    enough = max(_SIMILAR, max(exact.values(), default=0.0) - _WORSE_THAN_BEST)
    return [start for start in sorted(exact, key=lambda start: (-exact[start], start)) if exact[start] >= enough][:_AT_MOST]


def _lines_with_a_word_of(text: str, key: str) -> list[int]:
    words = sorted(set(re.findall(r"\w{3,}", key)), key=lambda word: (-len(word), word))
    hits = (at for word in words[:_KEYS] for at in islice(_occurrences(text, word), _HITS_PER_WORD))
    return sorted({text.rfind("\n", 0, at) + 1 for at in hits})


def _first_lines(text: str) -> Iterator[int]:
    return (line.start() for line in islice(_NOT_BLANK.finditer(text), _LOOKED_AT_LINES))


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _grams(line: str) -> set[str]:
    """Its pairs of letters, white space apart: what two lines have in common when one has a typing error."""
    packed = "".join(line.split())[:_COMPARED]
    return {one + other for one, other in pairwise(packed)} or {packed}


def _overlap(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _lines_back(text: str, start: int, count: int) -> int:
    for _ in range(count):
        if start == 0:
            break
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _candidate(text: str, start: int, wanted: list[str]) -> Candidate | None:
    for number, (expected, found) in enumerate(zip(wanted, _lines_from(text, start, len(wanted)), strict=False)):
        # The wanted text may begin and end in the middle of a line.
        ends, begins = number == 0 and found.endswith(expected), number == len(wanted) - 1 and found.startswith(expected)
        if expected != found and not ends and not begins:
            return Candidate(text.count("\n", 0, start) + 1, *_around_difference(expected, found))
    return None


def _lines_from(text: str, start: int, count: int) -> Iterable[str]:
    for _ in range(count):
        yield _line_at(text, start)
        start = text.find("\n", start) + 1 or len(text)


def _line_at(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)].rstrip("\r")


def _around_difference(expected: str, found: str) -> tuple[str, str]:
    """Both lines, shortened to where they differ."""
    same = next((at for at, (one, other) in enumerate(zip(expected, found, strict=False)) if one != other), min(len(expected), len(found)))
    start = max(0, same - 40)
    return expected[start : start + _COMPARED], found[start : start + _COMPARED]
