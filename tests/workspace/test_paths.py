"""The rules for a path's text: what is refused, what is trimmed, and what is left of it."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.vocabulary.errors import InvalidPath, Outside
from holdfast.workspace.paths import MAX_BYTES, clean, inside
from tests.promises import carries


@carries("PATH-13")
@pytest.mark.parametrize("text", ["file", " file", "file ", "\t file \n", "\u00a0file\u2003"])
def test_white_space_around_a_path_is_trimmed(text: str) -> None:
    assert clean(text) == "file"


@carries("PATH-13")
def test_white_space_within_a_path_stays() -> None:
    assert inside(clean("  my notes / a b.md  "), written="") == "my notes / a b.md"


@carries("PATH-1")
@pytest.mark.parametrize("text", ["", " ", "\n\t", "a\0b", "\0", "\ud800", "a/\udcff", "x" * (MAX_BYTES + 1), "é" * (MAX_BYTES // 2 + 1)])
def test_text_that_no_path_can_be_is_an_invalid_path_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidPath) as caught:
        clean(text)

    assert caught.value.hint


@carries("PATH-1")
def test_a_path_of_exactly_4_kib_is_taken() -> None:
    assert clean("x/" * (MAX_BYTES // 2)) == "x/" * (MAX_BYTES // 2)


@carries("PATH-1")
@pytest.mark.parametrize(("name", "is_taken"), [("n" * 255, True), ("n" * 256, False), ("é" * 127, True), ("é" * 128, False)])
def test_a_name_of_255_bytes_is_taken_and_a_longer_one_is_an_invalid_path(name: str, is_taken: bool) -> None:
    if is_taken:
        assert inside(f"a/{name}", written="") == f"a/{name}"
    else:
        with pytest.raises(InvalidPath):
            inside(f"a/{name}", written="")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("./a", "a"),
        ("a/", "a"),
        ("a//b", "a/b"),
        ("a/./b/.", "a/b"),
        ("a/../b", "b"),
        ("a/b/../../c", "c"),
        (".", ""),
        ("/", ""),
        ("a/..", ""),
        ("/a", "a"),
        ("..a", "..a"),
        ("a/...", "a/..."),
        (".hidden/..b/c..", ".hidden/..b/c.."),
        ("~/a", "~/a"),
        ("a\\..\\b", "a\\..\\b"),
    ],
)
def test_dots_and_doubled_slashes_are_taken_out(text: str, expected: str) -> None:
    assert inside(text, written=text) == expected


@pytest.mark.parametrize("text", ["..", "../a", "a/../..", "./..", "a/../../b", "/..", "a/b/../../.."])
def test_more_ways_up_than_directories_to_leave_is_outside(text: str) -> None:
    with pytest.raises(Outside, match="outside") as caught:
        inside(text, written=text)

    assert caught.value.facts["path"] == text


@pytest.mark.parametrize(("text", "expected"), [("../a", "a"), ("a/../../b", "b"), ("../..", "")])
def test_clamped_at_the_root_a_way_up_is_taken_out(text: str, expected: str) -> None:
    assert inside(text, written=text, clamp=True) == expected


PATHS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "..."]), max_size=8).map("/".join)


@given(PATHS)
def test_whatever_is_let_in_is_what_posix_makes_of_it(text: str) -> None:
    expected = posixpath.normpath(f"/{text}").strip("/")

    try:
        assert inside(text, written=text) == expected
    except Outside:
        assert posixpath.normpath(f"x/{text}").split("/")[0] != "x"


@given(st.text())
def test_what_was_cleaned_once_stays_the_same(text: str) -> None:
    try:
        cleaned = inside(clean(text), written=text)
    except (InvalidPath, Outside):
        return

    assert inside(cleaned, written=text) == cleaned
    assert not {"", ".", ".."} & set(cleaned.split("/")) or cleaned == ""
