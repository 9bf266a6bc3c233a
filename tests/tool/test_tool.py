"""Declaring a tool: what is said with it, and what is taken for granted."""

import pytest

from holdfast.tool import Audience, Category, Context, Danger, tool
from holdfast.vocabulary.access import Want
from holdfast.workspace.place import Asks, Readable, Writable
from tests.promises import carries
from tests.tool.plain import made


@tool
async def look(ctx: Context, path: Readable) -> str:
    """Look at it."""
    raise NotImplementedError


@tool(category=Category.EXEC, danger=Danger.DANGEROUS, audience=Audience.PERSON, seconds=5, safe_if=lambda given: given.get("dry") is True)
async def change(ctx: Context, source: Readable, targets: list[Writable], dry: bool = False) -> str:
    raise NotImplementedError


@carries("TYPE-1")
def test_categories_and_dangers_are_those_of_the_documents() -> None:
    assert [each.value for each in Category] == ["file", "exec", "search", "mcp"]
    assert [each.value for each in Danger] == ["safe", "dangerous"]


def test_a_tool_is_a_safe_file_tool_for_models_unless_it_says_otherwise() -> None:
    plain, said = made(look), made(change)

    assert (plain.category, plain.danger, plain.declaration.audience, plain.declaration.seconds) == (
        Category.FILE,
        Danger.SAFE,
        Audience.MODEL,
        None,
    )
    assert (said.category, said.danger, said.declaration.audience, said.declaration.seconds) == (
        Category.EXEC,
        Danger.DANGEROUS,
        Audience.PERSON,
        5,
    )


def test_the_signature_asks_for_rights() -> None:
    assert made(look).asks == (Asks(Want.READ),)
    assert made(change).asks == (Asks(Want.READ), Asks(Want.WRITE))


def test_a_tool_without_a_docstring_has_an_empty_description() -> None:
    assert made(change).description == ""


@pytest.mark.parametrize(("arguments", "is_dangerous"), [({}, True), ({"dry": False}, True), ({"dry": True}, False)])
def test_a_dangerous_tool_can_say_which_of_its_calls_are_safe(arguments: dict[str, object], is_dangerous: bool) -> None:
    assert made(change).is_dangerous_with(arguments) is is_dangerous


def test_no_call_of_a_safe_tool_is_dangerous() -> None:
    assert not made(look).is_dangerous_with({})
