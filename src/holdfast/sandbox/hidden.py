"""Files in whose place a command sees an empty one."""

import os
import stat
from collections.abc import Mapping, Sequence

from .command import SandboxMount


def hidden_paths(hidden: Sequence[tuple[str, str]], mounts: Mapping[str, SandboxMount]) -> list[tuple[str, bool]]:
    """The paths to cover, and whether each is a folder.

    What is not there is left out: to cover it, it would have to be made.
    Where a link is named, what it leads to is covered, if that is inside.
    """
    found: dict[str, bool] = {}
    for name, path in hidden:
        if (mount := mounts.get(name)) is None:
            continue
        real_root = os.path.realpath(mount.root)
        real = os.path.realpath(os.path.join(mount.root, path))
        if not real.startswith(real_root + "/"):
            continue
        try:
            mode = os.stat(real, follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            found[os.path.join(mount.root, os.path.relpath(real, real_root))] = stat.S_ISDIR(mode)
    return list(found.items())
