"""Searching: who is asked in which order, and what is said when nobody has anything."""

from collections.abc import Sequence

import pytest

from holdfast.internet.protocol import SearchResult, Unanswered
from holdfast.internet.search import MAX_QUERY_CHARS, Search
from holdfast.internet.settings import InternetSettings
from holdfast.vocabulary.errors import InvalidQuery, SearchFailed
from tests.promises import carries


class Shelf:
    """A provider that knows some pages, or has a problem."""

    def __init__(self, name: str, pages: int = 0, problem: str = "") -> None:
        self.name = name
        self.asked: list[tuple[str, int]] = []
        self._pages = pages
        self._problem = problem

    async def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        self.asked.append((query, max_results))
        if self._problem:
            raise Unanswered(self._problem)
        return [SearchResult(f"{self.name} {number}", f"https://{self.name}.example/{number}", "") for number in range(self._pages)]


@carries("SEARCH-15")
async def test_any_provider_with_a_name_and_a_search_can_be_asked() -> None:
    found = await Search((Shelf("library", 2),)).find("words", 5)

    assert (found.provider, len(found.results), found.passed_over) == ("library", 2, ())


@carries("SEARCH-2", "SEARCH-5")
@pytest.mark.parametrize("first", [Shelf("first", problem="it is down"), Shelf("first")], ids=["failed", "empty"])
async def test_the_next_is_asked_when_one_failed_or_found_nothing_and_why_is_told(first: Shelf) -> None:
    found = await Search((first, Shelf("second", 1))).find("words", 5)

    assert found.provider == "second"
    assert found.passed_over in (("first: it is down",), ("first: nothing was found",))


async def test_when_the_first_has_found_something_nobody_else_is_asked() -> None:
    second = Shelf("second", 1)

    await Search((Shelf("first", 1), second)).find("words", 5)

    assert second.asked == []


@carries("SEARCH-3", "SEARCH-5")
async def test_when_nobody_has_anything_the_reason_of_each_is_told() -> None:
    with pytest.raises(SearchFailed) as raised:
        await Search((Shelf("first", problem="it is down"), Shelf("second")), ("third: not configured",)).find("words", 5)

    reasons = ["first: it is down", "second: nothing was found", "third: not configured"]
    assert raised.value.facts["reasons"] == reasons
    assert all(reason in str(raised.value) for reason in reasons)


@carries("SEARCH-4")
@pytest.mark.parametrize("query", ["", "   ", "\n\t", "x" * (MAX_QUERY_CHARS + 1)])
async def test_a_query_that_is_none_is_refused_and_nobody_is_asked(query: str) -> None:
    shelf = Shelf("first", 1)

    with pytest.raises(InvalidQuery):
        await Search((shelf,)).find(query, 5)

    assert shelf.asked == []


@carries("SEARCH-7")
async def test_blanks_in_a_query_are_one_and_the_count_stays_within_bounds() -> None:
    shelf = Shelf("first", 100)

    counts = [len((await Search((shelf,)).find(" two\n words ", wanted)).results) for wanted in (1, 5, 20, 21, 10**9)]

    assert counts == [1, 5, 20, 20, 20]
    assert shelf.asked[0] == ("two words", 1)


@carries("SEARCH-13")
@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (InternetSettings(), ["searxng"]),
        (InternetSettings(brave_key="k"), ["searxng", "brave"]),
        (InternetSettings(searxng_url="", brave_key="k"), ["brave"]),
        (InternetSettings(searxng_url=" ", brave_key=" "), []),
    ],
)
async def test_searxng_comes_first_and_each_is_there_when_it_is_set(settings: InternetSettings, names: list[str]) -> None:
    search = Search.of(settings)

    assert [provider.name for provider in search.providers] == names
    assert len(names) + len(search.left_out) == 2


@carries("SEARCH-13")
async def test_when_nothing_is_set_what_to_set_is_told() -> None:
    with pytest.raises(SearchFailed) as raised:
        await Search.of(InternetSettings(searxng_url="")).find("words", 5)

    assert "HOLDFAST_SEARXNG_URL" in str(raised.value)
    assert "HOLDFAST_BRAVE_KEY" in str(raised.value)
