"""The lock that other processes see: `flock` on the folder in which something changes.

The changes of one process go through together, because its own locks
keep them apart already. A folder in steady use is let go of from time
to time, so that other processes get their turn.
"""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

_TURN_SECONDS = 0.25
_PAUSE_SECONDS = 0.25
# A file system of the network that cannot lock a directory; one process at a time is then up to its users.
_CANNOT = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class Again(Exception):
    """Somebody else is at it: look again in a moment."""


@dataclass
class _Turn:
    """Our hold on one folder; it ends when the last of our changes has left."""

    descriptor: int
    inside: int = 1
    since: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        """Whether newcomers stay out for a moment. One change that takes long must not keep the others out for good."""
        now = time.monotonic()
        if now - self.since > _TURN_SECONDS + _PAUSE_SECONDS:
            self.since = now
        return now - self.since > _TURN_SECONDS


class Gate:
    """The folders in which this process changes something now. Several threads may use it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[tuple[int, int], _Turn] = {}

    @contextmanager
    def entered(self, *folders: int) -> Generator[None]:
        """Keep other processes' changes out of the folders with these descriptors, without waiting.

        Raises:
            Again: Another process is in one of them.
        """
        with ExitStack() as leaving:
            for key, folder in {_identity(folder): folder for folder in folders}.items():
                self._enter(key, folder)
                leaving.callback(self._leave, key)
            yield

    def _enter(self, key: tuple[int, int], folder: int) -> None:
        with self._lock:
            turn = self._turns.get(key)
            if turn is None:
                self._turns[key] = _Turn(_locked(folder))
                return
            if turn.is_over():
                raise Again
            turn.inside += 1

    def _leave(self, key: tuple[int, int]) -> None:
        with self._lock:
            turn = self._turns[key]
            turn.inside -= 1
            if not turn.inside:
                os.close(turn.descriptor)
                del self._turns[key]


def _locked(folder: int) -> int:
    """A descriptor of our own: its lock ends when it is closed, and not with the descriptor of whoever came first."""
    descriptor = os.open(f"/proc/self/fd/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _CANNOT:
            return descriptor
        os.close(descriptor)
        if error.errno in (errno.EWOULDBLOCK, errno.EINTR):
            raise Again from None
        raise
    return descriptor


def _identity(folder: int) -> tuple[int, int]:
    about = os.fstat(folder)
    return about.st_dev, about.st_ino
