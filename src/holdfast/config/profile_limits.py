"""The limits of a profile, as its file says them.

A project's may not be raised beyond what costs the person nothing that
they did not choose.
"""

from dataclasses import dataclass, replace
from enum import Enum

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.limits import MIB, Limits

from .amounts import say_bytes, say_seconds
from .yaml_page import Node

MAX_SECONDS = 24 * 3600.0
MAX_SECONDS_BY_PROJECT = 600.0


class _Kind(Enum):
    TIME = "time"
    SIZE = "size"
    NUMBER = "number"


@dataclass(frozen=True)
class _Limit:
    """One limit: its key, the field that keeps it, and the most that it may be, by the person and by a project."""

    key: str
    field: str
    kind: _Kind
    most: float
    by_project: float

    def read(self, node: Node, *, by_project: bool) -> float | None:
        most = self.by_project if by_project else self.most
        match self.kind:
            case _Kind.TIME:
                return node.seconds(most=most)
            case _Kind.SIZE:
                return node.size(most=int(most))
            case _Kind.NUMBER:
                return node.whole_number(least=1, most=int(most))

    def told(self, value: float) -> Json:
        match self.kind:
            case _Kind.TIME:
                return say_seconds(value)
            case _Kind.SIZE:
                return say_bytes(int(value))
            case _Kind.NUMBER:
                return int(value)


def _size(key: str) -> _Limit:
    return _Limit(key, key, _Kind.SIZE, 64 * MIB, MIB)


_OF_ALL = (
    _Limit("turns", "turns", _Kind.NUMBER, 10_000, 200),
    _Limit("time", "loop_seconds", _Kind.TIME, MAX_SECONDS, 1800),
    _Limit("model_time", "model_seconds", _Kind.TIME, 3600, 120),
    _Limit("tool_time", "tool_seconds", _Kind.TIME, MAX_SECONDS, MAX_SECONDS_BY_PROJECT),
    _Limit("command_time", "command_seconds", _Kind.TIME, MAX_SECONDS, MAX_SECONDS_BY_PROJECT),
)
_OF_TOOLSETS = {
    "core": (_size("max_read_bytes"),),
    "fs": (_size("max_read_bytes"), _size("max_write_bytes"), _Limit("max_entries", "max_entries", _Kind.NUMBER, 10_000, 1_000)),
    "simple": (_size("max_read_bytes"),),
}


def read_limits(node: Node, *, by_project: bool) -> Limits:
    """The limits of a mapping; those that it does not name are as usual."""
    fields = node.fields((*(each.key for each in _OF_ALL), *_OF_TOOLSETS))
    limits = replace(Limits(), **_read(_OF_ALL, fields, by_project=by_project))
    for toolset, below in _OF_TOOLSETS.items():
        if toolset in fields:
            named = fields[toolset].fields([each.key for each in below])
            own = replace(getattr(limits, toolset), **_read(below, named, by_project=by_project))
            limits = replace(limits, **{toolset: own})
    return limits


def tell_limits(limits: Limits) -> dict[str, Json]:
    """What `read_limits` takes for these; those that are as usual are left out."""
    usual = Limits()
    told = _told(_OF_ALL, limits, usual)
    for toolset, below in _OF_TOOLSETS.items():
        if named := _told(below, getattr(limits, toolset), getattr(usual, toolset)):
            told[toolset] = named
    return told


def _read(limits: tuple[_Limit, ...], fields: dict[str, Node], *, by_project: bool) -> dict[str, float]:
    read = {each.field: each.read(fields[each.key], by_project=by_project) for each in limits if each.key in fields}
    return {name: value for name, value in read.items() if value is not None}


def _told(limits: tuple[_Limit, ...], own: object, usual: object) -> dict[str, Json]:
    values = {each: getattr(own, each.field) for each in limits if getattr(own, each.field) != getattr(usual, each.field)}
    return {each.key: each.told(value) for each, value in values.items() if value is not None}
