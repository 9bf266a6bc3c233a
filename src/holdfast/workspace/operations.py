"""What can be done to the front matter of a workflow, and reading it from what a caller wrote.

An operation changes the state as data and the text in which it is
written, and the two are compared afterwards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

from holdfast.vocabulary.errors import InvalidArguments, InvalidState, Mistake
from holdfast.vocabulary.json import Json, flaw_in

from .yaml_splice import Splice


class Operation(Protocol):
    """One change of the state."""

    def apply(self, state: dict[str, object], splice: Splice) -> None:
        """Do it to both, the data and its text.

        Raises:
            InvalidState: What is there is not of the kind that this needs.
        """
        ...


@dataclass(frozen=True)
class Append:
    """Add items to the end of a list; with `unique` only those that it does not have."""

    key: str
    items: tuple[Json, ...]
    unique: bool

    def apply(self, state: dict[str, object], splice: Splice) -> None:
        """Do it to both, the data and its text."""
        present = state.get(self.key)
        if present is None:
            present = []
        if not isinstance(present, list):
            raise _unfit(self.key, "a list", present)
        before = cast("list[object]", present)
        added: list[Json] = []
        for item in self.items:
            if not self.unique or (item not in before and item not in added):
                added.append(item)
        if added:
            splice.append(self.key, added)
            state[self.key] = [*before, *added]


@dataclass(frozen=True)
class Merge:
    """Give some keys of a mapping new values, and leave its others."""

    key: str
    values: Mapping[str, Json]

    def apply(self, state: dict[str, object], splice: Splice) -> None:
        """Do it to both, the data and its text."""
        present = state.get(self.key)
        if present is None:
            present = {}
        if not isinstance(present, dict):
            raise _unfit(self.key, "a mapping", present)
        if self.values:
            splice.merge(self.key, self.values)
            state[self.key] = cast("dict[str, object]", present) | dict(self.values)


@dataclass(frozen=True)
class Set:
    """Give a key a new value."""

    key: str
    value: str

    def apply(self, state: dict[str, object], splice: Splice) -> None:
        """Do it to both, the data and its text."""
        splice.set(self.key, self.value)
        state[self.key] = self.value


def read_operations(update: Mapping[str, Json]) -> tuple[Operation, ...]:
    """The operations that a caller wrote as `{"key": {"verb": …}}` or as `{"key.verb": …}`.

    Raises:
        InvalidArguments: With every mistake at once.
    """
    mistakes: list[Mistake] = []
    operations: dict[str, Operation] = {}
    for name, value in _flat(update, mistakes):
        try:
            if flaw := flaw_in(value):
                raise _Wrong(flaw)
            made = _reader(name)(value)
        except _Wrong as wrong:
            mistakes.append(Mistake(f"update.{name}", str(wrong)))
            continue
        if name in operations:
            mistakes.append(Mistake(f"update.{name}", "is there twice"))
        operations[name] = made
    if not mistakes and not operations:
        mistakes.append(Mistake("update", f"says nothing to do; possible are {', '.join(_KNOWN)}"))
    if mistakes:
        raise InvalidArguments(mistakes)
    return tuple(operations.values())


class _Wrong(Exception):
    """What is wrong with one operation, in words that follow its name."""


def _flat(update: Mapping[str, Json], mistakes: list[Mistake]) -> list[tuple[str, Json]]:
    flat: list[tuple[str, Json]] = []
    for key, value in update.items():
        if "." in key:
            flat.append((key, value))
        elif isinstance(value, Mapping) and value:
            flat.extend((f"{key}.{verb}", below) for verb, below in value.items())
        else:
            mistakes.append(Mistake(f"update.{key}", "must be an object with an operation in it, as {'append': […]} or {'set': …}"))
    return flat


def _reader(name: str) -> "_Reader":
    if name not in _KNOWN:
        raise _Wrong(f"is not a known operation; known are {', '.join(_KNOWN)}")
    return _KNOWN[name]


def _strings(key: str) -> "_Reader":
    def read(value: Json) -> Operation:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, Sequence) or not all(isinstance(item, str) and item for item in items):
            raise _Wrong("must be a list of strings that are not empty")
        return Append(key, tuple(items), unique=True)

    return read


def _objects(key: str) -> "_Reader":
    def read(value: Json) -> Operation:
        items = [value] if isinstance(value, Mapping) else value
        if not isinstance(items, Sequence) or isinstance(items, str) or not all(isinstance(item, Mapping) for item in items):
            raise _Wrong("must be a list of objects")
        return Append(key, tuple(items), unique=False)

    return read


def _values(key: str) -> "_Reader":
    def read(value: Json) -> Operation:
        if not isinstance(value, Mapping):
            raise _Wrong("must be an object")
        return Merge(key, value)

    return read


def _string(key: str) -> "_Reader":
    def read(value: Json) -> Operation:
        if not isinstance(value, str) or not value:
            raise _Wrong("must be a string that is not empty")
        return Set(key, value)

    return read


_Reader: TypeAlias = Callable[[Json], Operation]
_KNOWN: Mapping[str, _Reader] = {
    "stepsCompleted.append": _strings("stepsCompleted"),
    "variables.set": _values("variables"),
    "decisionLog.append": _objects("decisionLog"),
    "artifacts.append": _strings("artifacts"),
    "currentNodeId.set": _string("currentNodeId"),
    "updatedAt.set": _string("updatedAt"),
}


def _unfit(key: str, wanted: str, present: object) -> InvalidState:
    return InvalidState(
        f"'{key}' in the front matter is not {wanted}", hint=f"Make it {wanted} first.", key=key, found=type(present).__name__
    )
