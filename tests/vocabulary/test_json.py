"""What can be sent on as JSON, and what cannot."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.vocabulary.json import MAX_DEPTH, dump, flaw_in


def nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


@pytest.mark.parametrize("value", [None, True, 0, -1, 2**1000, 1.5, "", "grün 🌊", [], {}, [1, [2, {"a": None}]], nested(MAX_DEPTH)])
def test_what_json_can_say_has_no_flaw(value: object) -> None:
    assert flaw_in(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        "a\udfffb",
        ["\ud800"],
        {"\ud800": 1},
        {"a": {"b": ["\udcff"]}},
        float("nan"),
        float("inf"),
        [-float("inf")],
        2**1025,
        nested(65),
    ],
)
def test_half_characters_numbers_that_are_none_and_endless_nesting_are_flaws(value: object) -> None:
    assert flaw_in(value)


def test_nesting_far_beyond_what_python_can_follow_is_a_flaw_and_no_crash() -> None:
    assert flaw_in(nested(100_000))


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8
)


@given(JSON)
def test_whatever_has_no_flaw_survives_the_way_over_the_wire(value: object) -> None:
    if flaw_in(value) is None:
        assert json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) == value


@pytest.mark.parametrize("value", [{"a": [1, None, "\N{SNOWMAN}"]}, 2**80, {"big": -(2**100)}, "text", 1.5])
def test_every_value_is_dumped_and_read_back(value: object) -> None:
    assert json.loads(dump(value)) == value


def test_half_a_character_is_dumped_as_a_mark() -> None:
    assert json.loads(dump({"a": "x\ud800y"})) == {"a": "x?y"}
