"""The few calls to the kernel that Python does not make for us.

`open_beneath` is the only way in which a path string of a caller ever
reaches the operating system: the kernel itself keeps the walk beneath
the descriptor, so what was checked is what is opened.
"""

import ctypes
import errno
import os
import platform
import stat
from functools import cache, lru_cache

_SYS_OPENAT2 = 437
_SYS_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(platform.machine(), 276)

_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RESOLVE_CACHED = 0x20

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2

_TRIES = 128
_MAX_LINKS = 40
_MAX_PATH_BYTES = 4095
_AS_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


# The call is in sandbox/upper.py too: the two may not import each other, and beneath both are only nouns, which touch no kernel.
class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_HOW_BYTES = ctypes.sizeof(_OpenHow)


@lru_cache(maxsize=64)
def _how(flags: int, mode: int, resolve: int) -> _OpenHow:
    """The kernel only reads it, so that all calls of one kind share one."""
    return _OpenHow(flags, mode, resolve)


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


class WouldBlock(Exception):
    """The answer is not in memory: ask again from a thread that may wait."""


def open_beneath(root: int, path: str, flags: int, *, mode: int = 0, follow: bool = True, cached: bool = False) -> int:
    """Open `path`, which the kernel keeps beneath the directory `root`, and return a descriptor.

    Without `follow` no component may be a link. With `cached` nothing is
    waited for.

    Raises:
        WouldBlock: Only with `cached`: the walk would have to wait.
        OSError: EXDEV when the path leads outside; ELOOP when it meets a link and may not follow.
    """
    if not has_openat2():
        if cached:
            raise WouldBlock
        return _walk_beneath(root, path, flags, mode, follow=follow)
    resolve = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS
    if not follow:
        resolve |= _RESOLVE_NO_SYMLINKS
    if cached:
        resolve |= _RESOLVE_CACHED
    how = _how(flags | os.O_CLOEXEC, mode, resolve)
    name = os.fsencode(path) if path else b"."
    for _ in range(_TRIES):
        descriptor = int(_syscall(_SYS_OPENAT2, root, name, ctypes.byref(how), _HOW_BYTES))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        # EINVAL: before Linux 5.12 the kernel does not know RESOLVE_CACHED.
        if cached and number in (errno.EAGAIN, errno.EINVAL):
            raise WouldBlock
        # EAGAIN without `cached`: something was renamed during the walk.
        if number not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number), path)
    raise OSError(errno.EAGAIN, "the path is being moved about too fast", path)


def rename_beneath(source_parent: int, source: str, target_parent: int, target: str, *, flags: int = 0) -> None:
    """Rename by descriptors; `flags` may forbid replacing, or ask for an exchange."""
    if not flags:
        os.rename(source, target, src_dir_fd=source_parent, dst_dir_fd=target_parent)
        return
    if _syscall(_SYS_RENAMEAT2, source_parent, os.fsencode(source), target_parent, os.fsencode(target), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


@cache
def has_openat2() -> bool:
    """Whether the kernel has `openat2` (Linux 5.6) and lets us use it."""
    how = _OpenHow(os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_BENEATH)
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = int(_syscall(_SYS_OPENAT2, root, b".", ctypes.byref(how), ctypes.sizeof(how)))
    finally:
        os.close(root)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


def _walk_beneath(root: int, path: str, flags: int, mode: int, *, follow: bool) -> int:
    """The same promise without `openat2`: one component at a time; the kernel follows no link, we follow those that stay inside."""
    if len(os.fsencode(path)) > _MAX_PATH_BYTES:
        raise _fault(errno.ENAMETOOLONG, path)
    if path.startswith("/"):
        raise _fault(errno.EXDEV, path)
    trail = [os.dup(root)]
    left = path.split("/")[::-1]
    links = 0
    try:
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            if part == "..":
                _step_back(trail, path)
                continue
            # With these flags a link at the end is the thing itself, or is in the way of it.
            is_itself = not left and flags & (os.O_NOFOLLOW | os.O_EXCL)
            target = None if is_itself else _link_target(part, trail[-1])
            if target is None and left:
                trail.append(os.open(part, _AS_STEP, dir_fd=trail[-1]))
                continue
            if target is None:
                return _open_last(part, flags, mode, trail[-1], path)
            links += 1
            if not follow or links > _MAX_LINKS:
                raise _fault(errno.ELOOP, path)
            if target.startswith("/"):
                raise _fault(errno.EXDEV, path)
            left.extend(target.split("/")[::-1])
        return os.open(".", flags | os.O_CLOEXEC, mode, dir_fd=trail[-1])
    finally:
        for descriptor in trail:
            os.close(descriptor)


def _open_last(name: str, flags: int, mode: int, directory: int, path: str) -> int:
    descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=directory)
    # O_PATH opens a link itself instead of answering ELOOP; it has come there since we looked.
    if flags & os.O_PATH and not flags & os.O_NOFOLLOW and stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _fault(errno.ELOOP, path)
    return descriptor


def _step_back(trail: list[int], path: str) -> None:
    """Go back the way we came: what the kernel calls `..` may be elsewhere by now."""
    if len(trail) == 1:
        raise _fault(errno.EXDEV, path)
    os.close(trail.pop())


def _link_target(name: str, directory: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:  # not a link
            return None
        raise


def _fault(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
