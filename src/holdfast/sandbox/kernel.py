"""System calls about mounts and namespaces that Python does not have."""

import ctypes
import os

_CLONE_NEWNS = 0x20000
_MS_REC, _MS_PRIVATE, _MS_SHARED, _MS_NOSUID, _MS_NODEV = 0x4000, 1 << 18, 1 << 20, 2, 4
_MNT_DETACH = 2

# The same numbers on x86_64 and aarch64.
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_OPEN_TREE_CLONE, _AT_EMPTY_PATH, _AT_FDCWD = 1, 0x1000, -100
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_IDMAP = 0x100000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def leave_mount_namespace() -> None:
    """Give this thread mounts of its own, which nobody else sees."""
    _done(_libc.unshare(_CLONE_NEWNS), "unshare")
    _done(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "/")


def mount_tmpfs(path: str, mode: int) -> None:
    """An empty file system in memory."""
    _done(_libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", _MS_NOSUID | _MS_NODEV, f"mode={mode:o},size=1m".encode()), path)


def share_mount(path: str) -> None:
    """Have what is mounted beneath appear in the namespaces that were made from this one."""
    _done(_libc.mount(b"none", os.fsencode(path), None, _MS_SHARED, None), path)


def clone_mount(descriptor: int) -> int:
    """A mount of the tree at `descriptor`, attached nowhere; it is gone when the returned descriptor is closed."""
    flags = _OPEN_TREE_CLONE | _AT_EMPTY_PATH | os.O_CLOEXEC
    return _done(_libc.syscall(_SYS_OPEN_TREE, descriptor, b"", flags), "open_tree")


def map_owners(mount: int, user_namespace: int) -> None:
    """Have the files of a cloned mount appear to belong to whom the namespace maps their owners to."""
    wanted = _MountAttributes(_MOUNT_ATTR_IDMAP, 0, 0, user_namespace)
    size = ctypes.sizeof(wanted)
    _done(_libc.syscall(_SYS_MOUNT_SETATTR, mount, b"", _AT_EMPTY_PATH, ctypes.byref(wanted), size), "mount_setattr")


def attach(mount: int, path: str) -> None:
    """Attach a cloned mount at a path."""
    _done(_libc.syscall(_SYS_MOVE_MOUNT, mount, b"", _AT_FDCWD, os.fsencode(path), _MOVE_MOUNT_F_EMPTY_PATH), path)


def detach(path: str) -> None:
    """Take a mount away, also while it is in use."""
    _done(_libc.umount2(os.fsencode(path), _MNT_DETACH), path)


def _done(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result
