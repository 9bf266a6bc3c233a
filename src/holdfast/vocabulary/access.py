"""What a call wants to touch, as policy judges it."""

from dataclasses import dataclass
from enum import Enum


class Want(Enum):
    """How a thing is to be touched."""

    READ = "read"
    WRITE = "write"


class MountMode(Enum):
    """What may be done in a mount."""

    READ_ONLY = "ro"
    READ_WRITE = "rw"


@dataclass(frozen=True)
class FileAccess:
    """One path of one mount, checked to be inside, with the argument that asked for it.

    `path` is the true one, counted from the mount's root with all links
    followed; `named` is the same before links were followed, and
    `written` is what the caller wrote. `only` is the one mount that the
    tool works in, when there is such.
    """

    argument: str
    want: Want
    mount: str
    mode: MountMode
    path: str
    named: str
    written: str
    only: str | None = None
