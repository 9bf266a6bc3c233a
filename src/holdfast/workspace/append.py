"""Adding a line to a log that several processes write.

A line is one `write` to a file opened with O_APPEND, so lines never mix.
What a full disk or a power cut left of a line is ended by the next one.
"""

import errno
import fcntl
import os
import time
from typing import Final

from .faults import told
from .folders import Folder, folder_of
from .opening import check_regular
from .place import Place
from .stage import give_to_owner_of

_MODE: Final = 0o600
_PATIENCE_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.0005
_AS_LOG: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class Tail:
    """The end of one log, which stays open from line to line. One thread at a time adds to it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._folder = self._log = -1
        self._about: os.stat_result | None = None

    def append(self, line: bytes) -> None:
        """Add a line, or several; the file is made when it is missing, with its folders.

        Raises:
            NoSpace, AccessDenied, IsDirectory, SpecialFile, Outside: As the names say.
        """
        try:
            with told(self._place):
                if not self._is_there():
                    self.close()
                    self._open()
                _write(self._log, line)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the descriptors back; the next line opens the log anew."""
        for descriptor in (self._folder, self._log):
            if descriptor >= 0:
                os.close(descriptor)
        self._folder = self._log = -1

    def _is_there(self) -> bool:
        """Whether the open file is still the one of that name."""
        if self._log < 0 or self._about is None:
            return False
        try:
            named = os.stat(self._place.name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, self._about)

    def _open(self) -> None:
        with folder_of(self._place, make=True) as folder:
            self._log = _open(self._place, folder)
            self._folder = os.dup(folder.descriptor)
        self._about = os.fstat(self._log)


async def append(place: Place, line: bytes) -> None:
    """Add a line, which has no newline in it, to a file that is made when it is missing, with its folders.

    Raises:
        NoSpace, AccessDenied, IsDirectory, SpecialFile, Outside: As the names say.
    """
    if b"\n" in line:
        raise ValueError("a line has no newline in it")
    tail = Tail(place)
    try:
        await place.mount.pool.run(tail.append, line)
    finally:
        tail.close()


async def check_appendable(place: Place) -> None:
    """Make sure that a line could be added.

    Raises:
        As `append`.
    """
    await place.mount.pool.run(_check, place)


def _check(place: Place) -> None:
    with told(place), folder_of(place, make=True) as folder:
        os.close(_open(place, folder))


def _open(place: Place, folder: Folder) -> int:
    while True:
        try:
            return _open_existing(place, folder)
        except FileNotFoundError:
            pass
        try:
            log = os.open(place.name, _AS_LOG | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE, dir_fd=folder.descriptor)
        except FileExistsError:
            continue
        give_to_owner_of(folder.descriptor, log)
        return log


def _open_existing(place: Place, folder: Folder) -> int:
    named = os.open(place.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor)
    try:
        check_regular(os.fstat(named), place)
        return os.open(f"/proc/self/fd/{named}", _AS_LOG)
    finally:
        os.close(named)


def _write(log: int, line: bytes) -> None:
    # A line that is just being written looks like one that was cut short, so it is waited for.
    locked = _locked(log)
    try:
        whole = (b"\n" if locked and _is_torn(log) else b"") + line + b"\n"
        if os.write(log, whole) < len(whole):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        if locked:
            fcntl.flock(log, fcntl.LOCK_UN)


def _is_torn(log: int) -> bool:
    size = os.fstat(log).st_size
    return size > 0 and os.pread(log, 1, size - 1) != b"\n"


def _locked(log: int) -> bool:
    """Whether nobody else writes while we have the file open; somebody who stops with the lock does not stop us."""
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_at:
                return False
            time.sleep(_PAUSE_SECONDS)
        except OSError:
            # A file system that has no locks.
            return False
        else:
            return True
