"""What a person may set about commands."""

from dataclasses import dataclass, field
from pathlib import Path

_MIB = 1024 * 1024
_GIB = 1024 * _MIB


@dataclass(frozen=True)
class CommandLimits:
    """How much of the machine one command may use.

    `memory_bytes` is for all its processes together where the machine
    has cgroups that we may write, and is watched elsewhere.
    `free_disk_bytes` must remain free on the disk; a command that goes
    below it is ended. `layer_bytes` is the most that it may write into
    its layer, `home_bytes` the most that its HOME may hold before it is
    emptied. Of its output `output_bytes` are kept in the file, and a
    command that prints more than `output_flood_bytes` is ended.
    """

    memory_bytes: int = 4 * _GIB
    processes: int = 512
    file_bytes: int = 4 * _GIB
    open_files: int = 4096
    cpu_seconds: int = 3600
    free_disk_bytes: int = _GIB
    layer_bytes: int = 8 * _GIB
    home_bytes: int = 4 * _GIB
    tmp_bytes: int = _GIB
    shm_bytes: int = 256 * _MIB
    output_bytes: int = 64 * _MIB
    output_flood_bytes: int = 4 * _GIB
    head_bytes: int = 100 * 1024


@dataclass(frozen=True)
class SandboxSettings:
    """How commands of one workspace run.

    `layers` and `home` lie in HOLDFAST_HOME, which no command sees;
    `holdfast_home` names it, so that it can be hidden where a mount
    contains it. `env` are names that are passed on beside the usual
    ones. `unconfined` says that the person has written that they
    understand what a command without a sandbox can do.
    """

    layers: Path
    home: Path
    holdfast_home: Path | None = None
    limits: CommandLimits = field(default_factory=CommandLimits)
    grace_seconds: float = 2.0
    env: tuple[str, ...] = ()
    env_inherit: bool = False
    unconfined: bool = False
