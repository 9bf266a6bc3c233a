"""Opening what a `Place` names: by descriptor, beneath its mount, following no link."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from holdfast.vocabulary.errors import IsDirectory, SpecialFile

from .faults import told
from .kernel import open_beneath
from .place import Place


@contextmanager
def opened(place: Place, *, wait: bool = True) -> Generator[tuple[int, os.stat_result]]:
    """A regular file, open for reading, and what is known of it.

    It is looked at before it is opened, so a FIFO never blocks and a
    device is never touched.

    Raises:
        NotFound, IsDirectory, SpecialFile, AccessDenied, Outside: As the names say.
    """
    with told(place), looked_at(place, wait=wait) as (seen, about):
        check_regular(about, place)
        descriptor = os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor, about
    finally:
        os.close(descriptor)


@contextmanager
def looked_at(place: Place, *, wait: bool = True, nofollow: bool = False) -> Generator[tuple[int, os.stat_result]]:
    """A descriptor that only names the entry, and what is known of it; with `nofollow` a link is named itself."""
    flags = os.O_PATH | (os.O_NOFOLLOW if nofollow else 0)
    descriptor = open_beneath(place.mount.descriptor, place.path, flags, follow=False, cached=not wait)
    try:
        yield descriptor, os.fstat(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def directory(place: Place, path: str | None = None, *, wait: bool = True) -> Generator[int]:
    """A directory, open so that it can be listed and synced; `path` is another one of the same mount."""
    where = place.path if path is None else path
    descriptor = open_beneath(place.mount.descriptor, where, os.O_RDONLY | os.O_DIRECTORY, follow=False, cached=not wait)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def check_regular(about: os.stat_result, place: Place) -> None:
    """Let only regular files pass."""
    if stat.S_ISREG(about.st_mode):
        return
    if stat.S_ISDIR(about.st_mode):
        raise IsDirectory(f"'{place}' is a directory, not a file", hint="List it instead.", path=str(place))
    if stat.S_ISLNK(about.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    raise SpecialFile(f"'{place}' is a {kind_of(about)}, not a file", hint="Only regular files can be read or written.", path=str(place))


def kind_of(about: os.stat_result) -> str:
    """The word for what kind of entry this is."""
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(about.st_mode), "device")
