"""Limits for all processes of a command together, where the machine has control groups that we may write to.

A command that lasts gets a group of its own, beneath the one that the
server is in (version 1), or beside it (version 2, where a group that has
processes cannot have limited children). So no command leaves the limits
that the server itself has. To move a process makes the kernel wait for
all processors, ten milliseconds and more, so that a command is taken in
while it runs, and one that is quick never.
"""

import os
import secrets
import signal
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .settings import CommandLimits

_WANTED = ("memory", "pids")
_PREFIX = "holdfast-"
_TRIES = 40


@dataclass(frozen=True)
class Groups:
    """Where groups can be made: for each controller its folder. Version 2 has one folder for both."""

    folders: dict[str, Path]
    version: int

    def make(self, name: str, limits: CommandLimits) -> dict[str, Path]:
        """Folders for one command. What cannot be limited is left to the other guards."""
        made: dict[str, Path] = {}
        for controller, parent in self.folders.items():
            folder = parent / f"{_PREFIX}{os.getpid()}-{name}"
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
                _limit(folder, controller, self.version, limits)
                made[controller] = folder
        return made

    def sweep(self) -> None:
        """Remove groups of servers that are no more. One that still has processes stays."""
        for parent in set(self.folders.values()):
            for folder in parent.glob(f"{_PREFIX}*-*"):
                if not os.path.exists(f"/proc/{folder.name.split('-')[1]}"):
                    with suppress(OSError):
                        folder.rmdir()


class Group:
    """The group of one command, made when the first process is taken in. Without `groups` it limits nothing."""

    def __init__(self, groups: Groups | None, limits: CommandLimits) -> None:
        self._groups = groups
        self._limits = limits
        self._taken: set[int] = set()
        self.folders: dict[str, Path] = {}
        self.version = groups.version if groups else 2

    def lacks(self, pids: Collection[int]) -> set[int]:
        """Which of the processes are still to be taken in."""
        return set(pids) - self._taken if self._groups else set()

    def take_in(self, pids: Collection[int]) -> None:
        """Put processes, and whatever they will start, into the group. This may take long."""
        if self._groups is None:
            return
        self.folders = self.folders or self._groups.make(secrets.token_hex(8), self._limits)
        for folder in dict.fromkeys(self.folders.values()):
            for pid in pids:
                with suppress(OSError):
                    (folder / "cgroup.procs").write_text(str(pid))
        self._taken |= set(pids)

    @property
    def _memory(self) -> Path | None:
        return self.folders.get("memory")

    def peak_bytes(self) -> int:
        """The most memory that it has used, its files in memory included; 0 when that is not known."""
        if self._memory is None:
            return 0
        name = "memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"
        try:
            return int((self._memory / name).read_text())
        except (OSError, ValueError):
            return 0

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process because all the memory was used."""
        if self._memory is None:
            return False
        try:
            lines = (self._memory / ("memory.events" if self.version == 2 else "memory.oom_control")).read_text().splitlines()
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and not line.endswith(" 0") for line in lines)

    def members(self) -> list[int]:
        """The processes in it."""
        for folder in self.folders.values():
            with suppress(OSError):
                return [int(line) for line in (folder / "cgroup.procs").read_text().split()]
        return []

    def kill(self) -> None:
        """End every process in it."""
        for _ in range(_TRIES):
            members = self.members()
            if not members:
                return
            for pid in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def is_removed(self) -> bool:
        """Take the group away; False when it lingers, as it may for a moment after its last process."""
        for folder in dict.fromkeys(self.folders.values()):
            try:
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True

    def remove_patiently(self) -> None:
        """Take the group away, however long it lingers; what is left then is swept when a sandbox is opened next."""
        for _ in range(_TRIES):
            if self.is_removed():
                return
            time.sleep(0.005)


def find_groups() -> Groups | None:
    """Where this process may make groups with limits, found by making one."""
    for version, folders in ((2, _second()), (1, _first())):
        usable = {controller: folder for controller, folder in folders.items() if _usable(folder, controller, version)}
        if usable:
            return Groups(usable, version)
    return None


def _usable(parent: Path, controller: str, version: int) -> bool:
    trial = parent / f"{_PREFIX}{os.getpid()}-trial-{threading.get_ident()}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        _limit(trial, controller, version, CommandLimits())
        os.close(os.open(trial / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        # Who moves a process needs the right to write to what both groups have in common.
        return os.access(parent / "cgroup.procs", os.W_OK)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            trial.rmdir()


def _limit(folder: Path, controller: str, version: int, limits: CommandLimits) -> None:
    if controller == "pids":
        (folder / "pids.max").write_text(str(limits.processes))
    elif version == 2:
        (folder / "memory.max").write_text(str(limits.memory_bytes))
        for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
            with suppress(OSError):
                (folder / name).write_text(value)
    else:
        (folder / "memory.limit_in_bytes").write_text(str(limits.memory_bytes))


def _second() -> dict[str, Path]:
    """The folder of version 2, if it limits what we want to."""
    own = _own().get("")
    root = _where("cgroup2", None)
    if own is None or root is None:
        return {}
    here = root / own.lstrip("/")
    for folder in (here, here.parent):
        if folder != root.parent and _passes_on(folder):
            return {controller: folder for controller in _WANTED if controller in _passes_on(folder)}
    return {}


def _passes_on(folder: Path) -> list[str]:
    try:
        return (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return []


def _first() -> dict[str, Path]:
    own = _own()
    found: dict[str, Path] = {}
    for controller in _WANTED:
        root = _where("cgroup", controller)
        if root is not None and controller in own:
            found[controller] = root / own[controller].lstrip("/")
    return found


def _own() -> dict[str, str]:
    """The groups of this process, by controller; version 2 is under ""."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return {}
    rows = [line.split(":", 2) for line in lines]
    return {controller: row[2] for row in rows for controller in row[1].split(",")}


def _where(kind: str, controller: str | None) -> Path | None:
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, path, type_, options, *_ = line.split()
        if type_ == kind and (controller is None or controller in options.split(",")):
            return Path(path)
    return None
