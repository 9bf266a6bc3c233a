"""Moving or renaming a file, a link or a folder with all that is in it."""

import errno
import os
from dataclasses import dataclass

from holdfast.vocabulary.errors import Exists, InvalidArguments

from .change import Change, Verb
from .changes import Changes, Steps
from .entry import Kind
from .faults import told
from .folders import Folder, folder_of
from .gate import Again
from .inode import found, there
from .place import Place
from .stage import rename_new


@dataclass(frozen=True)
class Moved:
    """What is somewhere else now."""

    kind: Kind
    size: int


async def move(changes: Changes, source: Place, target: Place, *, parents: bool = False) -> Moved:
    """Give what stands at `source` the path `target`, where nothing may stand; a link is moved itself.

    Raises:
        NotFound: There is no source, or the target's folder is missing.
        Exists: Something is at the target already.
        InvalidArguments: A folder cannot go into itself, nor anything to another disk.
        SpecialFile, AccessDenied, Busy: As the names say.
    """
    if target.mount is source.mount and target.path.startswith(f"{source.path}/"):
        raise _into_itself()
    return await changes.make(lambda: _moving(changes, source, target, parents=parents), source, target)


def _moving(changes: Changes, source: Place, target: Place, *, parents: bool) -> Steps[Moved]:
    with (
        told(source),
        folder_of(source) as left,
        told(target),
        folder_of(target, make=parents) as entered,
        changes.gate.entered(left.descriptor, entered.descriptor),
    ):
        with told(source), found(left.descriptor, source, hashed=changes.ledger.durable) as before:
            inode = there(before)
            _check_free(entered, target)
            yield Change(Verb.MOVE, source, inode, inode, target=target, folders=entered.made, author=changes.author)
            if not inode.stands_at(left.descriptor, source.name):
                raise Again
            with told(target):
                _rename(left, source.name, entered, target.name)
        if changes.sync:
            entered.sync()
            left.sync()
        return Moved(inode.kind, inode.size)


def _check_free(folder: Folder, target: Place) -> None:
    try:
        os.lstat(target.name, dir_fd=folder.descriptor)
    except FileNotFoundError:
        return
    raise Exists(f"'{target}' already exists", hint="Choose another name.", path=str(target))


def _rename(left: Folder, source: str, entered: Folder, target: str) -> None:
    try:
        rename_new(left.descriptor, source, entered.descriptor, target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise InvalidArguments.of("destination", "is on another disk", hint="Write it there, then remove it here.") from error
        if error.errno == errno.EINVAL:
            raise _into_itself() from error
        raise


def _into_itself() -> InvalidArguments:
    return InvalidArguments.of("destination", "is inside of what is to be moved", hint="A folder cannot be moved into itself.")
