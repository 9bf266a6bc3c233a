"""From a call's raw arguments to what the tool's function takes; every path string becomes a `Place`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from holdfast.vocabulary.access import FileAccess
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, Mistake, PathViolation
from holdfast.vocabulary.json import Json, flaw_in
from holdfast.vocabulary.spelling import plain_name
from holdfast.workspace.info import is_directory
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Asks, Place
from holdfast.workspace.resolve import resolve

from .dialect import Dialect
from .schema import Parameter
from .tool import Tool


@dataclass(frozen=True)
class Bound:
    """Arguments ready for the tool, and what they will touch."""

    arguments: dict[str, object]
    accesses: tuple[FileAccess, ...]


def parse(arguments: Mapping[str, Json] | str) -> Mapping[str, Json]:
    """The arguments as an object.

    Raises:
        InvalidArguments: The text is not JSON, or not an object.
    """
    if not isinstance(arguments, str):
        return arguments
    try:
        parsed: object = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise InvalidArguments([Mistake("", f"the arguments are not valid JSON: {problem}")], hint="Send one JSON object.") from None
    if not isinstance(parsed, dict):
        raise InvalidArguments([Mistake("", "the arguments are not a JSON object")], hint="Send one JSON object.")
    return cast("dict[str, Json]", parsed)


async def bind(tool: Tool, arguments: Mapping[str, Json], mounts: Mapping[str, Mount]) -> Bound:
    """Check the arguments, all mistakes at once, then turn paths into places.

    Raises:
        InvalidArguments: Something is missing, of the wrong type or out of range.
        PathViolation: A path is not in the dialect's language, or leads outside.
    """
    named = _by_parameter(tool.parameters, arguments)
    _validate(tool, named)
    bound: dict[str, object] = {}
    paths = _Paths(tool.dialect, mounts, [])
    for parameter in tool.parameters:
        value: Any = named.get(parameter.name, parameter.default)
        if parameter.asks is None or value is None:
            bound[parameter.name] = _whole(value, parameter.schema)
        elif parameter.is_list:
            bound[parameter.name] = [await paths.place_or_error(parameter, parameter.asks, text) for text in value]
        else:
            received = bound.get(parameter.asks.receives or "")
            bound[parameter.name] = await paths.place(parameter, parameter.asks, value, received if isinstance(received, Place) else None)
    return Bound(bound, tuple(paths.accesses))


def _by_parameter(parameters: tuple[Parameter, ...], arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The known arguments by our own names; other keys are let go, and so is a null that only means "not given"."""
    wanted = {plain_name(parameter.wire_name): parameter for parameter in parameters}
    exact = {parameter.wire_name for parameter in parameters}
    named: dict[str, Json] = {}
    # Exact spellings last, so that they win over tolerated ones.
    for key in sorted(arguments, key=lambda key: key in exact):
        parameter = wanted.get(plain_name(key))
        if parameter is not None and not _is_left_open(arguments[key], parameter):
            named[parameter.name] = arguments[key]
    return named


def _is_left_open(value: Json, parameter: Parameter) -> bool:
    """Whether this is only a way not to give the argument: null, or an empty path where one is meant otherwise."""
    if parameter.required:
        return False
    return value is None or (parameter.asks is not None and isinstance(parameter.default, str) and value == "")


def _validate(tool: Tool, named: Mapping[str, Json]) -> None:
    given = [(parameter, named[parameter.name]) for parameter in tool.parameters if parameter.name in named]
    flaws = {parameter.wire_name: flaw for parameter, value in given if (flaw := _flaw(parameter, value))}
    sound = {parameter.wire_name: _judged(value) for parameter, value in given if parameter.wire_name not in flaws}
    mistakes = [Mistake(name, flaw) for name, flaw in flaws.items()]
    mistakes += [mistake for error in tool.validator.iter_errors(sound) if (mistake := _mistake(error)).argument not in flaws]
    if mistakes:
        takes = ", ".join(f"{each.wire_name}{'' if each.required else '?'}" for each in tool.parameters)
        raise InvalidArguments(mistakes, hint=f"{tool.name} takes: {takes}.")


def _flaw(parameter: Parameter, value: Json) -> str | None:
    """What no schema can say. Of a path's text the dialect says it, and of each path in a list alone."""
    texts = value if isinstance(value, list) else [value]
    if parameter.asks is not None and all(isinstance(text, str) for text in texts):
        return None
    return flaw_in(value)


def _judged(value: Json) -> Json:
    """What the schema is shown of a value: a path's text may have half a character in it, and the validator would stumble."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return [_judged(each) for each in value] if isinstance(value, list) else value


def _mistake(error: Any) -> Mistake:
    where = ".".join(str(step) for step in error.instance_path)
    if error.kind.name == "required":
        return Mistake(f"{where}.{error.kind.property}" if where else error.kind.property, "is required")
    return Mistake(where, error.message.replace("\N{MIDDLE DOT}", "").strip().replace('"', "'"))


def _whole(value: object, schema: Mapping[str, Json]) -> object:
    """JSON knows no difference between 3 and 3.0; a tool that counts does."""
    if schema.get("type") == "integer":
        return int(value) if isinstance(value, float) else value
    items = schema.get("items")
    if not isinstance(items, Mapping) or not isinstance(value, list):
        return value
    return [_whole(each, items) for each in cast("list[object]", value)]


@dataclass(frozen=True)
class _Paths:
    """The path arguments of one call on their way to places, and what they will touch."""

    dialect: Dialect
    mounts: Mapping[str, Mount]
    accesses: list[FileAccess]

    async def place(self, parameter: Parameter, asks: Asks, text: str, received: Place | None = None) -> Place:
        spot = self.dialect.locate(text, self.mounts)
        try:
            place = await resolve(spot.mount, spot.path, written=text.strip(), follow=asks.follow, below_files=self.dialect.below_files)
        except PathViolation as error:
            # What a record of the refusal needs: where it would have led.
            error.facts.update(mount=spot.mount.name, path=spot.path)
            raise
        mount, named = spot.mount, spot.path
        if received is not None and (text.strip().endswith("/") or await is_directory(place)):
            place, named = place.child(received.name), f"{named}/{received.name}".lstrip("/")
        access = FileAccess(parameter.wire_name, asks.want, mount.name, mount.mode, place.path, named, place.written, asks.only)
        self.accesses.append(access)
        return place

    async def place_or_error(self, parameter: Parameter, asks: Asks, text: str) -> Place | HoldfastError:
        try:
            return await self.place(parameter, asks, text)
        except HoldfastError as error:
            error.facts["written"] = text
            return error
