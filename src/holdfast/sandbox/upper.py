"""A folder that a command could fill as it liked, read without trusting anything in it.

Every path is opened beneath the folder's descriptor, and no link is
ever followed. Nothing but directories and regular files is opened.
"""

import ctypes
import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Event

from .layer import Layer

BLOCK = 256 * 1024
# What a folder's mode was that had to be opened for looking; a command that forges it could have set that mode as well.
_TRUE_MODE = "user.holdfast.mode"
_OPAQUE = ("user.overlay.opaque", "trusted.overlay.opaque")

_SYS_OPENAT2 = 437
_BENEATH = 0x08 | 0x04 | 0x02  # RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS
_TRIES = 128
_AS_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_AS_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_NO_ATTRIBUTE = (errno.ENODATA, errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENOENT)


class Stopped(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Seen:
    """An entry as it was met; `mode` is without the kind."""

    name: str
    about: os.stat_result
    mode: int

    @property
    def is_whiteout(self) -> bool:
        """Whether it says that something is gone: overlayfs writes a character device 0:0."""
        return stat.S_ISCHR(self.about.st_mode) and self.about.st_rdev == 0


@dataclass(frozen=True)
class Tree:
    """A folder by its descriptor; `is_ours` says that modes which keep us out may be changed for a moment."""

    root: int
    is_ours: bool = False

    def about(self, path: str) -> Seen | None:
        """The entry at a path, None for nothing."""
        above, _, name = path.rpartition("/")
        try:
            folder = open_beneath(self.root, above, os.O_PATH | os.O_DIRECTORY)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise
        try:
            return self._seen(folder, name)
        except FileNotFoundError:
            return None
        finally:
            os.close(folder)

    def entries(self, path: str) -> list[Seen]:
        """What is in a folder, by name; nothing when it is not ours and has gone, or become something else."""
        try:
            return self._entries(path)
        except OSError as error:
            if self.is_ours or error.errno not in _GONE:
                raise
            return []

    def _entries(self, path: str) -> list[Seen]:
        with self._directory(path) as folder:
            seen: list[Seen] = []
            for name in sorted(os.listdir(folder)):
                with suppress(FileNotFoundError):
                    seen.append(self._seen(folder, name))
            return seen

    def is_opaque(self, path: str) -> bool:
        """Whether a folder hides all that is below it in the lower."""
        with self._directory(path) as folder:
            return any(_attribute(folder, name) == b"y" for name in _OPAQUE)

    def link(self, path: str) -> str:
        """Where a link leads."""
        descriptor = open_beneath(self.root, path, os.O_PATH | os.O_NOFOLLOW)
        try:
            return os.readlink("", dir_fd=descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def opened(self, path: str) -> Generator[int]:
        """A regular file, open for reading.

        Raises:
            OSError: It is none, or cannot be read.
        """
        named = open_beneath(self.root, path, os.O_PATH | os.O_NOFOLLOW)
        try:
            about = os.fstat(named)
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, "not a file", path)
            descriptor = self._reopened(named, os.O_RDONLY, stat.S_IMODE(about.st_mode) | 0o400)
        finally:
            os.close(named)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _seen(self, folder: int, name: str) -> Seen:
        about = os.lstat(name, dir_fd=folder)
        mode = stat.S_IMODE(about.st_mode)
        if self.is_ours and stat.S_ISDIR(about.st_mode):
            mode = self._true_mode(folder, name, mode)
        return Seen(name, about, mode)

    def _true_mode(self, folder: int, name: str, mode: int) -> int:
        """The mode that the command gave; a folder that would keep us out is opened, for good, and remembers it."""
        named = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            said = _attribute(named, _TRUE_MODE)
            if said is not None and said.isdigit() and int(said) <= 0o7777:
                return int(said)
            if mode & 0o700 != 0o700 and os.geteuid() != 0:
                os.chmod(f"/proc/self/fd/{named}", mode | 0o700)
                with suppress(OSError):
                    os.setxattr(f"/proc/self/fd/{named}", _TRUE_MODE, b"%d" % mode)
            return mode
        finally:
            os.close(named)

    def _reopened(self, named: int, flags: int, mode: int) -> int:
        path = f"/proc/self/fd/{named}"
        try:
            return os.open(path, flags | os.O_CLOEXEC)
        except PermissionError:
            if not self.is_ours:
                raise
        before = stat.S_IMODE(os.fstat(named).st_mode)
        os.chmod(path, mode)
        try:
            return os.open(path, flags | os.O_CLOEXEC)
        finally:
            os.chmod(path, before)

    @contextmanager
    def _directory(self, path: str) -> Generator[int]:
        descriptor = open_beneath(self.root, path, _AS_DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def open_uppers(layer: Layer) -> Generator[dict[str, int]]:
    """The uppers of a layer by mount, as descriptors."""
    with ExitStack() as leaving:
        opened: dict[str, int] = {}
        for mount in layer.started:
            opened[mount] = os.open(layer.upper(mount), _AS_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            leaving.callback(os.close, opened[mount])
        yield opened


@contextmanager
def trees(layer: Layer, lowers: Mapping[str, int]) -> Generator[Iterator[tuple[str, Tree, Tree]]]:
    """For each mount its name, its upper and its lower."""
    with open_uppers(layer) as uppers:
        yield ((mount, Tree(uppers[mount], is_ours=True), Tree(lowers[mount])) for mount in sorted(uppers))


def sha256_of(descriptor: int, stop: Event | None = None) -> str:
    """The hash of a file's bytes, read from its beginning."""
    digest, position = hashlib.sha256(), 0
    while block := os.pread(descriptor, BLOCK, position):
        check_wanted(stop)
        digest.update(block)
        position += len(block)
    return digest.hexdigest()


def check_wanted(stop: Event | None) -> None:
    """Go on only while somebody waits.

    Raises:
        Stopped: Nobody does.
    """
    if stop is not None and stop.is_set():
        raise Stopped


# The call is in workspace/kernel.py too: the two may not import each other, and beneath both are only nouns, which touch no kernel.
class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


def open_beneath(root: int, path: str, flags: int) -> int:
    """Open a path beneath a directory; no component may be a link, but for the last one with O_PATH and O_NOFOLLOW."""
    if not _has_openat2():
        return _walk_beneath(root, path, flags)
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _BENEATH)
    name = os.fsencode(path) if path else b"."
    for _ in range(_TRIES):
        descriptor = int(_syscall(_SYS_OPENAT2, root, name, ctypes.byref(how), ctypes.sizeof(how)))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number), path)
    raise OSError(errno.EAGAIN, "the path is being moved about too fast", path)


def _walk_beneath(root: int, path: str, flags: int) -> int:
    """The same without `openat2`, one component at a time."""
    *folders, last = path.split("/") if path else ["."]
    current = os.dup(root)
    try:
        for name in folders:
            below = os.open(name, _AS_STEP, dir_fd=current)
            os.close(current)
            current = below
        return os.open(last, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=current)
    finally:
        os.close(current)


@cache
def _has_openat2() -> bool:
    how = _OpenHow(os.O_PATH | os.O_CLOEXEC, 0, _BENEATH)
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = int(_syscall(_SYS_OPENAT2, root, b".", ctypes.byref(how), ctypes.sizeof(how)))
    finally:
        os.close(root)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


def _attribute(descriptor: int, name: str) -> bytes | None:
    """An extended attribute of an open directory; by its link in /proc, since the descriptor may only name it."""
    try:
        return os.getxattr(f"/proc/self/fd/{descriptor}", name)
    except OSError as error:
        if error.errno in _NO_ATTRIBUTE:
            return None
        raise
