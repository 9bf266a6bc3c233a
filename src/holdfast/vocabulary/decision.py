"""What was decided of a call, and why."""

from dataclasses import dataclass
from typing import TypeAlias

from .errors import HoldfastError


@dataclass(frozen=True)
class Allow:
    """It may run, for at most so long when the scope says so.

    `about_effects` is why a person has to say yes to what it changed
    before that is kept, or "" when nobody has to.
    """

    seconds: float | None = None
    about_effects: str = ""


@dataclass(frozen=True)
class Ask:
    """A person has to say yes first; it may then run for at most so long when the scope says so, and its effects are kept.

    `with_diff` says that the change can be shown before it is made.
    """

    reason: str
    seconds: float | None = None
    with_diff: bool = False


@dataclass(frozen=True)
class Deny:
    """It may not run; the error says why."""

    error: HoldfastError


Decision: TypeAlias = Allow | Ask | Deny
