"""One command, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path


class Tier(IntEnum):
    """What keeps a command inside."""

    UNCONFINED = 0
    LAYERED = 1


@dataclass(frozen=True)
class SandboxMount:
    """One root of the workspace. `descriptor` is an O_PATH of it, and is what counts; inside it appears at the path `root`."""

    name: str
    root: Path
    descriptor: int
    writable: bool


@dataclass(frozen=True)
class Command:
    """A script for `sh -c`.

    `cwd` is a mount's name and a path in it. The whole output is written
    to `output`. `outputs` is a folder that may be read inside, at its own
    path. In the place of what `hidden` names, mount and path, an empty
    file is seen.
    """

    script: str
    seconds: float
    cwd: tuple[str, str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    output: Path | None = None
    outputs: Path | None = None
    hidden: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    `signal` is 0 unless a signal ended it; `exit_code` is then 128 more,
    as shells say it. `reason` says why we ended it: "timeout", "memory",
    "disk" or "output", or "" when it ended by itself. `head` is the first
    part of its output. `peak_memory_bytes` is 0 where it was too quick to
    be seen.
    """

    exit_code: int
    signal: int
    reason: str
    seconds: float
    peak_memory_bytes: int
    head: bytes
    total_bytes: int
    output_capped: bool
    tier: Tier

    @property
    def timed_out(self) -> bool:
        """Whether its time was up."""
        return self.reason == "timeout"
