"""What was decided of a call, and why."""

from dataclasses import dataclass
from typing import TypeAlias

from .errors import HoldfastError


@dataclass(frozen=True)
class Allow:
    """It may run, for at most so long when the scope says so."""

    seconds: float | None = None


@dataclass(frozen=True)
class Ask:
    """A person has to say yes first."""

    reason: str


@dataclass(frozen=True)
class Deny:
    """It may not run; the error says why."""

    error: HoldfastError


Decision: TypeAlias = Allow | Ask | Deny
