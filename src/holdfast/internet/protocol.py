"""What a search provider is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class SearchResult:
    """One page that was found. Its texts are one line each, without control characters; who wrote them is unknown."""

    title: str
    url: str
    content: str
    score: float | None = None


class Unanswered(Exception):
    """A provider has no answer. The words say why, and hold no secret."""


class SearchProvider(Protocol):
    """Somewhere to search."""

    @property
    def name(self) -> str:
        """What it is called in an answer."""
        ...

    async def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """The best pages for a query, the best first; none when it knows none.

        Raises:
            Unanswered: It is not there, refuses, or makes no sense.
        """
        ...
