"""A command under way, and how it is ended with all that it has started."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

_STEP_SECONDS = 0.005


class Process:
    """The program that was started, watched by the loop that this is made on.

    With `status`, bubblewrap's pipe, it stands for a whole process
    namespace: the program leaves only when every process in it is gone.
    `exit_code` is less than 0 for the signal that ended it.
    """

    def __init__(self, pid: int, status: int | None, reap: Callable[[int], Future[tuple[int, int]]]) -> None:
        self.pid = pid
        self.exit_code = 0
        self.max_rss_bytes = 0
        self._status = status
        self._reap = reap
        self._said = b""
        self._loop = asyncio.get_running_loop()
        self._pidfd = os.pidfd_open(pid)
        self._exited = self._loop.create_future()
        self._loop.add_reader(self._pidfd, self._left)

    @property
    def exited(self) -> "asyncio.Future[None]":
        """Done when it is gone."""
        return self._exited

    def first(self) -> int | None:
        """The first process of the namespace; None before there is one, and when it is gone."""
        pid = self._told("child-pid")
        return pid if pid is not None and _parent(pid) == self.pid else None

    def began(self) -> bool:
        """Whether the command itself was started, and not only what should confine it."""
        return self._told("exit-code") is not None

    async def end(self, grace_seconds: float) -> None:
        """Kill it and wait until it is gone. Who cancels this leaves it alive.

        While it is only being confined it is given some grace: to be
        killed between the making of a process and the telling of it would
        leave that process to itself for a moment.
        """
        late = time.monotonic() + grace_seconds
        while not self._exited.done():
            self._kill(at_once=time.monotonic() > late)
            await asyncio.wait([self._exited], timeout=_STEP_SECONDS)

    def close(self) -> None:
        """Give the descriptors back. It must be gone."""
        if self._status is not None:
            os.close(self._status)
            self._status = None

    def _kill(self, *, at_once: bool) -> None:
        """The first process takes its namespace with it; the program then sees that, and leaves last."""
        first = self.first()
        if first is not None:
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
        elif self._status is None or at_once or not self._is_confining():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _is_confining(self) -> bool:
        """Whether the program is bubblewrap already, which may have a child that we do not know of, or have lost it just now."""
        try:
            with open(f"/proc/{self.pid}/comm") as file:
                return file.read().strip() == "bwrap"
        except OSError:
            return False

    def _told(self, name: str) -> int | None:
        """What bubblewrap has said: one JSON document after another."""
        if self._status is not None:
            with suppress(BlockingIOError):
                while chunk := os.read(self._status, 4096):
                    self._said += chunk
        for line in self._said.splitlines():
            with suppress(ValueError):
                said = json.loads(line)
                if name in said:
                    return int(said[name])
        return None

    def _left(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        if self._status is not None:
            self._kill_orphans()
        asyncio.wrap_future(self._reap(self.pid)).add_done_callback(self._reaped)

    def _kill_orphans(self) -> None:
        """Bubblewrap that was itself killed may have left a process that it had not bound to itself yet."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        first = self._told("child-pid")
        if first is not None and _is_first(first):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(first, signal.SIGKILL)

    def _reaped(self, done: "asyncio.Future[tuple[int, int]]") -> None:
        self.exit_code, kilobytes = done.result()
        self.max_rss_bytes = kilobytes * 1024
        self._told("exit-code")
        if not self._exited.done():
            self._exited.set_result(None)


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children") as file:
                    found.extend(int(child) for child in file.read().split())
    return found


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _is_first(pid: int) -> bool:
    """Whether it is the first process of a namespace that is not ours."""
    try:
        with open(f"/proc/{pid}/status") as file:
            numbers = next(line for line in file if line.startswith("NSpid:")).split()[1:]
    except (OSError, StopIteration):
        return False
    return len(numbers) > 1 and numbers[-1] == "1"
