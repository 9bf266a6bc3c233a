"""Making folders and empty files, and telling a file that it was touched."""

import os
from dataclasses import dataclass

from holdfast.vocabulary.errors import Exists, IsDirectory

from .change import Change, Verb
from .changes import Changes, Steps
from .entry import Kind
from .faults import told
from .folders import folder_of
from .inode import found
from .opening import check_regular
from .place import Place
from .stage import staged_file, staged_folder

_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@dataclass(frozen=True)
class Made:
    """Whether something new is there, or was there already."""

    created: bool


async def make_directory(changes: Changes, place: Place, *, parents: bool = True) -> Made:
    """Make a folder, unless it is there already.

    Raises:
        Exists: Something else than a folder is there.
        NotDirectory: Something else than a folder is on the way.
        NotFound: Its own folder is missing, and `parents` is false.
    """
    if not place.path:
        return Made(created=False)
    return await changes.make(lambda: _making(changes, place, parents=parents), place)


async def touch(changes: Changes, place: Place, *, parents: bool = False) -> Made:
    """Set a file's time to now, or make an empty one.

    Raises:
        IsDirectory, SpecialFile, AccessDenied, NotFound, Busy: As the names say.
    """
    if not place.path:
        raise IsDirectory(f"'{place}' is a directory, not a file", hint="Name a file in it.", path=str(place))
    return await changes.make(lambda: _touching(changes, place, parents=parents), place)


def _making(changes: Changes, place: Place, *, parents: bool) -> Steps[Made]:
    with (
        told(place),
        folder_of(place, make=parents) as folder,
        changes.gate.entered(folder.descriptor),
        found(folder.descriptor, place, hashed=False) as before,
    ):
        if before is not None:
            if before.kind is not Kind.DIRECTORY:
                raise Exists(f"'{place}' is a {before.kind.value}", hint="Choose another name for the folder.", path=str(place))
            return Made(created=False)
        with staged_folder(folder.descriptor) as staged:
            yield Change(Verb.MKDIR, place, None, staged.inode, folders=folder.made, author=changes.author)
            staged.put(place.name, instead_of=None)
        if changes.sync:
            folder.sync()
        return Made(created=True)


def _touching(changes: Changes, place: Place, *, parents: bool) -> Steps[Made]:
    with (
        told(place),
        folder_of(place, make=parents) as folder,
        changes.gate.entered(folder.descriptor),
        found(folder.descriptor, place, hashed=changes.ledger.durable) as before,
    ):
        if before is not None:
            check_regular(before.about, place)
            yield Change(Verb.TOUCH, place, before, before, author=changes.author)
            os.utime(before.descriptor)
            return Made(created=False)
        with staged_file(folder.descriptor, b"", _EMPTY_SHA256, like=None, sync=changes.sync) as staged:
            yield Change(Verb.TOUCH, place, None, staged.inode, folders=folder.made, author=changes.author)
            staged.put(place.name, instead_of=None)
        if changes.sync:
            folder.sync()
        return Made(created=True)
