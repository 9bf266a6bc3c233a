"""Times and sizes: what is one, and that saying and parsing agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.config.amounts import parse_bytes, parse_seconds, say_bytes, say_seconds


@pytest.mark.parametrize("text", ["", "s", "120", "-1s", "1 s", "1s ", "1d", "1.s", "1e3s", "٣s", "1s2", "120S", "1" * 30 + "s"])
def test_what_has_no_unit_or_is_no_number_is_no_time(text: str) -> None:
    assert parse_seconds(text) is None


@pytest.mark.parametrize("text", ["", "KB", "-1", "1.5KB", "1K", "1 kb", "50kb", "1e3", "٣", "1" * 30])
def test_what_is_no_number_with_a_known_unit_is_no_size(text: str) -> None:
    assert parse_bytes(text) is None


@given(st.integers(1, 10**8) | st.floats(0.001, 86400).map(lambda seconds: round(seconds, 6)))
def test_a_time_that_is_said_is_parsed_to_the_same(seconds: float) -> None:
    assert parse_seconds(say_seconds(seconds)) == seconds


@given(st.integers(0, 2**40))
def test_a_size_that_is_said_is_parsed_to_the_same(size: int) -> None:
    assert parse_bytes(say_bytes(size)) == size
