"""Whether bytes are text, in which encoding, and where they may be cut."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.workspace.text import LOOKED_AT_BYTES, detect, whole_characters
from tests.promises import carries


@carries("ENGINE-2")
@pytest.mark.parametrize(
    ("head", "name", "mark"),
    [
        (b"", "utf-8", b""),
        (b"plain", "utf-8", b""),
        ("grün".encode(), "utf-8", b""),
        ("grün".encode("latin-1"), "utf-8", b""),
        (codecs.BOM_UTF8 + b"x", "utf-8", codecs.BOM_UTF8),
        (codecs.BOM_UTF16_LE + "x".encode("utf-16-le"), "utf-16-le", codecs.BOM_UTF16_LE),
        (codecs.BOM_UTF16_BE + "x".encode("utf-16-be"), "utf-16-be", codecs.BOM_UTF16_BE),
        (codecs.BOM_UTF32_LE + "x".encode("utf-32-le"), "utf-32-le", codecs.BOM_UTF32_LE),
        (codecs.BOM_UTF32_BE + "x".encode("utf-32-be"), "utf-32-be", codecs.BOM_UTF32_BE),
    ],
)
def test_the_encoding_is_told_by_the_mark_and_otherwise_is_utf_8(head: bytes, name: str, mark: bytes) -> None:
    encoding = detect(head)

    assert (encoding.name, encoding.mark, encoding.is_binary) == (name, mark, False)
    assert encoding.is_wide is not name.startswith("utf-8")


@carries("ENGINE-2")
@pytest.mark.parametrize("head", [b"\0", b"text\0", b"\x7fELF\x02\0", "x".encode("utf-16-le"), b"x" * (LOOKED_AT_BYTES - 1) + b"\0"])
def test_a_nul_without_a_mark_is_binary(head: bytes) -> None:
    assert detect(head).is_binary


def test_a_nul_beyond_what_is_looked_at_is_not_seen() -> None:
    assert not detect(b"x" * LOOKED_AT_BYTES + b"\0").is_binary


def test_bytes_that_are_not_valid_are_shown_as_replacement_characters() -> None:
    assert detect(b"").decode(b"a\xff\xc3b") == "a\ufffd\ufffdb"


@given(st.text(alphabet="aé€🌊", max_size=5), st.integers(0, 20))
def test_text_that_was_cut_anywhere_ends_in_a_whole_character(text: str, cut: int) -> None:
    data = text.encode()[:cut]

    shown = whole_characters(data)

    assert text.startswith(shown.decode())
    assert len(data) - len(shown) < 4
    assert shown == data[: len(shown)]


@given(st.text())
def test_text_that_was_not_cut_loses_nothing(text: str) -> None:
    assert whole_characters(text.encode()) == text.encode()


@given(st.binary())
def test_bytes_that_are_no_text_lose_at_most_three_at_their_end(data: bytes) -> None:
    shown = whole_characters(data)

    assert data.startswith(shown)
    assert len(data) - len(shown) < 4
