"""Removing a file, a link or an empty folder."""

import errno
import os
from dataclasses import dataclass

from .change import Change, Verb
from .changes import Changes, Steps
from .entry import Kind
from .faults import told
from .folders import folder_of
from .gate import Again
from .inode import check_hash, found, there
from .place import Place


@dataclass(frozen=True)
class Removed:
    """What is no longer there."""

    kind: Kind
    size: int
    sha256: str | None


async def remove(changes: Changes, place: Place, *, only_if: str | None = None) -> Removed:
    """Remove what stands at the place; a link is removed itself, and not what it leads to.

    Raises:
        NotFound: Nothing is there.
        NotEmpty: A folder with something in it is there.
        StaleHash: It is no file with the hash `only_if`.
        SpecialFile, AccessDenied, Busy: As the names say.
    """
    return await changes.make(lambda: _removing(changes, place, only_if), place)


def _removing(changes: Changes, place: Place, only_if: str | None) -> Steps[Removed]:
    # A ledger keeps the bytes; without one the hash of a large file would be read for nothing.
    hashed = only_if is not None or changes.ledger.durable
    with (
        told(place),
        folder_of(place) as folder,
        changes.gate.entered(folder.descriptor),
        found(folder.descriptor, place, hashed=hashed) as before,
    ):
        inode = there(before)
        check_hash(inode, place, only_if)
        if inode.kind is Kind.DIRECTORY:
            _check_empty(inode.descriptor)
        yield Change(Verb.REMOVE, place, inode, None, author=changes.author)
        if not inode.stands_at(folder.descriptor, place.name):
            raise Again
        if inode.kind is Kind.DIRECTORY:
            os.rmdir(place.name, dir_fd=folder.descriptor)
        else:
            os.unlink(place.name, dir_fd=folder.descriptor)
        if changes.sync:
            folder.sync()
        return Removed(inode.kind, inode.size, inode.sha256)


def _check_empty(folder: int) -> None:
    with os.scandir(f"/proc/self/fd/{folder}") as entries:
        if next(entries, None) is not None:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
