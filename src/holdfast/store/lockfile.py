"""A file whose lock shows that a process of this machine is alive: the kernel gives it back when the process ends, however it ends."""

import fcntl
import os
from pathlib import Path

from holdfast.vocabulary.errors import Busy


class LockFile:
    """The lock of one file. Whoever has it knows that nobody else on this machine does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Lock the file, making it if need be; without effect when we have it.

        Raises:
            Busy: Another process has it.
        """
        if self._descriptor is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise Busy("another process holds the workspace", hint="Pass the call on, or try again.") from None
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others have it. The file stays: removing it would let two processes lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
