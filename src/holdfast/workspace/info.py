"""What is known of one entry without opening it."""

import ctypes
import stat
import struct
from dataclasses import dataclass

from holdfast.vocabulary.errors import NotDirectory, NotFound

from .entry import Kind
from .faults import told
from .opening import looked_at
from .place import Place
from .pool import here_or_there


@dataclass(frozen=True)
class Info:
    """One entry. `size` is None for anything but files; `created` is the last change where no birth is remembered."""

    place: Place
    kind: Kind
    size: int | None
    mode: int
    modified: float
    created: float
    owner: int
    group: int
    links: int
    device: int
    inode: int


async def info(place: Place) -> Info:
    """What the system tells of the entry; a link is told of itself.

    Raises:
        NotFound, AccessDenied: As the names say.
    """
    return await here_or_there(place.mount.pool, lambda wait: info_now(place, wait=wait))


async def is_directory(place: Place) -> bool:
    """Whether a directory is there."""
    try:
        return (await info(place)).kind is Kind.DIRECTORY
    except (NotFound, NotDirectory):
        return False


def info_now(place: Place, *, wait: bool = True) -> Info:
    """`info`, on this thread."""
    with told(place), looked_at(place, wait=wait, nofollow=True) as (descriptor, about):
        kind = Kind.of(about.st_mode)
        return Info(
            place,
            kind,
            size=about.st_size if kind is Kind.FILE else None,
            mode=stat.S_IMODE(about.st_mode),
            modified=about.st_mtime,
            created=_born(descriptor) or about.st_ctime,
            owner=about.st_uid,
            group=about.st_gid,
            links=about.st_nlink,
            device=about.st_dev,
            inode=about.st_ino,
        )


_AT_EMPTY_PATH = 0x1000
_STATX_BTIME = 0x800
_STATX_BYTES = 256
_BTIME_OFFSET = 80

# A C library without it (musl before 1.2.5) knows no birth times.
_statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)


def _born(descriptor: int) -> float | None:
    """When the entry was made, None where the file system does not remember it."""
    if _statx is None:
        return None
    answer = ctypes.create_string_buffer(_STATX_BYTES)
    if _statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_BTIME, answer) != 0:
        return None
    (mask,) = struct.unpack_from("=I", answer)
    if not mask & _STATX_BTIME:
        return None
    seconds, nanoseconds = struct.unpack_from("=qI", answer, _BTIME_OFFSET)
    return seconds + nanoseconds / 1e9
