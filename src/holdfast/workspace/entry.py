"""One thing that is in a directory."""

import os
import stat
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What an entry is. `OTHER` is a device, FIFO or socket: listed, never opened."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"

    @classmethod
    def of(cls, mode: int) -> "Kind":
        """The kind that a file's mode tells."""
        return _KINDS.get(stat.S_IFMT(mode), cls.OTHER)


_KIND, _FILE = 0o170000, stat.S_IFREG
_KINDS = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK}


class Entry(NamedTuple):
    """A path, counted from the mount's root, with what is known of it without opening it; `size` is None for anything but files.

    It is no `Place`: whoever wants to open it asks the place that it was found in for one.
    """

    path: str
    kind: Kind
    size: int | None
    modified: float

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition("/")[2]

    @classmethod
    def of(cls, path: str, about: os.stat_result) -> "Entry":
        """The entry at `path`, about which the system has told this."""
        return cls.told(path, about.st_mode, about.st_size, about.st_mtime)

    @classmethod
    def told(cls, path: str, mode: int, size: int, modified: float) -> "Entry":
        """The entry at `path`, of which this is known."""
        if mode & _KIND == _FILE:
            return cls(path, Kind.FILE, size, modified)
        return cls(path, Kind.of(mode), None, modified)
