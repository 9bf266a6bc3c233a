"""From a signature to a schema: every annotation that a tool may have, and those that it may not."""

from collections.abc import Callable, Mapping
from inspect import Parameter as Given
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest

from holdfast.tool import AtLeast, AtMost, Content, Context, Otherwise, Shape, camel_case, tool
from holdfast.tool.schema import Parameter, object_schema, parameters_of
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Asks, Movable, Place, Readable, Writable
from tests.promises import carries
from tests.tool.plain import made


def or_none(hint: Any) -> Any:
    return hint | None


def parameter(hint: Any, default: Any = Given.empty, *, description: str = "", wire: Callable[[str], str] = str) -> Parameter:
    """The one parameter of a function that takes `an_argument: hint = default`."""

    async def function(ctx: object, an_argument: object) -> None: ...

    function.__annotations__ = {"ctx": object, "an_argument": hint}
    function.__defaults__ = None if default is Given.empty else (default,)
    return parameters_of(function, {"an_argument": description} if description else {}, wire)[0]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Literal["file", "folder"], {"type": "string", "enum": ["file", "folder"]}),
        (dict[str, Json], {"type": "object"}),
        (Mapping[str, Json], {"type": "object"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (list[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        (list[Literal["a", "b"]], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        (Annotated[int, AtLeast(1)], {"type": "integer", "minimum": 1}),
        (Annotated[int, AtLeast(-1), AtMost(9)], {"type": "integer", "minimum": -1, "maximum": 9}),
        (Annotated[float, AtMost(9)], {"type": "number", "maximum": 9}),
        (Annotated[list[str], AtLeast(1), AtMost(20)], {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20}),
        (list[Annotated[int, AtLeast(0)]], {"type": "array", "items": {"type": "integer", "minimum": 0}}),
        (Annotated[str, Content()], {"type": "string"}),
        (Annotated[Any, Shape({"type": ["string", "object"]})], {"type": ["string", "object"]}),
        (Readable, {"type": "string"}),
        (Writable, {"type": "string"}),
        (Movable, {"type": "string"}),
        (list[Readable], {"type": "array", "items": {"type": "string"}}),
        (list[Readable | HoldfastError], {"type": "array", "items": {"type": "string"}}),
        (Annotated[list[Readable | HoldfastError], AtMost(50)], {"type": "array", "items": {"type": "string"}, "maxItems": 50}),
    ],
)
def test_each_annotation_has_its_schema_and_the_same_when_it_is_optional(hint: Any, schema: Mapping[str, Json]) -> None:
    required, optional = parameter(hint), parameter(or_none(hint), None)

    assert required.schema == optional.schema == schema
    assert (required.required, optional.required) == (True, False)
    assert optional.default is None
    jsonschema_rs.meta.validate(dict(required.schema))


@pytest.mark.parametrize("hint", [or_none(Annotated[int, AtLeast(1)]), Annotated[int | None, AtLeast(1)]])
def test_bounds_hold_inside_and_outside_of_an_optional(hint: Any) -> None:
    assert parameter(hint, None).schema == {"type": "integer", "minimum": 1}


@pytest.mark.parametrize(
    "hint", [bytes, set[str], tuple[str, str], int | str, object, Literal[1, 2], list[int | str], list[str | None], list, dict]
)
def test_a_type_that_json_cannot_say_is_a_type_error_when_the_tool_is_made(hint: Any) -> None:
    with pytest.raises(TypeError, match="Shape"):
        parameter(hint)


@pytest.mark.parametrize(("default", "shown"), [("x", True), ("", True), (0, True), (500, True), (1.5, True), (False, True), (None, False)])
def test_a_default_that_says_something_is_in_the_schema(default: Any, shown: bool) -> None:
    made = parameter(Annotated[Any, Shape({})], default)

    assert made.schema == ({"default": default} if shown else {})
    assert (made.required, made.default) == (False, default)


def test_a_description_is_in_the_schema() -> None:
    assert parameter(str, description="The words.").schema == {"type": "string", "description": "The words."}


def test_a_schema_written_by_hand_is_not_changed_by_a_description() -> None:
    by_hand: dict[str, Json] = {"type": "object"}

    parameter(Annotated[Any, Shape(by_hand)], description="The words.")

    assert by_hand == {"type": "object"}


@pytest.mark.parametrize(
    ("hint", "asks", "is_list"),
    [
        (Readable, Asks(Want.READ), False),
        (Writable, Asks(Want.WRITE), False),
        (Movable, Asks(Want.WRITE, follow=False), False),
        (or_none(Readable), Asks(Want.READ), False),
        (list[Writable], Asks(Want.WRITE), True),
        (list[Readable | HoldfastError] | None, Asks(Want.READ), True),
        (Annotated[Place, Asks(Want.WRITE, only="state")], Asks(Want.WRITE, only="state"), False),
        (Annotated[Readable, Otherwise(".")], Asks(Want.READ), False),
        (str, None, False),
        (list[str], None, True),
    ],
)
def test_a_path_asks_for_what_its_type_says(hint: Any, asks: Asks | None, is_list: bool) -> None:
    given = parameter(hint, *([None] if "None" in str(hint) else []))

    assert (given.asks, given.is_list) == (asks, is_list)


def test_a_path_that_is_meant_otherwise_is_not_required_and_says_which_is_meant() -> None:
    given = parameter(Annotated[Readable, Otherwise(".")])

    assert (given.required, given.default, given.schema) == (False, ".", {"type": "string", "default": "."})


def test_contents_are_marked_as_such() -> None:
    assert parameter(Annotated[str, Content()]).is_content
    assert parameter(or_none(Annotated[str, Content()]), None).is_content
    assert not parameter(str).is_content


def test_the_name_on_the_wire_is_the_dialect_s() -> None:
    given = parameter(str, wire=camel_case)

    assert (given.name, given.wire_name) == ("an_argument", "anArgument")


@tool
async def read_some(ctx: Context, path: Readable, start_line: Annotated[int, AtLeast(1)] = 1, encoding: str | None = None) -> str:
    """Read some lines.

    Args:
        path: Which file.
        start_line: From which line.
    """
    raise NotImplementedError


EXPECTED: dict[str, Json] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Which file."},
        "start_line": {"type": "integer", "minimum": 1, "default": 1, "description": "From which line."},
        "encoding": {"type": "string"},
    },
    "required": ["path"],
}


@carries("TYPE-3")
def test_a_tool_s_schema_has_all_its_arguments_but_not_the_context() -> None:
    assert made(read_some).schema == EXPECTED
    assert made(read_some).description == "Read some lines."


def test_a_closed_dialect_takes_no_other_keys() -> None:
    assert object_schema((), closed=True) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert object_schema((), closed=False) == {"type": "object", "properties": {}, "required": []}
