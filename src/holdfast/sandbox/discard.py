"""Removing what a command has left, as one removes any hostile tree: by descriptors, following nothing, however deep it is."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AS_ITSELF = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(folder: Path) -> None:
    """Remove all that is in a folder. What appears there meanwhile may stay.

    Directories are moved up before they are emptied, so that depth costs
    neither memory nor descriptors, and no path is too long.

    Raises:
        OSError: Something cannot be removed.
    """
    top = os.open(folder, _OPEN)
    try:
        moved = 0
        while names := os.listdir(top):
            for name in names:
                moved = _remove(top, name, moved)
    finally:
        os.close(top)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it; one that is not there is no mistake."""
    with suppress(FileNotFoundError):
        if folder.is_symlink():
            raise NotADirectoryError(str(folder))
        empty(folder)
        folder.rmdir()


def _remove(top: int, name: str, moved: int) -> int:
    """Remove an entry of `top`, whose own directories then lie in `top`; count those."""
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return moved
    folder = _opened(top, name)
    try:
        for inner in os.listdir(folder):
            if not _is_folder(folder, inner):
                os.unlink(inner, dir_fd=folder)
                continue
            try:
                os.rmdir(inner, dir_fd=folder)
            except OSError:
                _opened(folder, inner, only_make_ready=True)
                moved = _move_up(folder, inner, top, moved)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return moved


def _move_up(folder: int, inner: str, top: int, moved: int) -> int:
    while True:
        moved += 1
        try:
            os.rename(inner, f".{moved}", src_dir_fd=folder, dst_dir_fd=top)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                continue
            raise
        return moved


def _is_folder(directory: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)


def _opened(directory: int, name: str, *, only_make_ready: bool = False) -> int:
    """A directory that its owner may list and change, whatever mode it had."""
    itself = os.open(name, _AS_ITSELF | os.O_DIRECTORY, dir_fd=directory)
    try:
        if os.geteuid() != 0:
            os.chmod(f"/proc/self/fd/{itself}", 0o700)
        return -1 if only_make_ready else os.open(name, _OPEN, dir_fd=directory)
    finally:
        os.close(itself)
