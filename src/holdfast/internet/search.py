"""Searching: the providers in their order, until one has found something."""

from dataclasses import dataclass

from holdfast.vocabulary.errors import InvalidQuery, SearchFailed

from .brave import Brave
from .protocol import SearchProvider, SearchResult, Unanswered
from .searxng import SearXNG
from .settings import InternetSettings

MAX_RESULTS = 20
MAX_QUERY_CHARS = 2000


@dataclass(frozen=True)
class Found:
    """What was found and who found it; `passed_over` says of those who were asked before why they had nothing."""

    provider: str
    results: tuple[SearchResult, ...]
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Search:
    """The providers that there are, in the order in which they are asked; `left_out` says of others why they are not among them."""

    providers: tuple[SearchProvider, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: InternetSettings) -> "Search":
        """SearXNG, then Brave, as far as they are set."""
        providers: list[SearchProvider] = []
        left_out: list[str] = []
        if settings.searxng_url.strip():
            providers.append(SearXNG(settings.searxng_url, settings.searxng_engines.strip(), settings.seconds))
        else:
            left_out.append("searxng: not configured, HOLDFAST_SEARXNG_URL is empty")
        if settings.brave_key and settings.brave_key.strip():
            providers.append(Brave(settings.brave_key, settings.brave_url, settings.seconds))
        else:
            left_out.append("brave: not configured, HOLDFAST_BRAVE_KEY is not set")
        return cls(tuple(providers), tuple(left_out))

    async def find(self, query: str, max_results: int) -> Found:
        """The best pages for a query, from the first provider that has any.

        Raises:
            InvalidQuery: It is empty, or too long for anybody.
            SearchFailed: Nobody found anything, and why for each.
        """
        words = " ".join(query.split())
        if not words:
            raise InvalidQuery("the query is empty", hint="Say what to look for.")
        if len(words) > MAX_QUERY_CHARS:
            raise InvalidQuery(f"the query is longer than {MAX_QUERY_CHARS} characters", hint="Search for fewer words.")
        wanted = max(1, min(max_results, MAX_RESULTS))
        reasons: list[str] = []
        failed = False
        for provider in self.providers:
            try:
                results = await provider.search(words, wanted)
            except Unanswered as problem:
                failed = True
                reasons.append(f"{provider.name}: {problem}")
            else:
                if results:
                    return Found(provider.name, tuple(results[:wanted]), tuple(reasons))
                reasons.append(f"{provider.name}: nothing was found")
        hint = "Go on without it, or have the person look at these settings." if failed or not self.providers else "Try other words."
        why: list[str] = [*reasons, *self.left_out]
        raise SearchFailed(f"the search has no results: {'; '.join(why)}", hint=hint, reasons=why)
