"""The thread that starts commands.

It lives as long as the sandbox, because what bubblewrap runs ends with
the thread that started it. In a root server it has mounts of its own: a
folder in memory that everybody may enter, with the trees that a command
needs, so that a user who may not walk through root's folders can still
be given what lies in them. When the thread ends the mounts are gone.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from . import kernel

# Nothing that starts a command looks in here, and no program or workspace lives in it.
PLACE = "/sys"

T = TypeVar("T")


@dataclass(frozen=True)
class Start:
    """A program to be started, with the descriptors `keep` open."""

    words: Sequence[str]
    stdout: int
    stderr: int
    keep: Sequence[int]
    env: Mapping[str, str]
    cwd: str


class Hub:
    """One thread, and what it shows to those who are not root."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"holdfast-{name}-sh")
        self._shown = 0

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

    def start(self, start: "Start") -> Future["subprocess.Popen[bytes]"]:
        """Start a program in a session of its own."""
        # No `user`, `group` or `preexec_fn`: with any of these Python forks, which takes 25 ms in a large process.
        return self.do(
            lambda: subprocess.Popen(
                start.words,
                stdin=subprocess.DEVNULL,
                stdout=start.stdout,
                stderr=start.stderr,
                pass_fds=start.keep,
                env=dict(start.env),
                cwd=start.cwd,
                start_new_session=True,
            )
        )

    def do(self, work: Callable[[], T]) -> Future[T]:
        """Have the thread do something."""
        return self._thread.submit(work)

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False)


def _enter() -> None:
    kernel.leave_mount_namespace()
    # What lies beneath is many mounts, which every command would copy.
    with suppress(OSError):
        kernel.detach(PLACE)
    kernel.mount_tmpfs(PLACE, 0o711)


def _show(mount: int, name: str) -> str:
    path = f"{PLACE}/{name}"
    try:
        os.mkdir(path, 0o700)
        kernel.attach(mount, path)
    finally:
        os.close(mount)
    return path
