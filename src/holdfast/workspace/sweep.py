"""Removing what a killed process left staged."""

import os
import re
import stat
import time
from contextlib import suppress

from .gate import Again, Gate
from .kernel import open_beneath
from .mount import Mount
from .sight import OWN_TEMPORARY

_OURS = re.compile(re.escape(OWN_TEMPORARY) + r"[0-9a-f]{16}")


async def sweep(mount: Mount, *, older_than_seconds: float) -> int:
    """Remove our own temporaries that nobody has touched for so long, and return how many there were.

    Some may belong to another process that is still at work: whatever
    folder it has locked is left alone. Where folders cannot be locked the
    age must be more than any write takes.
    """
    return await mount.pool.run(_sweep, mount, time.time() - older_than_seconds)


def _sweep(mount: Mount, before: float) -> int:
    swept, folders = 0, [""]
    while folders:
        path = folders.pop()
        # Whatever vanishes or cannot be entered on the way is none of our business.
        with suppress(OSError):
            folder = open_beneath(mount.descriptor, path, os.O_RDONLY | os.O_DIRECTORY, follow=False)
            try:
                swept += _sweep_one(folder, path, before, folders)
            finally:
                os.close(folder)
    return swept


def _sweep_one(folder: int, path: str, before: float, folders: list[str]) -> int:
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    folders += [f"{path}/{name}" if path else name for name, is_directory in found if is_directory and _OURS.fullmatch(name) is None]
    ours = [name for name, _ in found if _OURS.fullmatch(name) is not None]
    if not ours:
        return 0
    with suppress(Again), Gate().entered(folder):
        return sum(_removed(folder, name, before) for name in ours)
    return 0


def _removed(folder: int, name: str, before: float) -> bool:
    try:
        about = os.lstat(name, dir_fd=folder)
        if about.st_ctime > before:
            return False
        if stat.S_ISDIR(about.st_mode):
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True
