"""Watching what a command takes of the machine that no limit of the kernel bounds as a whole."""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .process import Process, tree
from .settings import CommandLimits

_FIRST_SECONDS, _LAST_SECONDS = 0.01, 0.1
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# A tree is measured only when the disk has so much less room than at the last time, and for at most a tenth of the time.
_WORTH_A_LOOK_BYTES = 64 * 1024 * 1024


class Guard:
    """Looks at one command every tenth of a second."""

    def __init__(self, process: Process, limits: CommandLimits, written: Sequence[tuple[Path, int]]) -> None:
        self._process = process
        self._limits = limits
        self._written = written
        self.peak_bytes = 0

    async def watch(self) -> str:
        """Return as soon as something is over its limit: "memory" or "disk"."""
        pause = _FIRST_SECONDS
        room, rest = {path: _room(path) for path, _ in self._written}, 0.0
        while True:
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_SECONDS)
            if self._memory() > self._limits.memory_bytes:
                return "memory"
            for path, most in self._written:
                now = _room(path)
                if now < self._limits.free_disk_bytes:
                    return "disk"
                if room[path] - now > min(_WORTH_A_LOOK_BYTES, most // 2) and time.monotonic() > rest:
                    began = time.monotonic()
                    if await asyncio.to_thread(size_of, path) > most:
                        return "disk"
                    room[path], rest = now, time.monotonic() + 10 * (time.monotonic() - began)

    def _memory(self) -> int:
        first = self._process.first() or self._process.pid
        total = 0
        for pid in tree(first):
            with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as file:
                fields = file.read().split()
                # What is mapped from files and shared is there once, however many have it.
                total += (int(fields[1]) - int(fields[2])) * _PAGE_BYTES
        self.peak_bytes = max(self.peak_bytes, total)
        return total


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
