"""Writing a whole file, or making its new content from the old one."""

import errno
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from holdfast.vocabulary.errors import AccessDenied, ContentTooLarge, Exists, IsDirectory

from .change import Change, Verb
from .changes import Changes, Steps
from .faults import told
from .folders import folder_of
from .inode import Inode, check_hash, found
from .opening import check_regular
from .place import Place
from .stage import staged_file

MAX_REVISED_BYTES = 16 * 1024 * 1024

Revise: TypeAlias = Callable[[bytes], bytes]
Check: TypeAlias = Callable[[bytes | None, bytes], None]


@dataclass(frozen=True)
class Written:
    """What a file was and what it is now; `sha256_before` is None when there was none."""

    sha256_before: str | None
    sha256_after: str
    size: int

    @property
    def created(self) -> bool:
        """Whether there was nothing before."""
        return self.sha256_before is None


async def write(
    changes: Changes,
    place: Place,
    data: bytes,
    *,
    only_if: str | None = None,
    exists: bool | None = None,
    parents: bool = False,
    check: Check | None = None,
) -> Written:
    """Make `data` the whole content of a file, in one step that nobody sees half done.

    `exists` says that the file must, or must not, be there already.
    `check` is given the old bytes and the new, under the lock, and raises
    to refuse them.

    Raises:
        StaleHash: The file does not have the hash `only_if`.
        Exists, NotFound: It is there and must not be, or must be and is not; or its folder is missing.
        IsDirectory, SpecialFile, NoSpace, AccessDenied, Busy: As the names say.
    """
    conditions = _Conditions(only_if, exists, check)
    return await changes.make(lambda: _writing(changes, place, data, conditions, parents=parents), place)


async def revise(
    changes: Changes,
    place: Place,
    make: Revise,
    *,
    only_if: str | None = None,
    check: Check | None = None,
    max_bytes: int = MAX_REVISED_BYTES,
) -> Written:
    """Replace a file's content by what `make` makes of it, with nobody changing it in between.

    `make` runs in a thread, and again when another process was quicker.

    Raises:
        NotFound: There is no file.
        StaleHash: It does not have the hash `only_if`.
        ContentTooLarge: It has more than `max_bytes`, or would have.
    """
    conditions = _Conditions(only_if, exists=True, check=check, max_bytes=max_bytes)
    return await changes.make(lambda: _writing(changes, place, make, conditions), place)


@dataclass(frozen=True)
class _Conditions:
    """What must hold under the lock, or nothing is written."""

    only_if: str | None
    exists: bool | None
    check: Check | None
    max_bytes: int | None = None

    def require(self, before: Inode | None, place: Place) -> None:
        if before is None and self.exists:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if before is not None:
            check_regular(before.about, place)
        check_hash(before, place, self.only_if)
        if before is None:
            return
        if self.exists is False:
            raise Exists(f"'{place}' already exists", hint="Choose another name, or say that it may be replaced.", path=str(place))
        self.require_size(before.size, place)
        # A rename would not ask.
        if not os.access(f"/proc/self/fd/{before.descriptor}", os.W_OK, effective_ids=True):
            raise AccessDenied(f"permission denied: {place}", hint="The file may only be read; check its mode.", path=str(place))

    def require_size(self, size: int, place: Place) -> None:
        if self.max_bytes is not None and size > self.max_bytes:
            raise ContentTooLarge(
                f"'{place}' has {size} bytes", hint=f"At most {self.max_bytes} are possible here.", size=size, limit=self.max_bytes
            )


def _writing(changes: Changes, place: Place, content: bytes | Revise, conditions: _Conditions, *, parents: bool = False) -> Steps[Written]:
    if not place.path:
        raise IsDirectory(f"'{place}' is a directory, not a file", hint="Name a file in it.", path=str(place))
    with (
        told(place),
        folder_of(place, make=parents) as folder,
        changes.gate.entered(folder.descriptor),
        found(folder.descriptor, place) as before,
    ):
        conditions.require(before, place)
        data = content if isinstance(content, bytes) else content(before.read() if before else b"")
        conditions.require_size(len(data), place)
        if conditions.check is not None:
            conditions.check(before.read() if before else None, data)
        sha256 = hashlib.sha256(data).hexdigest()
        with staged_file(folder.descriptor, data, sha256, like=before, sync=changes.sync) as staged:
            yield Change(Verb.WRITE, place, before, staged.inode, folders=folder.made, author=changes.author)
            staged.put(place.name, instead_of=before)
        if changes.sync:
            folder.sync()
        return Written(before.sha256 if before else None, sha256, len(data))
