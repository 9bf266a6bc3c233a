"""What stands at a name: one file, link or folder as the disk holds it."""

import errno
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.vocabulary.errors import SpecialFile, StaleHash

from .entry import Kind
from .opening import kind_of
from .place import Place

SMALL = 64 * 1024


@dataclass(frozen=True)
class Inode:
    """An entry that has been looked at, and is held so that it stays the same one.

    `descriptor` reads the bytes of a file, and only names anything else;
    it is open for as long as the change is under way. `sha256` is None for
    anything but a file whose hash was asked for.
    """

    kind: Kind
    about: os.stat_result
    descriptor: int
    sha256: str | None = None

    @property
    def number(self) -> int:
        """What recovery looks for."""
        return self.about.st_ino

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.about.st_size

    @property
    def mode(self) -> int:
        """Who may do what, without the kind."""
        return stat.S_IMODE(self.about.st_mode)

    def read(self) -> bytes:
        """All bytes of a file."""
        pieces: list[bytes] = []
        position = 0
        while piece := os.pread(self.descriptor, max(self.size + 1 - position, SMALL), position):
            pieces.append(piece)
            position += len(piece)
        return b"".join(pieces)

    def stands_at(self, folder: int, name: str) -> bool:
        """Whether it is still what that name in that folder means, and still the same to the last byte."""
        try:
            now = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            return False
        if self.kind is Kind.DIRECTORY:
            return (now.st_dev, now.st_ino) == (self.about.st_dev, self.about.st_ino)
        return _identity(now) == _identity(self.about)


@contextmanager
def found(folder: int, place: Place, *, hashed: bool = True) -> Generator[Inode | None]:
    """What stands at the place, whose parent is `folder`; None for nothing.

    It is looked at before it is opened, and only a file is opened at all.

    Raises:
        SpecialFile: A device, FIFO or socket is there.
    """
    try:
        named = os.open(place.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        yield None
        return
    descriptor = named
    try:
        about = os.fstat(named)
        kind = _kind(about)
        if kind is Kind.OTHER:
            raise SpecialFile(f"'{place}' is a {kind_of(about)}", hint="Only files, links and folders can be changed.", path=str(place))
        sha256 = None
        if kind is Kind.FILE:
            descriptor = os.open(f"/proc/self/fd/{named}", os.O_RDONLY | os.O_CLOEXEC)
            sha256 = _hash(descriptor, about, place) if hashed else None
        yield Inode(kind, about, descriptor, sha256)
    finally:
        os.close(named)
        if descriptor != named:
            os.close(descriptor)


def there(inode: Inode | None) -> Inode:
    """The inode, when there is one; nothing is what the system calls ENOENT."""
    if inode is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return inode


def check_hash(inode: Inode | None, place: Place, only_if: str | None) -> None:
    """Let only the file pass whose hash is `only_if`, or anything when that is None.

    Raises:
        StaleHash: It is another file, or none.
    """
    sha256 = inode.sha256 if inode else None
    if only_if is None or only_if.lower() == sha256:
        return
    raise StaleHash(
        f"'{place}' has changed since you read it" if sha256 else f"'{place}' is no longer there",
        hint="Read the file again, then repeat the change.",
        path=str(place),
        expected=only_if,
        found=sha256,
    )


def _hash(descriptor: int, about: os.stat_result, place: Place) -> str:
    surveys = place.mount.surveys
    if about.st_size > SMALL:
        return surveys.of_file(descriptor, about).sha256
    started = time.time_ns()
    return (surveys.kept(about) or surveys.of_bytes(os.pread(descriptor, SMALL, 0), about, started=started)).sha256


def _kind(about: os.stat_result) -> Kind:
    if stat.S_ISREG(about.st_mode):
        return Kind.FILE
    if stat.S_ISDIR(about.st_mode):
        return Kind.DIRECTORY
    return Kind.LINK if stat.S_ISLNK(about.st_mode) else Kind.OTHER


def _identity(about: os.stat_result) -> tuple[int, ...]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
