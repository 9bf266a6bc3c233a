"""Saying a JSON value in YAML, so that every reader understands the same.

Strings are plain only when neither YAML 1.1 nor 1.2 could take them for
anything else: `no` is written 'no'.
"""

import json
import re
from collections.abc import Mapping, Sequence

from holdfast.vocabulary.json import Json

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_NOT_STRINGS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def inline(value: Json, *, quote: str = "") -> str:
    """The value on one line; `quote` is the kind of quotes that a string is to have, if it can."""
    match value:
        case str():
            return _string(value, quote)
        case Mapping():
            return "{" + ", ".join(f"{_string(key)}: {inline(below)}" for key, below in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(inline(below) for below in value) + "]"
        case _:
            return json.dumps(value, allow_nan=False)


def as_entry(key: str, value: Json, *, indent: int) -> list[str]:
    """The lines of one key with its value."""
    return [f"{' ' * indent}{_string(key)}: {inline(value)}"]


def as_item(value: Json, *, indent: int) -> list[str]:
    """The lines of one item of a list; a mapping has a line for each key."""
    if not isinstance(value, Mapping) or not value:
        return [f"{' ' * indent}- {inline(value)}"]
    lines = [line for key, below in value.items() for line in as_entry(key, below, indent=indent + 2)]
    return [f"{' ' * indent}- {lines[0].lstrip()}", *lines[1:]]


def _string(text: str, quote: str = "") -> str:
    if quote != '"' and text.isprintable():
        if not quote and _PLAIN.fullmatch(text) is not None and text.lower() not in _NOT_STRINGS:
            return text
        return "'" + text.replace("'", "''") + "'"
    return "".join(_escaped(letter) for letter in json.dumps(text, ensure_ascii=False))


def _escaped(letter: str) -> str:
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"
