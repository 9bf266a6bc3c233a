"""How much, how long, how many: every limit with its default."""

from dataclasses import dataclass, field

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class CoreLimits:
    """The limits of the `core` toolset."""

    max_read_bytes: int = MIB


@dataclass(frozen=True)
class FsLimits:
    """The limits of the `fs` toolset; a profile can set them per agent."""

    max_read_bytes: int = 50_000
    max_write_bytes: int = 100_000
    max_entries: int = 200


@dataclass(frozen=True)
class SimpleLimits:
    """The limits of the `simple` toolset."""

    max_read_bytes: int = MIB


@dataclass(frozen=True)
class Limits:
    """All limits of one profile.

    `tool_seconds` is what a call may take, `command_seconds` the most
    that one may ask for a command. `turns` is how often the model is
    asked for one message of the person, None what the door has for it;
    `model_seconds` is what one answer of it may take, `loop_seconds` all
    of them with their calls.
    """

    core: CoreLimits = field(default_factory=CoreLimits)
    fs: FsLimits = field(default_factory=FsLimits)
    simple: SimpleLimits = field(default_factory=SimpleLimits)
    tool_seconds: float = 60.0
    command_seconds: float = 600.0
    audit_preview_bytes: int = KIB
    turns: int | None = None
    model_seconds: float = 120.0
    loop_seconds: float = 1800.0
