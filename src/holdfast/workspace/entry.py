"""One thing that is in a directory."""

import os
import stat
from enum import Enum
from typing import NamedTuple

from .place import Place


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


_KINDS = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK}


class Entry(NamedTuple):
    """A place with what is known of it without opening it; `size` is None for anything but files."""

    place: Place
    kind: Kind
    size: int | None
    modified: float

    @classmethod
    def of(cls, place: Place, about: os.stat_result) -> "Entry":
        """The entry at `place`, about which the system has told this."""
        if stat.S_ISREG(about.st_mode):
            return cls(place, Kind.FILE, about.st_size, about.st_mtime)
        return cls(place, Kind.of(about.st_mode), None, about.st_mtime)
