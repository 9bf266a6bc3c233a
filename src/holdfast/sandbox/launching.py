"""The launcher as the server sees it."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from . import launcher
from .hands import Hands

_ANSWER_BYTES = 256


class NotStarted(Exception):
    """Why a command could not be started."""


class Launcher:
    """A process that starts commands with somebody's hands. It ends with the thread that makes this."""

    def __init__(self, hands: Hands) -> None:
        """Start it, and wait until it has what it needs.

        Raises:
            OSError: It is not given the namespaces, or the user.
        """
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = str(Path(launcher.__file__))
        words = [_python(), "-I", "-S", "-B", script, str(theirs.fileno()), str(hands.uid), str(hands.gid)]
        with theirs:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env={}, cwd="/", start_new_session=True
            )
        answer = self._door.recv(_ANSWER_BYTES)
        if answer != launcher.OPEN:
            self.close()
            raise PermissionError(answer.decode(errors="replace") or "the launcher of commands did not start")

    def start(self, request: int, descriptors: Sequence[int]) -> int:
        """Start a command, and return its number. It is not reaped before `reap`.

        Raises:
            NotStarted: The layers cannot be mounted, or there is no such program.
            ConnectionError: The launcher had gone before it was asked.
        """
        socket.send_fds(self._door, [b"start"], [request, *descriptors])
        try:
            answer = self._answer()
        except ConnectionError:
            # It may have started it: nobody knows, so nobody may start it again.
            raise NotStarted("the launcher of commands was killed") from None
        if answer.startswith(launcher.FAILED.decode()):
            raise NotStarted(answer[1:])
        return int(answer)

    def reap(self, pid: int) -> tuple[int, int]:
        """With what a command that has ended left, and the most memory in kilobytes that one of its processes had.

        Raises:
            ConnectionError: The launcher is gone, and the command with it.
        """
        self._door.send(str(pid).encode())
        code, _, most = self._answer().partition(" ")
        return int(code), int(most)

    def close(self) -> None:
        """Let it end."""
        self._door.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()

    def _answer(self) -> str:
        answer = self._door.recv(_ANSWER_BYTES)
        if not answer:
            raise ConnectionResetError("the launcher of commands is gone")
        return answer.decode()


def _python() -> str:
    """Our own interpreter; the system's where a server that has changed its user may no longer run its own."""
    return sys.executable if os.access(sys.executable, os.X_OK) else shutil.which("python3", path=os.defpath) or sys.executable


def request(folders: Sequence[str], words: Sequence[str]) -> bytes:
    """What the launcher reads: the folders with layers to be mounted, and the words of the program."""
    parts = [*(folder.encode(errors="surrogateescape") for folder in folders), launcher.END_OF_FOLDERS]
    return b"\0".join([*parts, *(word.encode(errors="surrogateescape") for word in words)])
