"""What came of a call: done, refused or failed, and nothing else."""

from dataclasses import dataclass
from typing import TypeAlias

from .errors import HoldfastError
from .json import Json


@dataclass(frozen=True)
class Answer:
    """A result as its dialect says it.

    `body` is the dialect's envelope, `text` is what a model reads, and
    `metadata` is what a person's window may show beside it.
    """

    body: Json
    text: str
    is_error: bool = False
    metadata: dict[str, Json] | None = None


@dataclass(frozen=True)
class Done:
    """The tool ran and answered."""

    answer: Answer


@dataclass(frozen=True)
class Refused:
    """The road stopped the call before the tool ran; nothing happened."""

    answer: Answer
    error: HoldfastError


@dataclass(frozen=True)
class Failed:
    """The tool ran and could not do it."""

    answer: Answer
    error: HoldfastError


Outcome: TypeAlias = Done | Refused | Failed
