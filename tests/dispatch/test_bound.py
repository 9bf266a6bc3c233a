"""Keeping what the model reads within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.dispatch.bound import MAX_TEXT_BYTES, bound
from holdfast.vocabulary.outcome import Answer


def test_text_within_bounds_stays_as_it_is() -> None:
    answer = Answer({"a": 1}, "x" * 100, metadata={"b": 2})

    assert bound(answer, 100) is answer


def test_longer_text_is_cut_says_so_and_the_body_stays_whole() -> None:
    cut = bound(Answer({"whole": "x" * 101}, "x" * 101, is_error=True, metadata={"b": 2}), 100)

    assert cut.text.startswith("x" * 100 + "\n[cut: 101 bytes")
    assert (cut.body, cut.is_error, cut.metadata) == ({"whole": "x" * 101}, True, {"b": 2})


def test_without_being_told_otherwise_two_megabytes_are_shown() -> None:
    assert MAX_TEXT_BYTES == 2 * 1024 * 1024
    assert bound(Answer(None, "x" * MAX_TEXT_BYTES)).text == "x" * MAX_TEXT_BYTES
    assert len(bound(Answer(None, "x" * (MAX_TEXT_BYTES + 1))).text) < MAX_TEXT_BYTES + 100


@given(st.text(alphabet="aé€🌊\ud800\n", max_size=50), st.integers(0, 60))
def test_no_character_is_cut_in_two_and_no_text_is_too_long(text: str, max_bytes: int) -> None:
    shown = bound(Answer(None, text), max_bytes).text

    kept = shown.partition("\n[cut: ")[0] if shown != text else shown
    assert len(kept.encode(errors="replace")) <= max_bytes
    assert text.replace("\ud800", "?").startswith(kept.replace("\ud800", "?"))
