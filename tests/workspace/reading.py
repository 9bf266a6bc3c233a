"""What tests of reading need again and again."""

import hashlib

from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.resolve import resolve_now

# More than any file of a test has.
PLENTY = 1 << 30


def at(mount: Mount, path: str) -> Place:
    """The place of a path."""
    return resolve_now(mount, path, written=path)


def sha256(data: bytes) -> str:
    """The hash, by the way that everybody knows."""
    return hashlib.sha256(data).hexdigest()
