"""What can happen to a file, as `begin` is told of it.

`found` is what is on the disk when that is not what the store has as
the newest version: it is recorded first, so that it can be brought back.
`inode` is whatever helps the recovery to find the thing again, and
`folders_made` how many folders above it came into being with it.
"""

from dataclasses import dataclass
from typing import TypeAlias

from .contents import Content
from .files import PROJECT


@dataclass(frozen=True, kw_only=True)
class Write:
    """A file gets this content.

    `if_hash` is what its content must be now, `if_exists` whether the
    store must know it (True), must not (False), or either (None).
    `file_type` and `display_name` stay as they are when they are None.
    Without `was_there` the disk had lost what the store knows.
    """

    path: str
    content: Content
    kind: str = "write"
    mount: str = PROJECT
    file_type: str | None = None
    display_name: str | None = None
    if_hash: str | None = None
    if_exists: bool | None = None
    found: Content | None = None
    was_there: bool = True
    mode: int | None = None
    inode: str = ""
    folders_made: int = 0


@dataclass(frozen=True, kw_only=True)
class MakeFolder:
    """A folder comes into being."""

    path: str
    mount: str = PROJECT
    mode: int | None = None
    inode: str = ""
    folders_made: int = 0


@dataclass(frozen=True, kw_only=True)
class Move:
    """A file or folder, with everything in it, goes to a path where nothing is.

    With `replace`, what the store still has at the target is retired.
    `is_folder` says what an unknown source is.
    """

    source: str
    target: str
    mount: str = PROJECT
    is_folder: bool = False
    replace: bool = False
    found: Content | None = None
    inode: str = ""
    folders_made: int = 0


@dataclass(frozen=True, kw_only=True)
class Remove:
    """A file or an empty folder goes. A removed file keeps its versions, and the last one the mode that it had."""

    path: str
    mount: str = PROJECT
    is_folder: bool = False
    found: Content | None = None
    mode: int | None = None
    inode: str = ""


@dataclass(frozen=True, kw_only=True)
class Undelete:
    """A removed file comes back to where it was."""

    file_id: str
    mode: int | None = None
    folders_made: int = 0


@dataclass(frozen=True, kw_only=True)
class Import:
    """The store takes over what is on the disk: nothing has to follow, so the version is settled at once.

    `found` is None for a folder.
    """

    path: str
    found: Content | None
    mount: str = PROJECT
    file_type: str | None = None
    mode: int | None = None


@dataclass(frozen=True, kw_only=True)
class Lose:
    """The store takes over that something is no longer on the disk."""

    path: str
    mount: str = PROJECT


Change: TypeAlias = Write | MakeFolder | Move | Remove | Undelete | Import | Lose
