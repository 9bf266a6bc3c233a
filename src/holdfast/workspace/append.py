"""Adding a line to a log that several processes write.

A line is one `write` to a file opened with O_APPEND, so lines never mix.
What a full disk or a power cut left of a line is ended by the next one.
"""

import asyncio
import errno
import fcntl
import os
import time
from collections.abc import Sequence
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


async def append(place: Place, line: bytes) -> None:
    """Add a line, which has no newline in it, to a file that is made when it is missing, with its folders.

    Raises:
        NoSpace, AccessDenied, IsDirectory, SpecialFile, Outside: As the names say.
    """
    await append_lines(place, [line])


def append_lines(place: Place, lines: Sequence[bytes]) -> asyncio.Future[None]:
    """Add several lines, as `append` adds one; it is done even if nobody waits for it."""
    if any(b"\n" in line for line in lines):
        raise ValueError("a line has no newline in it")
    return place.mount.pool.start(_append, place, b"\n".join(lines))


async def check_appendable(place: Place) -> None:
    """Make sure that a line could be added.

    Raises:
        As `append`.
    """
    await place.mount.pool.run(_check, place)


def _check(place: Place) -> None:
    with told(place), folder_of(place, make=True) as folder:
        os.close(_open(place, folder))


def _append(place: Place, line: bytes) -> None:
    with told(place), folder_of(place, make=True) as folder:
        log = _open(place, folder)
        try:
            _write(log, line)
        finally:
            os.close(log)


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
    torn = _locked(log) and _is_torn(log)
    whole = (b"\n" if torn else b"") + line + b"\n"
    if os.write(log, whole) < len(whole):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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
