"""The protected files of a tree, so that they can be hidden from a command."""

from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.protected import ProtectedPaths

from .directories import Names
from .mount import Mount
from .resolve import resolve_now
from .sight import Sight
from .walk import runs

# Repositories do not work without their config; and what was installed has files whose names only sound like secrets.
_NOT_ENTERED = frozenset({".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__"})


def protected_files(mount: Mount, protected: ProtectedPaths) -> list[str]:
    """Their paths, counted from the mount's root."""
    found: list[str] = []
    try:
        for run in runs(resolve_now(mount, "", written="."), Sight(), True, _files, look=False):
            if protected.may_cover("\n".join(run.paths())):
                found += [path for path in run.paths() if protected.covers(path, mount=mount.name)]
    except NotFound:
        return []
    return found


def _files(state: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
    return names.files, [(name, state) for name in names.directories if name not in _NOT_ENTERED]
