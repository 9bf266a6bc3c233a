"""What the tests of listing, walking, finding and searching share."""

from collections.abc import Iterable
from pathlib import Path

from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.entry import Entry
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.resolve import resolve_now
from holdfast.workspace.sight import Sight

ALL = Sight()
GUARDED = Sight(ProtectedPaths())


def at(mount: Mount, path: str = "") -> Place:
    """The place of a path."""
    return resolve_now(mount, path, written=path or ".")


def make(root: Path, *paths: str) -> None:
    """Files with their own path in them, and folders where a path ends in a slash."""
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith("/"):
            target.mkdir(exist_ok=True)
        else:
            target.write_text(f"{path}\n")


def paths(entries: Iterable[Entry]) -> list[str]:
    """The paths of entries, as they come."""
    return [entry.path for entry in entries]
