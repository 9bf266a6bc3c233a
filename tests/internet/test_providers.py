"""SearXNG and Brave, asked over real HTTP: what is sent, what is made of the answer, and what is said of every fault."""

import gzip
import json
from typing import Protocol

import pytest

from holdfast.internet.brave import Brave
from holdfast.internet.protocol import SearchProvider, Unanswered
from holdfast.internet.searxng import SearXNG
from tests.internet.site import (
    Answer,
    Said,
    Site,
    brave,
    brave_page,
    drip,
    flood,
    hang,
    hang_up,
    page,
    searxng,
    site,
    unused_port,
)
from tests.promises import carries

KEY = "planted-brave-key"
HTML = Said(b"<html><body>Hello</body></html>", headers={"Content-Type": "text/html"})


def ours(url: str, seconds: float = 2) -> SearXNG:
    return SearXNG(url, seconds=seconds)


def braves(url: str, seconds: float = 2) -> Brave:
    return Brave(KEY, url, seconds=seconds)


class Make(Protocol):
    def __call__(self, url: str, seconds: float = 2) -> SearchProvider: ...


BOTH = pytest.mark.parametrize("provider", [ours, braves], ids=["searxng", "brave"])


async def problem_of(provider: SearchProvider) -> str:
    with pytest.raises(Unanswered) as raised:
        await provider.search("words", 5)
    assert KEY not in f"{raised.value}{raised.value.__cause__}{raised.value.__context__ if not raised.value.__suppress_context__ else ''}"
    return str(raised.value)


@carries("SEARCH-11", "SEARCH-14")
async def test_searxng_is_asked_for_json_of_the_engines_and_its_results_have_title_address_snippet_and_score() -> None:
    with site(searxng(page(1), page(2, score=None))) as there:
        found = await SearXNG(there.url, "bing,duckduckgo,brave").search("two words & more", 5)

    (asked,) = there.requests
    assert (asked.path, asked.query) == ("/search", {"q": "two words & more", "format": "json", "engines": "bing,duckduckgo,brave"})
    assert [(one.title, one.url, one.content, one.score) for one in found] == [
        ("Page 1", "https://example.org/1", "About 1.", 1.0),
        ("Page 2", "https://example.org/2", "About 2.", None),
    ]


@carries("SEARCH-13")
async def test_without_engines_none_are_sent() -> None:
    with site(searxng(page(1))) as there:
        await SearXNG(there.url).search("x", 5)

    assert there.requests[0].query == {"q": "x", "format": "json"}


@carries("SEARCH-13")
@pytest.mark.parametrize(
    ("written", "path"),
    [("", "/search"), ("/", "/search"), ("/searx", "/searx/search"), ("/searx/", "/searx/search"), ("/search", "/search")],
)
async def test_searxng_may_live_below_a_path(written: str, path: str) -> None:
    with site(searxng(page(1))) as there:
        await SearXNG(there.url + written).search("x", 5)

    assert there.requests[0].path == path


@carries("SEARCH-12", "SEARCH-14")
async def test_brave_is_asked_with_the_key_in_its_header_and_its_results_lose_their_html() -> None:
    odd = brave_page(1, title="<strong>Bold</strong> &amp; plain", description="1 &lt; 2 \x1b[31m")

    with site(brave(odd, brave_page(2))) as there:
        found = await Brave(f" {KEY}\n", there.url).search("two words", 3)

    (asked,) = there.requests
    assert (asked.path, asked.query["q"], asked.query["count"]) == ("/res/v1/web/search", "two words", "3")
    assert asked.headers["X-Subscription-Token"] == KEY
    assert [(one.title, one.content, one.score) for one in found] == [("Bold & plain", "1 < 2", None), ("Brave 2", "Of 2.", None)]


@carries("SEARCH-12")
async def test_an_address_of_brave_with_a_path_is_taken_whole() -> None:
    with site(brave(brave_page(1))) as there:
        await Brave(KEY, f"{there.url}/elsewhere/search").search("x", 3)

    assert there.requests[0].path == "/elsewhere/search"


@carries("SEARCH-12")
def test_without_an_address_braves_own_is_asked() -> None:
    assert Brave(KEY)._address().url == "https://api.search.brave.com/res/v1/web/search"  # pyright: ignore[reportPrivateUsage] - nobody may be asked for real


@carries("SEARCH-7")
@BOTH
async def test_no_more_results_are_given_than_wanted(provider: Make) -> None:
    many = [searxng(*map(page, range(1, 30))), brave(*map(brave_page, range(1, 30)))]

    with site(many[provider is braves]) as there:
        assert [len(await provider(there.url).search("x", wanted)) for wanted in (1, 3, 20)] == [1, 3, 20]


@carries("SEARCH-5")
@BOTH
async def test_nothing_found_is_no_results_and_no_problem(provider: Make) -> None:
    with site([searxng(), brave()][provider is braves]) as there:
        assert list(await provider(there.url).search("x", 5)) == []


@carries("SEARCH-3")
async def test_when_all_engines_failed_searxng_says_which_and_why() -> None:
    with site(searxng(unresponsive_engines=[["bing", "timeout"], ["duckduckgo", "access \x1b[31mdenied"]])) as there:
        said = await problem_of(ours(there.url))

    assert said.endswith("bing timeout, duckduckgo access denied")


@carries("SEARCH-17")
async def test_a_server_with_json_disabled_is_told_so_and_what_to_set() -> None:
    with site(Said(b"<h1>Forbidden</h1>", 403, {"Content-Type": "text/html"})) as there:
        said = await problem_of(ours(there.url))

    assert "JSON is disabled on that server" in said
    assert "search.formats" in said
    assert "settings.yml" in said
    assert len(there.requests) == 1


@carries("SEARCH-6")
@BOTH
@pytest.mark.parametrize("status", [204, 400, 401, 403, 404, 418, 422, 429, 500, 502, 503, 599])
async def test_an_error_status_is_a_problem_that_names_it(provider: Make, status: int) -> None:
    with site(Said(b"", status)) as there:
        said = await problem_of(provider(there.url))

    assert f"HTTP {status}" in said


@carries("SEARCH-6")
@pytest.mark.parametrize("status", [401, 403, 422])
async def test_a_key_that_brave_does_not_take_is_told_by_the_name_of_its_setting(status: int) -> None:
    with site(Said(json.dumps({"error": {"detail": f"bad key {KEY}"}}).encode(), status)) as there:
        assert "HOLDFAST_BRAVE_KEY" in await problem_of(braves(there.url))


@carries("SEARCH-18")
@BOTH
@pytest.mark.parametrize("first", [Said(b"", 500), Said(b"", 503), Said(b"", 429), Said(b"", 429, {"Retry-After": "0"}), hang_up, hang])
async def test_what_may_pass_is_tried_once_more(provider: Make, first: Answer) -> None:
    with site(first, [searxng(page(1)), brave(brave_page(1))][provider is braves]) as there:
        found = await provider(there.url, 1).search("x", 5)

    assert (len(found), len(there.requests)) == (1, 2)


@carries("SEARCH-18")
@BOTH
@pytest.mark.parametrize(
    ("answer", "tries"),
    [
        (Said(b"", 500), 2),
        (hang_up, 2),
        (hang, 2),
        (drip, 2),
        (Said(b"", 429, {"Retry-After": "3600"}), 1),
        (Said(b"", 429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), 1),
        (Said(b"", 401), 1),
        (Said(b"{"), 1),
        (flood, 1),
    ],
    ids=["500", "hung up", "timed out", "dripping", "told to wait", "told until when", "401", "malformed", "endless"],
)
async def test_nobody_is_asked_more_than_twice_and_what_stays_wrong_only_once(provider: Make, answer: Answer, tries: int) -> None:
    with site(answer) as there:
        said = await problem_of(provider(there.url, 0.2 if answer in (hang, drip) else 2))

        assert len(there.requests) == tries
        assert ("within 0.2 s" in said) == (answer in (hang, drip))


@carries("SEARCH-3")
@BOTH
async def test_where_nobody_listens_is_told_with_the_address(provider: Make) -> None:
    url = f"http://127.0.0.1:{unused_port()}"

    assert f"nobody answers at {url}" in await problem_of(provider(url))


@carries("SEARCH-3")
@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        Said(b""),
        Said(b"{"),
        Said(b"[]"),
        Said(b"null"),
        Said(b"{}"),
        Said(b'{"results": {}, "web": []}'),
        Said(b'{"results": "x", "web": {"results": "x"}}'),
        Said(b"\xff\xfe"),
        Said(b"[" * 200_000),
        Said(b"no gzip", headers={"Content-Encoding": "gzip"}),
        Said(b"{}", headers={"Content-Encoding": "br"}),
    ],
    ids=["page", "empty", "cut", "list", "null", "object", "odd", "odder", "bytes", "deep", "gzip", "brotli"],
)
async def test_an_answer_that_makes_no_sense_is_a_problem(provider: Make, answer: Said) -> None:
    with site(answer) as there:
        assert await problem_of(provider(there.url))


@BOTH
async def test_results_that_make_no_sense_are_left_out(provider: Make) -> None:
    odd: list[object] = [None, 3, "x", [], {}, {"url": 7}, {"url": "https://a.example"}]
    body = {"type": "search", "results": odd, "web": {"results": odd}}

    with site(Said(json.dumps(body).encode())) as there:
        found = await provider(there.url).search("x", 5)

    assert [one.url for one in found] == ["https://a.example"]


@carries("SEARCH-19")
@BOTH
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed small"])
async def test_an_answer_that_is_too_long_is_a_problem(provider: Make, packed: bool) -> None:
    body = b'{"results": [' + b" " * 20_000_000
    said = Said(gzip.compress(body), headers={"Content-Encoding": "gzip"}) if packed else Said(body)

    with site(said) as there:
        assert "longer than" in await problem_of(provider(there.url))


async def test_an_answer_may_be_packed() -> None:
    plain = searxng(page(1))

    with site(Said(gzip.compress(plain.body), headers={"Content-Encoding": "gzip"})) as there:
        assert len(await ours(there.url).search("x", 5)) == 1


@carries("SEARCH-13")
@pytest.mark.parametrize("url", ["localhost:8080", "ftp://server", "http:///x", "http://server:web", "nonsense", "http://[::1"])
async def test_a_setting_that_is_no_address_is_told_by_its_name_without_its_value(url: str) -> None:
    for provider in (ours(url), braves(url)):
        said = await problem_of(provider)

        assert f"HOLDFAST_{provider.name.upper()}_URL" in said
        assert url not in said


@carries("SEARCH-20")
async def test_a_password_in_the_address_is_sent_to_the_server_and_told_to_nobody() -> None:
    with site(Said(b"", 418)) as there:
        said = await problem_of(ours(there.url.replace("://", "://anna:planted%21@")))

    assert there.requests[0].headers["Authorization"] == "Basic YW5uYTpwbGFudGVkIQ=="
    assert "planted" not in said
    assert "anna" not in said


@carries("SEARCH-20")
@pytest.mark.parametrize("key", ["bad\nkey", "bäd", "bad\x00key"])
async def test_a_key_that_can_be_none_is_not_sent_and_not_told(key: str) -> None:
    with site(brave(brave_page(1))) as there, pytest.raises(Unanswered) as raised:
        await Brave(key, there.url).search("x", 5)

    assert there.requests == []
    assert key not in str(raised.value)
    assert key not in repr(Brave(key))


@carries("SEARCH-20")
@BOTH
@pytest.mark.parametrize(
    "location", ["http://localhost:{port}/", "http://127.0.0.1:{other}/", "//localhost:{port}/", "http://x@127.0.0.1:{port}/"]
)
async def test_a_redirect_to_another_server_is_not_followed(provider: Make, location: str) -> None:
    with site(searxng(page(1))) as other, site(searxng(page(1))) as there:
        target = location.format(port=there.port, other=other.port)
        there.answer(Said(b"", 302, {"Location": target}), searxng(page(1)))

        assert "redirects to another server" in await problem_of(provider(there.url))

    assert (len(there.requests), other.requests) == (1, [])


async def test_a_redirect_on_the_same_server_is_followed_but_not_without_end() -> None:
    with site(Said(b"", 301, {"Location": "/new/search?q=x&format=json"}), searxng(page(1))) as there:
        found = await ours(there.url).search("x", 5)
        there.answer(Said(b"", 307, {"Location": "/search"}))
        endless = await problem_of(ours(there.url))

    assert (len(found), there.requests[1].path) == (1, "/new/search")
    assert "without end" in endless


@carries("SEARCH-20")
async def test_a_redirect_from_https_to_http_is_never_followed() -> None:
    from holdfast.internet.get import _followed  # pyright: ignore[reportPrivateUsage] - there is no server with TLS here
    from holdfast.internet.question import Address

    def follow(before: str, after: str) -> str:
        return _followed(before, after, Address(before))

    assert follow("http://a.example/x", "https://a.example/y") == "https://a.example/y"
    assert follow("https://a.example/x", "https://a.example:443/y") == "https://a.example:443/y"
    for before, after in (
        ("https://a.example/", "http://a.example/"),
        ("http://a.example:8080/", "https://a.example/"),
        ("http://a.example/", "ftp://a.example/"),
    ):
        with pytest.raises(Unanswered):
            follow(before, after)


@carries("SEARCH-12")
@pytest.mark.parametrize("query", ["x" * 401, "x " * 51])
async def test_a_query_that_is_too_long_for_brave_is_not_sent(query: str) -> None:
    with site(brave(brave_page(1))) as there, pytest.raises(Unanswered, match="400 characters and 50 words"):
        await braves(there.url).search(query.strip(), 5)

    assert there.requests == []


class Proxied:
    """A site that is asked as a proxy."""

    def __init__(self, there: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", there.url)


@carries("SEARCH-22")
async def test_the_proxy_of_the_environment_is_asked_for_what_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(searxng(page(1))) as proxy:
        Proxied(proxy, monkeypatch)
        found = await ours("http://search.invalid").search("x", 5)

    assert len(found) == 1
    assert proxy.requests[0].path == "http://search.invalid/search"


@carries("SEARCH-22")
async def test_what_is_on_this_machine_and_what_no_proxy_names_is_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(searxng(page(1))) as proxy, site(searxng(page(2))) as there:
        Proxied(proxy, monkeypatch)
        here = await ours(there.url).search("x", 5)
        monkeypatch.setenv("NO_PROXY", "search.invalid")
        said = await problem_of(ours("http://search.invalid"))

    assert [one.title for one in here] == ["Page 2"]
    assert proxy.requests == []
    assert "not known here" in said


@carries("SEARCH-22", "SEARCH-20")
@pytest.mark.parametrize("proxy", ["http://anna:planted@127.0.0.1:{port}", "socks5://anna:planted@127.0.0.1:{port}", "nonsense://planted"])
async def test_a_proxy_that_cannot_be_used_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    with site(searxng(page(1))) as there:
        Proxied(there, monkeypatch)
    monkeypatch.setenv("HTTP_PROXY", proxy.format(port=unused_port()))

    said = await problem_of(ours("http://search.invalid"))

    assert "proxy in the environment" in said
    assert "planted" not in said
