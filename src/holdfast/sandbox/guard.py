"""Watching what a command takes of the machine that no limit of the kernel bounds as a whole."""

import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from .cgroup import Group
from .process import Process, tree
from .settings import CommandLimits

_FIRST_SECONDS, _LAST_SECONDS = 0.03, 0.1
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Files in memory that no process has mapped belong to nobody that could be counted. So the machine itself is looked at too.
_LEAST_SHARE = 20
# To measure a tree takes time. Afterwards it is left alone for so many times as long.
_REST_TIMES = 20


class Guard:
    """Looks at one command every tenth of a second."""

    def __init__(self, process: Process, group: Group, limits: CommandLimits, written: Sequence[tuple[Path, int]]) -> None:
        self._process = process
        self._group = group
        self._limits = limits
        self._written = written
        self._left_at_first = 0
        self.peak_bytes = 0

    async def watch(self) -> str:
        """Return as soon as something is over its limit: "memory" or "disk"."""
        pause, rest = _FIRST_SECONDS, dict.fromkeys((path for path, _ in self._written), 0.0)
        while True:
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_SECONDS)
            processes = tree(self._process.first() or self._process.pid)
            if new := self._group.lacks(processes):
                await asyncio.to_thread(self._group.take_in, new)
            if (
                self._memory(processes) > self._limits.memory_bytes
                or self._takes_the_last(*_machine_memory())
                or self._group.ran_out_of_memory()
            ):
                return "memory"
            for path, most in self._written:
                if _room(path) < self._limits.free_disk_bytes:
                    return "disk"
                began = time.monotonic()
                if began < rest[path]:
                    continue
                if await asyncio.to_thread(size_of, path) > most:
                    return "disk"
                rest[path] = began + _REST_TIMES * (time.monotonic() - began)

    def _takes_the_last(self, total: int, left: int) -> bool:
        """Whether the machine has hardly any memory left, and had more when we first looked."""
        least = total // _LEAST_SHARE
        self._left_at_first = self._left_at_first or left
        return left < least and self._left_at_first - left > least

    def _memory(self, processes: Iterable[int]) -> int:
        total = 0
        for pid in processes:
            with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as file:
                fields = file.read().split()
                # What is mapped from files and shared is there once, however many have it.
                total += (int(fields[1]) - int(fields[2])) * _PAGE_BYTES
        self.peak_bytes = max(self.peak_bytes, total)
        return total


def _machine_memory() -> tuple[int, int]:
    """What the machine has, and what of it could still be used."""
    with open("/proc/meminfo") as lines:
        rows = dict(line.split(":", 1) for line in lines)
    total, left = (int(rows[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    return total, left


def _room(path: Path) -> int:
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize


def has_room(path: Path, limits: CommandLimits) -> bool:
    """Whether a command may start at all."""
    return _room(path) >= limits.free_disk_bytes


def size_of(folder: Path) -> int:
    """What a tree takes of the disk. What cannot be looked into does not count."""
    total, left = 0, [os.fspath(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total
