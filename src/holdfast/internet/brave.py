"""Brave: a search engine that takes a key."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from .clean import cleaned
from .fetch import fetch_json
from .protocol import SearchResult, Unanswered
from .question import Address, Question, parse_address
from .settings import BRAVE_URL

_MEANINGS = {
    401: "it does not take the key: check HOLDFAST_BRAVE_KEY",
    403: "it does not take the key for this: check HOLDFAST_BRAVE_KEY and its plan",
    422: "it does not take the key or the query: check HOLDFAST_BRAVE_KEY",
    429: "it says that these are too many requests for the key's plan",
}
_MAX_QUERY_CHARS = 400
_MAX_QUERY_WORDS = 50
_MAX_COUNT = 20
_DECORATION = re.compile(r"</?(?:strong|b|em)>")


@dataclass(frozen=True)
class Brave:
    """The API, or something that speaks like it at another address."""

    key: str = field(repr=False)
    url: str | None = None
    seconds: float = 10.0
    name: str = "brave"

    async def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """The best pages for a query.

        Raises:
            Unanswered: It is not there, does not take the key, or the query is too long for it.
        """
        if len(query) > _MAX_QUERY_CHARS or len(query.split()) > _MAX_QUERY_WORDS:
            raise Unanswered(f"it takes at most {_MAX_QUERY_CHARS} characters and {_MAX_QUERY_WORDS} words")
        key = self.key.strip()
        if not (key.isascii() and key.isprintable()):
            raise Unanswered("HOLDFAST_BRAVE_KEY is not a key: it has characters in it that none has")
        params = {"q": query, "count": str(min(max_results, _MAX_COUNT)), "text_decorations": "false"}
        headers = {"X-Subscription-Token": key}
        said = await fetch_json(Question(self._address(), params, headers, _MEANINGS, self.seconds))
        web = said.get("web")
        if web is None and said.get("type") == "search":
            return []
        found = cast("dict[str, object]", web).get("results") if isinstance(web, dict) else None
        if not isinstance(found, list):
            raise Unanswered("its answer has no web results in it: check HOLDFAST_BRAVE_URL")
        rows = [cast("dict[str, Any]", row) for row in cast("list[object]", found) if isinstance(row, dict)]
        return cleaned(((_plain(row.get("title")), row.get("url"), _plain(row.get("description")), None) for row in rows), max_results)

    def _address(self) -> Address:
        """Where to ask; of an address without a path only the server is meant."""
        address = parse_address(self.url or BRAVE_URL, "HOLDFAST_BRAVE_URL")
        if urlsplit(address.url).path not in ("", "/"):
            return address
        return Address(address.origin + urlsplit(BRAVE_URL).path, address.login)


def _plain(text: object) -> object:
    """The text without the HTML that it comes in."""
    return html.unescape(_DECORATION.sub("", text)) if isinstance(text, str) else text
