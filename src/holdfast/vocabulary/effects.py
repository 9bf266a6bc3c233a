"""What a command did to the files that it saw."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property


class EffectKind(Enum):
    """How an entry differs from before."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE = "mode"


class EntryType(Enum):
    """What an entry is. `OTHER` is a socket, FIFO or device: named, never kept."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Effect:
    """One difference in bytes, type, mode bits or link target.

    `hash` is of a file's bytes or a link's target, "" for the rest.
    `before` is the path that a renamed entry had. `is_whole` is a folder
    that went with everything in it, which is then not listed. `note` says
    in words what a person should know: a link that leads outside,
    something that cannot be kept.
    """

    mount: str
    path: str
    kind: EffectKind
    type: EntryType
    mode: int = 0
    size: int = 0
    hash: str = ""
    before: str = ""
    is_whole: bool = False
    is_protected: bool = False
    is_ignored: bool = False
    note: str = ""


@dataclass(frozen=True)
class Effects:
    """All that one command did, by mount and path; `hash` is what an approval of it is bound to."""

    every: tuple[Effect, ...] = ()

    @classmethod
    def of(cls, effects: Iterable[Effect]) -> "Effects":
        """The effects, in any order."""
        return cls(tuple(sorted(effects, key=lambda one: (one.mount, one.path.split("/")))))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that could be approved."""
        total = hashlib.sha256()
        for one in self.every:
            said = (one.mount, one.path, one.kind.value, one.type.value, f"{one.mode:o}", str(one.size), one.hash, one.before)
            total.update("\0".join(said).encode(errors="surrogateescape") + b"\n")
        return total.hexdigest()

    def __bool__(self) -> bool:
        return bool(self.every)

    def __len__(self) -> int:
        return len(self.every)
