"""Programs that live elsewhere than in /usr: what of them may be shown.

A folder on PATH is shown, to be read. So is the folder above it when that
is an installation, with libraries beside its programs: an interpreter is
of no use without them. A home folder, `~/.local` and whatever contains a
mount or Holdfast's own data is never shown whole, because other things
than programs live there. What a tool keeps elsewhere, such as Rust's
toolchains in `~/.rustup`, is not found.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

_ALREADY = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
_NEVER = ("/", "/proc", "/sys", "/dev", "/etc", "/tmp", "/var", "/home", "/root", "/run", "/opt", "/srv", "/mnt", "/media")
_PROGRAMS = ("bin", "sbin", "shims")
_LIBRARIES = ("lib", "lib64", "libexec", "versions")


def tool_folders(path: str, *, private: Sequence[Path], homes: Sequence[Path]) -> list[str]:
    """The folders to show for a PATH, none inside another.

    `private` are folders that must not be seen through a tool's folder,
    nor be part of one: mounts, which are shown anyway, and our data.
    """
    wanted: list[str] = []
    for entry in _entries(path):
        whole = os.path.dirname(entry)
        if os.path.basename(entry) in _PROGRAMS and _is_installation(whole) and _may_show(whole, private, homes):
            wanted.append(whole)
        elif _may_show(entry, private, homes):
            wanted.append(entry)
    return _outermost(wanted)


def _entries(path: str) -> Iterable[str]:
    for entry in path.split(":"):
        folder = os.path.normpath(entry)
        if os.path.isabs(entry) and os.path.isdir(folder) and not any(_beneath(folder, top) for top in _ALREADY):
            yield folder


def _is_installation(folder: str) -> bool:
    return os.path.basename(folder) != ".local" and any(os.path.isdir(os.path.join(folder, name)) for name in _LIBRARIES)


def _may_show(folder: str, private: Sequence[Path], homes: Sequence[Path]) -> bool:
    real = os.path.realpath(folder)
    for one in (folder, real):
        if one in _NEVER or any(_beneath(str(home), one) for home in homes):
            return False
        if any(_beneath(str(own), one) or _beneath(one, str(own)) for own in private):
            return False
    return True


def _outermost(folders: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for folder in sorted(set(folders), key=lambda one: one.count("/")):
        if not any(_beneath(folder, outer) for outer in kept):
            kept.append(folder)
    return kept


def _beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
