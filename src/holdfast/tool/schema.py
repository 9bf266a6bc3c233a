"""From a function's signature to the JSON schema of its arguments."""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Asks, Place


@dataclass(frozen=True)
class AtLeast:
    """The smallest number that is taken."""

    number: int


@dataclass(frozen=True)
class AtMost:
    """The largest number that is taken, or the most items of a list."""

    number: int


@dataclass(frozen=True, eq=False)
class Shape:
    """A schema written by hand, for what a type cannot say."""

    schema: Mapping[str, Json]


@dataclass(frozen=True)
class Content:
    """The argument holds the contents of a file: records keep its size and hash, never the whole."""


@dataclass(frozen=True)
class Otherwise:
    """The path that is meant when the caller names none; it is judged like any other."""

    path: str


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool, as callers and the road see it."""

    name: str
    wire_name: str
    schema: Mapping[str, Json]
    required: bool
    default: object
    asks: Asks | None
    is_list: bool
    is_content: bool


_PLAIN: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parameters_of(function: Callable[..., object], descriptions: Mapping[str, str], wire: Callable[[str], str]) -> tuple[Parameter, ...]:
    """The arguments that callers give: all but the first, which is the context."""
    hints = get_type_hints(function, include_extras=True)
    given = list(inspect.signature(function).parameters.values())[1:]
    return tuple(_parameter(each, hints[each.name], descriptions.get(each.name, ""), wire) for each in given)


def object_schema(parameters: tuple[Parameter, ...], *, closed: bool) -> dict[str, Json]:
    """The schema of the whole arguments object."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {each.wire_name: each.schema for each in parameters},
        "required": [each.wire_name for each in parameters if each.required],
    }
    return {**schema, "additionalProperties": False} if closed else schema


def _parameter(given: inspect.Parameter, hint: Any, description: str, wire: Callable[[str], str]) -> Parameter:
    notes: list[object] = []
    hint = _without_none(_unwrapped(hint, notes))
    hint = _unwrapped(hint, notes)
    is_list = get_origin(hint) is list
    schema = _schema(hint, notes)
    otherwise = next((note for note in notes if isinstance(note, Otherwise)), None)
    required = given.default is inspect.Parameter.empty and otherwise is None
    default: object = otherwise.path if otherwise is not None else given.default
    if description:
        schema["description"] = description
    if not required and isinstance(default, str | int | float):
        schema["default"] = default
    asks = next((note for note in notes if isinstance(note, Asks)), None)
    is_content = any(isinstance(note, Content) for note in notes)
    return Parameter(given.name, wire(given.name), schema, required, None if required else default, asks, is_list, is_content)


def _schema(hint: Any, notes: list[object]) -> dict[str, Json]:
    schema: dict[str, Json]
    by_hand = next((note for note in notes if isinstance(note, Shape)), None)
    if by_hand is not None:
        return dict(by_hand.schema)
    if hint is Place:
        schema = {"type": "string"}
    elif hint in _PLAIN:
        schema = {"type": _PLAIN[hint]}
    elif get_origin(hint) is Literal and all(isinstance(each, str) for each in get_args(hint)):
        schema = {"type": "string", "enum": list(get_args(hint))}
    elif get_origin(hint) is list:
        inside: list[object] = []
        schema = {"type": "array", "items": _schema(_unwrapped(_place_of(get_args(hint)[0]), inside), inside)}
        notes.extend(note for note in inside if isinstance(note, Asks))
    elif get_origin(hint) in (dict, Mapping):
        schema = {"type": "object"}
    else:
        raise TypeError(f"a tool's argument cannot be of type {hint!r}: give it a Shape")
    for note in notes:
        schema.update(_bounds(note, schema))
    return schema


def _bounds(note: object, schema: Mapping[str, Json]) -> dict[str, Json]:
    if isinstance(note, AtLeast):
        return {"minItems" if schema["type"] == "array" else "minimum": note.number}
    if isinstance(note, AtMost):
        return {"maxItems" if schema["type"] == "array" else "maximum": note.number}
    return {}


def _unwrapped(hint: Any, notes: list[object]) -> Any:
    """The type inside `Annotated`, whose notes are put aside."""
    while get_origin(hint) is Annotated:
        notes.extend(hint.__metadata__)
        hint = hint.__origin__
    return hint


def _without_none(hint: Any) -> Any:
    """`X` for `X | None`."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    rest = [each for each in get_args(hint) if each is not type(None)]
    return rest[0] if len(rest) == 1 else hint


def _place_of(hint: Any) -> Any:
    """The place in `Readable | HoldfastError`, which is how a list says that each item may fail alone."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return next((each for each in get_args(hint) if get_origin(each) is Annotated or each is Place), hint)
