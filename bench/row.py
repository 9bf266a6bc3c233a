"""One line of the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Row:
    """What was measured, in seconds unless `unit` is "B" for bytes. The goal is a ratio of ours to the floor.

    `floor_name` says what the floor is. `parts` are figures of ours that
    explain the whole, such as the engine without the road. `note` says
    what could not be measured, and why.
    """

    what: str
    ours: float
    floor_name: str
    floor: float | None
    goal: float | None = None
    peers: Mapping[str, float] = field(default_factory=dict[str, float])
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    note: str = ""
    unit: Literal["s", "B"] = "s"

    @property
    def ratio(self) -> float | None:
        """Ours over the floor."""
        return self.ours / self.floor if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal, or without a floor to compare with."""
        return None if self.goal is None or self.ratio is None else self.ratio <= self.goal
