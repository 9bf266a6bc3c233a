"""What is to be, made under a name of our own beside the place where it belongs.

The name is not derived from the place's, which may be as long as a name
can be. Whatever is still staged when its block ends is removed.
"""

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from .entry import Kind
from .gate import Again
from .inode import Inode
from .kernel import RENAME_NOREPLACE, rename_beneath
from .sight import OWN_TEMPORARY

NEW_FILE_MODE = 0o644
NEW_FOLDER_MODE = 0o755
_PRIVATE = 0o600
_ACL = "system.posix_acl_access"
# A file system of another kind, or an old kernel, that cannot refuse to replace.
_CANNOT = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@dataclass(frozen=True)
class Staged:
    """Something new, finished but for its name."""

    folder: int
    name: str
    inode: Inode

    def put(self, name: str, *, instead_of: Inode | None) -> None:
        """Give it its name, in place of exactly what was there, or of nothing.

        Raises:
            Again: Meanwhile there is something else.
        """
        if instead_of is None:
            try:
                rename_new(self.folder, self.name, self.folder, name)
            except FileExistsError:
                raise Again from None
        elif instead_of.stands_at(self.folder, name):
            os.rename(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        else:
            raise Again


@contextmanager
def staged_file(folder: int, data: bytes, sha256: str, *, like: Inode | None, sync: bool) -> Generator[Staged]:
    """A file with these bytes, and with owner, mode and attributes of the one that it replaces."""
    name = OWN_TEMPORARY + secrets.token_hex(8)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with _in_standing_folder():
        descriptor = os.open(name, flags, NEW_FILE_MODE if like is None else _PRIVATE, dir_fd=folder)
    try:
        _write_all(descriptor, data)
        if like is None:
            give_to_owner_of(folder, descriptor)
        else:
            make_like(descriptor, like)
        if sync:
            os.fsync(descriptor)
        yield Staged(folder, name, Inode(Kind.FILE, os.fstat(descriptor), descriptor, sha256))
    finally:
        os.close(descriptor)
        # After a rename there is nothing left of that name.
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


@contextmanager
def staged_folder(folder: int) -> Generator[Staged]:
    """An empty folder, so that its inode is known before it appears."""
    name = OWN_TEMPORARY + secrets.token_hex(8)
    with _in_standing_folder():
        os.mkdir(name, NEW_FOLDER_MODE, dir_fd=folder)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            give_to_owner_of(folder, descriptor)
            yield Staged(folder, name, Inode(Kind.DIRECTORY, os.fstat(descriptor), descriptor))
        finally:
            os.close(descriptor)
    finally:
        with suppress(FileNotFoundError):
            os.rmdir(name, dir_fd=folder)


def rename_new(source_folder: int, source: str, target_folder: int, target: str) -> None:
    """Rename to a name that is free.

    Raises:
        FileExistsError: It is not.
    """
    try:
        rename_beneath(source_folder, source, target_folder, target, flags=RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        _rename_new_by_link(source_folder, source, target_folder, target)


def _rename_new_by_link(source_folder: int, source: str, target_folder: int, target: str) -> None:
    try:
        os.link(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
        os.unlink(source, dir_fd=source_folder)
    except PermissionError:
        # A folder, or a file system without links. All that is left is to look first.
        with suppress(FileNotFoundError):
            os.lstat(target, dir_fd=target_folder)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.rename(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)


@contextmanager
def _in_standing_folder() -> Generator[None]:
    """A folder that somebody removed after it was opened takes nothing new: it must be looked for again."""
    try:
        yield
    except FileNotFoundError:
        raise Again from None


def give_to_owner_of(folder: int, descriptor: int) -> None:
    """A server that runs as root must not take new files away from the person whose folder it is."""
    if os.geteuid() == 0:
        about = os.fstat(folder)
        os.fchown(descriptor, about.st_uid, about.st_gid)


def make_like(descriptor: int, like: Inode) -> None:
    """Give a new file owner, mode and attributes of the one that it is to replace."""
    mode = like.mode & 0o777
    try:
        os.fchown(descriptor, like.about.st_uid, like.about.st_gid)
    except PermissionError:
        if not _give_to_group(descriptor, like.about.st_gid):
            # The group that we have instead gets no more than everybody has.
            mode = (mode & 0o707) | (mode & 0o007) << 3
    _copy_attributes(descriptor, like)
    os.fchmod(descriptor, mode)


def _give_to_group(descriptor: int, group: int) -> bool:
    try:
        os.fchown(descriptor, -1, group)
    except PermissionError:
        return False
    return True


def _copy_attributes(descriptor: int, like: Inode) -> None:
    try:
        theirs, ours = os.listxattr(like.descriptor), os.listxattr(descriptor)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return
        raise
    # A folder with default rules may have given us some that the file did not have.
    if _ACL in ours and _ACL not in theirs:
        os.removexattr(descriptor, _ACL)
    for name in theirs:
        if name == _ACL or name.startswith("user."):
            os.setxattr(descriptor, name, os.getxattr(like.descriptor, name))


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
