"""A tool that has run and whose effects somebody has to decide about."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.vocabulary.json import Json


@dataclass(frozen=True)
class Held:
    """What is asked about the effects, and the two calls, by name and arguments, that make them real or throw them away.

    The first takes the paths of those that are to be kept as `paths`, when
    it is not all of them. `told` is given what became of them, `kept` or `dropped`, and a note
    about it, and gives what the tool then answers, or raises its error.
    """

    effects: Json
    effects_hash: str
    keep: tuple[str, Mapping[str, Json]]
    drop: tuple[str, Mapping[str, Json]]
    told: Callable[[str, str], object]
