"""How values stand in columns: times as microseconds since 1970, in UTC; JSON as text."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from holdfast.vocabulary.json import Json


def now() -> int:
    """The time by this machine's clock, in microseconds."""
    return time.time_ns() // 1_000


def to_json(value: Json) -> str:
    """`value` as compact JSON that any database can store."""
    try:
        return orjson.dumps(value, default=_plain).decode()
    except TypeError:
        pass  # it takes neither numbers over 64 bits nor half characters
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair can only be stored escaped
        return json.dumps(value, separators=(",", ":"), default=_plain)
    return text


def from_json(text: str) -> Json:
    """The value that `to_json` wrote."""
    return json.loads(text)


def storable(text: str) -> str:
    """`text` without what no database stores as text (NUL, half a surrogate pair): for words that a stranger chose."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def insert(table: str, columns: str) -> str:
    """The statement that inserts one row, each column from the parameter of its name."""
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join(f':{column}' for column in columns.split(', '))})"


def _plain(value: object) -> object:
    """The dict or list for a mapping or sequence that `json` does not know."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")
