"""Text from the internet, made harmless to show: one line, of bounded length, without anything that a terminal or a reader obeys."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urlsplit

from .protocol import SearchResult

_MAX_TITLE = 300
_MAX_CONTENT = 1000
_MAX_URL = 2048
_MAX_RAW = 20_000
_MAX_LOOKED_AT = 200
# Sequences that a terminal takes for commands: with their text (titles, links), with their numbers (colours, movements), and the rest.
_ESCAPES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
# They join letters and emoji, and people write with them.
_JOINERS = "\u200c\u200d"
# One more invisible alphabet, in which a page could write to a model past its reader.
_HIDDEN_ALPHABET = range(0xE0100, 0xE01F0)


def one_line(text: str, max_chars: int) -> str:
    """The text as it may be shown: on one line, without control characters, shortened when it is long."""
    plain = _ESCAPES.sub("", text[:_MAX_RAW])
    seen = "".join(" " if each.isspace() else each for each in plain if each.isspace() or _is_seen(each))
    line = " ".join(seen.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def cleaned(found: Iterable[tuple[object, object, object, object]], max_results: int) -> list[SearchResult]:
    """Title, address, snippet and score as a provider gave them, made results: each address once, and only those of the web."""
    results: dict[str, SearchResult] = {}
    for title, url, content, score in islice(found, _MAX_LOOKED_AT):
        if len(results) >= max_results:
            break
        if isinstance(url, str) and url not in results and _is_of_the_web(url):
            heading = one_line(title, _MAX_TITLE) if isinstance(title, str) else ""
            snippet = one_line(content, _MAX_CONTENT) if isinstance(content, str) else ""
            results[url] = SearchResult(heading or url, url, snippet, _number(score))
    return list(results.values())


def _is_seen(character: str) -> bool:
    if unicodedata.category(character) in _INVISIBLE:
        return character in _JOINERS
    return ord(character) not in _HIDDEN_ALPHABET


def _is_of_the_web(url: str) -> bool:
    if len(url) > _MAX_URL or " " in url or one_line(url, _MAX_URL) != url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _number(score: object) -> float | None:
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) < 1e9:
        return None
    return float(score)
