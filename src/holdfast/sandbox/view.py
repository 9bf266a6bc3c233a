"""What a command sees: the words that tell bubblewrap to show it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .environment import HOME, UID
from .settings import CommandLimits

_CONFINED = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"),
    *("--uid", str(UID), "--gid", str(UID), "--hostname", "holdfast", "--clearenv"),
)


@dataclass(frozen=True)
class Shown:
    """A tree, where it lies for whoever starts the command, and where it appears inside."""

    source: str
    at: str
    writable: bool = False


@dataclass(frozen=True)
class View:
    """All that is seen beside the system's own programs. `made` is the folder of `made.make`."""

    trees: Sequence[Shown]
    home: str
    made: str
    hidden: Sequence[tuple[str, bool]]
    covered: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    limits: CommandLimits


def words(view: View) -> list[str]:
    """bubblewrap's options for the view. Deeper paths come later, so that nothing covers them."""
    said = [*_CONFINED, "--ro-bind", "/usr", "/usr", *_top(), "--ro-bind", f"{view.made}/etc", "/etc", "--proc", "/proc", "--dev", "/dev"]
    said += ["--size", str(view.limits.shm_bytes), "--perms", "1777", "--tmpfs", "/dev/shm"]
    said += ["--size", str(view.limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]
    said += ["--size", str(view.limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/var/tmp"]
    said += ["--bind", view.home, HOME]
    for tree in sorted(view.trees, key=lambda tree: tree.at.count("/")):
        said += ["--bind" if tree.writable else "--ro-bind", tree.source, tree.at]
    for path in view.covered:
        said += ["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    for path, is_folder in view.hidden:
        said += ["--ro-bind", f"{view.made}/{'nothing' if is_folder else 'empty'}", path]
    # Without these the command could fill the memory with files in / and /dev.
    said += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", view.cwd]
    for name, value in view.environment.items():
        said += ["--setenv", name, value]
    return said


def _top() -> Iterable[str]:
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = f"/{name}"
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
