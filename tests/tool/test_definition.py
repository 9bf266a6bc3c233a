"""How tools are described to models, and the names under which they travel."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.tool import Context, tool
from holdfast.tool.definition import WireNames, anthropic, neutral, openai
from tests.promises import carries
from tests.tool.plain import made


@tool
async def count(ctx: Context, words: str) -> int:
    """Count words."""
    raise NotImplementedError


SCHEMA = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}


@carries("TYPE-3", "REG-6", "AC-2")
def test_the_neutral_form_has_name_description_and_input_schema() -> None:
    assert neutral(made(count)) == {"name": "count", "description": "Count words.", "inputSchema": SCHEMA}


@carries("REG-6")
def test_the_form_of_openai_is_a_function_with_parameters() -> None:
    function = {"name": "count_1", "description": "Count words.", "parameters": SCHEMA}

    assert openai(made(count), "count_1") == {"type": "function", "function": function}
    assert openai(made(count))["function"] == {**function, "name": "count"}


@carries("REG-6")
def test_the_form_of_anthropic_has_an_input_schema() -> None:
    assert anthropic(made(count), "count_1") == {"name": "count_1", "description": "Count words.", "input_schema": SCHEMA}
    assert anthropic(made(count))["name"] == "count"


@carries("REG-8")
def test_a_dot_travels_as_an_underscore_and_comes_back() -> None:
    names = WireNames(["fs.list", "read", "mcp__server__tool"])

    assert [names.to_wire(name) for name in ("fs.list", "read", "mcp__server__tool")] == ["fs_list", "read", "mcp__server__tool"]
    assert [names.from_wire(wire) for wire in ("fs_list", "read", "mcp__server__tool")] == ["fs.list", "read", "mcp__server__tool"]


@carries("REG-8")
def test_a_name_that_was_never_sent_comes_back_as_it_is() -> None:
    assert WireNames(["fs.list"]).from_wire("rm") == "rm"
    assert WireNames(["fs.list"]).from_wire("fs.list") == "fs.list"


@carries("REG-8")
@pytest.mark.parametrize("names", [["fs_list", "fs.list"], ["fs.list", "fs_list"], ["fs.list", "fs/list", "fs_list", "fs:list"]])
def test_of_names_that_clash_the_one_that_needs_no_change_keeps_itself(names: list[str]) -> None:
    wire = WireNames(names)

    assert wire.to_wire("fs_list") == "fs_list"
    assert len({wire.to_wire(name) for name in names}) == len(names)


@carries("REG-8")
def test_a_name_of_64_characters_keeps_itself_and_a_longer_one_is_shortened() -> None:
    names = WireNames(["n" * 64, "n" * 65, "n" * 66])

    assert names.to_wire("n" * 64) == "n" * 64
    assert {len(names.to_wire("n" * size)) for size in (65, 66)} == {64}
    assert names.to_wire("n" * 65) != names.to_wire("n" * 66)


def test_the_names_on_the_wire_do_not_depend_on_the_order_of_the_tools() -> None:
    one, other = WireNames(["a.b", "a_b", "a:b"]), WireNames(["a:b", "a.b", "a_b"])

    assert [one.to_wire(name) for name in ("a.b", "a_b", "a:b")] == [other.to_wire(name) for name in ("a.b", "a_b", "a:b")]


@carries("REG-8")
@given(st.lists(st.text(alphabet="aä_.:- 🌊", min_size=1, max_size=4) | st.text(min_size=1, max_size=90)))
@example(["a_b", "a.b", "a_b_2e7336dc"])
@example(["a.b", "a.b"])
def test_every_name_on_the_wire_is_valid_and_leads_back(names: list[str]) -> None:
    wire = WireNames(names)

    travelling = {name: wire.to_wire(name) for name in names}

    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in travelling.values())
    assert {name: wire.from_wire(each) for name, each in travelling.items()} == {name: name for name in names}
