"""What can be said in JSON, as a type."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
else:
    # A signature is read at run time, far from here, where a recursive alias would not find its own names.
    Json = object

JsonObject: TypeAlias = Mapping[str, Json]

MAX_DEPTH = 64
_MAX_BITS = 1024


def dump(value: object) -> bytes:
    """The value as compact JSON; what JSON cannot say is told as text."""
    import orjson

    try:
        return orjson.dumps(value, default=str)
    except TypeError:
        # It takes neither numbers over 64 bits nor half characters.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace")


def flaw_in(value: object, depth: int = 0) -> str | None:
    """Why a value cannot be sent on: half a character, a number that is none or without end, nesting without end. None when it can."""
    if depth > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if isinstance(value, str):
        return "has half a character in it" if not value.isascii() and _has_half_a_character(value) else None
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return next((flaw for item in items for each in item if (flaw := flaw_in(each, depth + 1))), None)
    if isinstance(value, Sequence):
        return next((flaw for each in cast("Sequence[object]", value) if (flaw := flaw_in(each, depth + 1))), None)
    if isinstance(value, float) and not math.isfinite(value):
        return "has a number that is none"
    return "has a number that is too large" if isinstance(value, int) and value.bit_length() > _MAX_BITS else None


def _has_half_a_character(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
