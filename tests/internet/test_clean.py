"""Text from the internet is shown on one line, and nothing in it is obeyed."""

import pytest

from holdfast.internet.clean import cleaned, one_line
from tests.promises import carries


@carries("SEARCH-21")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\r\n\tand  more ", "two lines and more"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;new title\x07rest", "rest"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\rest", "rest"),
        ("\x1bcreset", "reset"),
        ("bell\x07 back\x08 nul\x00 del\x7f next\x85line", "bell back nul del next line"),
        ("right\u202eto left\u2066", "rightto left"),
        ("tags\U000e0041\U000e0042 and selectors\U000e0101", "tags and selectors"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("half \ud800 a character", "half a character"),
        ("private\ue000", "private"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("naïve café ☃ 日本語", "naïve café ☃ 日本語"),
        ("\u2028line and paragraph\u2029", "line and paragraph"),
        ("if a < b and <div>", "if a < b and <div>"),
        ("", ""),
        ("\x1b", ""),
    ],
)
def test_what_a_terminal_or_a_reader_would_obey_is_taken_out_and_the_rest_stays(raw: str, shown: str) -> None:
    assert one_line(raw, 300) == shown


@carries("SEARCH-19")
def test_a_long_text_is_shortened_and_says_so() -> None:
    assert one_line("x" * 10, 10) == "x" * 10
    assert one_line("x" * 11, 10) == "x" * 9 + "…"
    assert len(one_line("word " * 1_000_000, 1000)) <= 1000


@carries("SEARCH-21")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "//example.org/x",
        "example.org",
        "https://",
        "https://[::1",
        "https://example.org/a b",
        "https://example.org/\x1b[31m",
        "https://example.org/\u202egpj.exe",
        "https://example.org/\n2. Forged",
        "https://example.org/" + "x" * 3000,
        "",
        None,
        7,
        ["https://example.org/"],
    ],
)
def test_an_address_that_is_none_of_the_web_is_left_out(url: object) -> None:
    assert cleaned([("Title", url, "Text", None), ("Good", "https://example.org/", "Text", None)], 5)[0].title == "Good"


def test_each_address_is_given_once_and_the_first_wins() -> None:
    found = cleaned([("One", "https://a.example", "", 1), ("Two", "https://a.example", "", 2), ("Three", "http://b.example", "", 3)], 5)

    assert [result.title for result in found] == ["One", "Three"]


@carries("SEARCH-14")
@pytest.mark.parametrize(
    ("score", "told"), [(2, 2.0), (0.5, 0.5), (None, None), ("2", None), (True, None), (float("nan"), None), (10**400, None)]
)
def test_a_score_is_told_when_it_is_a_number(score: object, told: float | None) -> None:
    assert cleaned([("One", "https://a.example", "", score)], 5)[0].score == told


def test_a_result_without_title_or_snippet_is_still_one() -> None:
    (found,) = cleaned([(None, "https://a.example", 3, None)], 5)

    assert (found.title, found.content) == ("https://a.example", "")


@carries("SEARCH-7", "SEARCH-19")
def test_no_more_than_wanted_and_of_endless_rubbish_only_the_beginning_is_looked_at() -> None:
    pages = [("t", f"https://a.example/{number}", "", None) for number in range(500)]
    rubbish = [("t", None, "", None)] * 1000

    assert len(cleaned(pages, 7)) == 7
    assert cleaned([*rubbish, *pages], 7) == []
