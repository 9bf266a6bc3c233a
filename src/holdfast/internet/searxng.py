"""SearXNG: a search engine of one's own that asks others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from .clean import cleaned, one_line
from .fetch import fetch_json
from .protocol import SearchResult, Unanswered
from .question import Address, Question, parse_address

_MEANINGS = {
    403: "JSON is disabled on that server: add json to search.formats in its settings.yml and restart it, or it refuses this client",
    429: "it says that these are too many requests: switch its limiter off for this machine, or wait",
    404: "there is no search at that address: HOLDFAST_SEARXNG_URL must be where the server's own page is",
}
_MAX_REASON = 300


@dataclass(frozen=True)
class SearXNG:
    """One server. `engines` are the ones that it shall ask; empty leaves the choice to it."""

    url: str
    engines: str = ""
    seconds: float = 10.0
    name: str = "searxng"

    async def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """The best pages for a query; the order is the server's.

        Raises:
            Unanswered: It is not there, refuses, or all its engines failed.
        """
        params = {"q": query, "format": "json", **({"engines": self.engines} if self.engines else {})}
        said = await fetch_json(Question(self._address(), params, meanings=_MEANINGS, seconds=self.seconds))
        found = said.get("results")
        if not isinstance(found, list):
            raise Unanswered("its answer has no results in it: check that HOLDFAST_SEARXNG_URL is a SearXNG server")
        rows = [cast("dict[str, Any]", row) for row in cast("list[object]", found) if isinstance(row, dict)]
        results = cleaned(((row.get("title"), row.get("url"), row.get("content"), row.get("score")) for row in rows), max_results)
        if not results and (silent := _silent(said.get("unresponsive_engines"))):
            raise Unanswered(f"nothing was found, and these engines did not answer: {silent}")
        return results

    def _address(self) -> Address:
        address = parse_address(self.url, "HOLDFAST_SEARXNG_URL")
        path = address.url.partition("?")[0].rstrip("/")
        return Address(path if path.endswith("/search") else f"{path}/search", address.login)


def _silent(engines: object) -> str:
    """The engines that failed and why, as the server lists them: pairs of two texts."""
    if not isinstance(engines, list):
        return ""
    pairs = [cast("list[object]", pair) for pair in cast("list[object]", engines)[:20] if isinstance(pair, list)]
    return one_line(", ".join(" ".join(str(word) for word in pair[:2]) for pair in pairs), _MAX_REASON)
