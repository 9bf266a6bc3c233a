"""Which of many paths the disk has nothing at."""

import errno
import os
from collections import defaultdict
from collections.abc import Iterable

from .kernel import open_beneath
from .mount import Mount

_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV)


def absent(mount: Mount, paths: Iterable[str]) -> set[str]:
    """Those of the paths that lead to nothing; each folder is opened once. What may not be looked at counts as there."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder[folder].append(name)
    missing: set[str] = set()
    for folder, names in by_folder.items():
        prefix = f"{folder}/" if folder else ""
        try:
            descriptor = open_beneath(mount.descriptor, folder, os.O_PATH | os.O_DIRECTORY, follow=False)
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                missing.update(prefix + name for name in names)
            continue
        try:
            missing.update(prefix + name for name in names if not _is_there(descriptor, name))
        finally:
            os.close(descriptor)
    return missing


def _is_there(folder: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True
