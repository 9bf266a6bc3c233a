"""The thread that starts commands.

It lives as long as the sandbox, because what bubblewrap runs ends with
the thread that started it. In a root server it has mounts of its own: a
folder in memory that everybody may enter, with the trees that a command
needs, so that a user who may not walk through root's folders can still
be given what lies in them. When the thread ends the mounts are gone.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from . import kernel
from .hands import Hands
from .launching import Launcher

# Nothing that starts a command looks in here, and no program or workspace lives in it.
PLACE = "/sys"

_KILLED = (-signal.SIGKILL, 0)

T = TypeVar("T")


@dataclass(frozen=True)
class Start:
    """A program to be started."""

    words: Sequence[str]
    env: Mapping[str, str]
    cwd: str


class Hub:
    """One thread, and what it shows to those who are not root."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"holdfast-{name}-sh")
        self._shown = 0
        self._launcher: Launcher | None = None
        self._started: dict[int, subprocess.Popen[bytes]] = {}

    def enter(self) -> Future[None]:
        """Have mounts of its own. Needs root."""
        return self.do(_enter)

    def show(self, mount: int) -> Future[str]:
        """Attach a cloned mount, close it, and say at which path the commands of this thread will find it."""
        self._shown += 1
        return self.do(lambda name=str(self._shown): _show(mount, name))

    def hide(self, path: str) -> None:
        """Take away what was shown. Commands that run already go on seeing it."""
        self.do(lambda: kernel.detach(path))

    def start(self, start: "Start", stdout: int, stderr: int) -> Future[int]:
        """Start a program in a session of its own, and give its number."""
        return self.do(lambda: self._start(start, stdout, stderr))

    def launch(self, hands: Hands, request: int, descriptors: Sequence[int]) -> Future[int]:
        """Have the launcher start a confined command, and give its number."""
        return self.do(lambda: self._launch(hands, request, descriptors))

    def reap(self, pid: int) -> Future[tuple[int, int]]:
        """With what a command left that has ended, and the most memory in kilobytes that one of its processes had, 0 if unknown."""
        return self.do(lambda: self._reap(pid))

    def prepare(self, hands: Hands) -> Future[None]:
        """Have the launcher at hand."""
        return self.do(lambda: self._prepare(hands))

    def do(self, work: Callable[[], T]) -> Future[T]:
        """Have the thread do something."""
        return self._thread.submit(work)

    def close(self) -> None:
        """Let the thread end."""
        self.do(self._end)
        self._thread.shutdown(wait=False)

    def _start(self, start: Start, stdout: int, stderr: int) -> int:
        # No `user`, `group` or `preexec_fn`: with any of these Python forks, which takes 25 ms in a large process.
        process = subprocess.Popen(
            start.words,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=dict(start.env),
            cwd=start.cwd,
            start_new_session=True,
        )
        self._started[process.pid] = process
        return process.pid

    def _prepare(self, hands: Hands) -> None:
        self._launcher = self._launcher or Launcher(hands)

    def _launch(self, hands: Hands, request: int, descriptors: Sequence[int]) -> int:
        self._prepare(hands)
        assert self._launcher
        try:
            return self._launcher.start(request, descriptors)
        except ConnectionError:
            # Somebody has killed it, such as the kernel when memory was short.
            self._launcher.close()
            self._launcher = Launcher(hands)
            return self._launcher.start(request, descriptors)

    def _reap(self, pid: int) -> tuple[int, int]:
        if pid in self._started:
            return self._started.pop(pid).wait(), 0
        try:
            return self._launcher.reap(pid) if self._launcher else _KILLED
        except ConnectionError:
            return _KILLED

    def _end(self) -> None:
        if self._launcher is not None:
            self._launcher.close()


def _enter() -> None:
    kernel.leave_mount_namespace()
    # What lies beneath is many mounts, which every command would copy.
    with suppress(OSError):
        kernel.detach(PLACE)
    kernel.mount_tmpfs(PLACE, 0o711)
    # What is attached later reaches the launcher, which has mounts of its own again.
    kernel.share_mount(PLACE)


def _show(mount: int, name: str) -> str:
    path = f"{PLACE}/{name}"
    try:
        os.mkdir(path, 0o700)
        kernel.attach(mount, path)
    finally:
        os.close(mount)
    return path
