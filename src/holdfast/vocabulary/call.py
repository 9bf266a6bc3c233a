"""One request to use a tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .json import Json
from .trust import Trust


@dataclass(frozen=True)
class Caller:
    """On whose behalf a call is made. `run` names the `@state` that is meant; without one it is the session's."""

    agent: str = ""
    session: str = ""
    user: str = ""
    run: str = ""

    @property
    def state(self) -> str:
        """Which `@state` is this caller's: its run's, its session's, or the one that all others share."""
        return self.run or self.session or "default"


class Wish(Enum):
    """What a caller wants to become of a command's effects: real, nothing, or pending until somebody decides."""

    KEEP = "keep"
    DROP = "drop"
    HOLD = "hold"


@dataclass(frozen=True)
class ToolCall:
    """A tool's name and the arguments as the caller wrote them.

    `arguments` is the raw JSON text when the caller had only that: what
    cannot be parsed is then a refusal like any other, and is recorded.
    `effects` matters to commands alone. `trust` is how far whoever calls is
    trusted; without it nobody is asked.
    """

    id: str
    name: str
    arguments: Mapping[str, Json] | str
    caller: Caller = field(default_factory=Caller)
    effects: Wish = Wish.KEEP
    trust: Trust | None = None
