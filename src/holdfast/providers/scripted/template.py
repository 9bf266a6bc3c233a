"""Holes in a script's texts: {{user}}, {{result}}, {{result.a.b}}, and {{result.a|otherwise}}."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.vocabulary.json import Json

_HOLE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_MEANT = re.compile(r"\s*(user|result)((?:\.[A-Za-z0-9_-]+)*)\s*(?:\|(.*))?", re.DOTALL)


class Unfinished(Exception):
    """A hole that cannot be filled."""


def check(value: Json) -> None:
    """See that every hole is one that could be filled.

    Raises:
        Unfinished: One is not.
    """
    filled(value, lambda _path: "")


def filled(value: Json, find: Callable[[str], str | None]) -> Json:
    """The value with all holes filled, in its texts at any depth; `find` gives what a path leads to.

    Raises:
        Unfinished: It leads nowhere, and nothing else was said to be put there.
    """
    match value:
        case str():
            return _HOLE.sub(lambda hole: _content(hole.group(1), find), value)
        case Mapping():
            return {name: filled(each, find) for name, each in value.items()}
        case Sequence():
            return [filled(each, find) for each in value]
        case _:
            return value


def finder(user: str, result: str | None) -> Callable[[str], str | None]:
    """What paths lead to, in a conversation with this last message of the person and this last result."""

    def find(path: str) -> str | None:
        first, *rest = path.split(".")
        if first == "user":
            return user if not rest else None
        if result is None or not rest:
            return result
        return _below(result, rest)

    return find


def _content(inside: str, find: Callable[[str], str | None]) -> str:
    meant = _MEANT.fullmatch(inside)
    if meant is None:
        raise Unfinished(f"'{{{{{inside}}}}}' is no hole; write {{{{user}}}}, {{{{result}}}} or {{{{result.name|otherwise}}}}")
    path, otherwise = f"{meant.group(1)}{meant.group(2)}", meant.group(3)
    found = find(path)
    if found is None and otherwise is None:
        raise Unfinished(f"there is nothing at '{path}'")
    return found if found is not None else str(otherwise)


def _below(result: str, path: Sequence[str]) -> str | None:
    try:
        value: Any = json.loads(result)
        for name in path:
            value = _item(value, name)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _item(value: Any, name: str) -> Any:
    return value[int(name) if isinstance(value, list) else name]
