"""Promising a change: it is recorded as pending, in one transaction, before the disk is touched.

Whoever calls holds the locks of the paths, has looked at the disk, and
afterwards either does what was promised (`versions.settle`) or takes it
back (`versions.abort`). Where store and disk disagree about what is
there, the caller is believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import dirname
from typing import NamedTuple

from holdfast.vocabulary.errors import Conflict, Exists, NotFound, StaleHash

from . import audit, contents, files, versions
from .changes import Change, Import, Lose, MakeFolder, Move, Remove, Undelete, Write
from .contents import Content
from .database import Database, Durability, Transaction
from .files import DOCUMENT, FOLDER, File
from .leases import Lease, check_held
from .versions import PENDING, SETTLED, Origin, Version


@dataclass(frozen=True)
class Begun:
    """The file as it is by the change, and the version that says so."""

    file: File
    version: Version


async def begin(
    database: Database,
    lease: Lease,
    change: Change,
    origin: Origin,
    *,
    entry: audit.Entry | None = None,
) -> Begun:
    """Promise a change, and record its call (`entry`) with it; a repeated `origin.key` finds the promise already made.

    Raises:
        StaleHash: The content is not `if_hash`.
        Exists, NotFound: The path is taken, or nothing is there.
        LostLease: Another process has taken the workspace over.
        Conflict: The key was used for another change.
    """
    return (await begin_all(database, lease, [(change, origin)], entry=entry))[0]


async def begin_all(
    database: Database,
    lease: Lease,
    changes: Sequence[tuple[Change, Origin]],
    *,
    entry: audit.Entry | None = None,
) -> list[Begun]:
    """Promise several changes at once, all or none. Keys, where there are any, differ."""

    def work(transaction: Transaction) -> list[Begun]:
        check_held(transaction, lease)
        begun = [_Promise(transaction, lease, origin).of(change) for change, origin in changes]
        if entry is not None:
            audit.put(transaction, entry)
        return begun

    return await database.write(work)


async def record_all(database: Database, lease: Lease, changes: Sequence[tuple[Change, Origin]], *, again: bool = False) -> None:
    """Make versions of changes that were promised in another way, so that they are settled at once.

    With `again` some of them may have been made before, which their keys
    tell. That they outlast a power cut is up to that other promise too.
    """

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        folders: dict[tuple[str, str], str] = {}
        for change, origin in changes:
            _Promise(transaction, lease, origin, SETTLED).record(change, folders, again=again)

    await database.write(work, durability=Durability.RECORDED)


class _New(NamedTuple):
    """A file that has just come into being."""

    id: str
    mount: str
    path: str


@dataclass(frozen=True)
class _Promise:
    """One change on its way into the store."""

    transaction: Transaction
    lease: Lease
    origin: Origin
    state: str = PENDING

    def of(self, change: Change) -> Begun:
        version = self._made_before(change) or self._make(change)
        return Begun(self._file(version.file_id), version)

    def record(self, change: Change, folders: dict[tuple[str, str], str], *, again: bool) -> None:
        """Make the version; `folders` are ids that are known already, of many changes one after the other."""
        if again and self._made_before(change) is not None:
            return
        if not isinstance(change, Write | MakeFolder) or files.active(self.transaction, self.lease, change.mount, change.path) is not None:
            folders.clear()
            self._make(change)
            return
        above = (change.mount, dirname(change.path))
        if above not in folders:
            folders[above] = files.folder_id(self.transaction, self.lease, *above)
        is_folder = isinstance(change, MakeFolder)
        file_type = FOLDER if is_folder else change.file_type or DOCUMENT
        file_id = files.add(self.transaction, self.lease, change.mount, change.path, file_type=file_type, parent_id=folders[above])
        if is_folder:
            folders[change.mount, change.path] = file_id
        else:
            contents.put(self.transaction, change.content)
        versions.add(
            self.transaction,
            self.lease,
            _New(file_id, change.mount, change.path),
            self.origin,
            kind="mkdir" if is_folder else change.kind,
            body=None if is_folder else change.content,
            before_path=None,
            state=self.state,
            mode=change.mode,
            inode=change.inode,
            is_first=True,
        )

    def _made_before(self, change: Change) -> Version | None:
        if self.origin.key is None:
            return None
        version = versions.by_key(self.transaction, self.lease, self.origin.key)
        if version is None:
            return None
        same_place = isinstance(change, Undelete) or version.path == (change.target if isinstance(change, Move) else change.path)
        if not same_place or (isinstance(change, Write) and version.hash != change.content.hash):
            raise Conflict("the key was used for another change", hint="Use a new key.", key=version.key)
        return version

    def _make(self, change: Change) -> Version:
        match change:
            case Write():
                return self._write(change)
            case MakeFolder():
                return self._make_folder(change)
            case Move():
                return self._move(change)
            case Remove():
                return self._remove(change)
            case Undelete():
                return self._undelete(change)
            case Import():
                return self._import(change)
            case Lose():
                return self._lose(change)

    def _write(self, change: Write) -> Version:
        there = self._active(change.mount, change.path, folder=False)
        if change.if_exists is False and there is not None:
            raise _taken(change.path)
        if change.if_exists and there is None and change.found is None:
            raise _missing(change.path)
        file = there or self._add(change.mount, change.path, change.file_type or DOCUMENT)
        file = self._caught_up(file, change.found)
        if change.if_hash is not None and change.if_hash != file.hash:
            raise StaleHash(
                f"{change.path} has changed since you read it",
                hint="Read the file again, then repeat the change.",
                expected=change.if_hash,
                found=file.hash,
            )
        files.dress(self.transaction, self.lease, file, file_type=change.file_type, display_name=change.display_name)
        contents.put(self.transaction, change.content)
        return versions.add(
            self.transaction,
            self.lease,
            file,
            self.origin,
            kind=change.kind,
            body=change.content,
            before_path=change.path if change.was_there and (file.version_id or there) else None,
            state=self.state,
            mode=change.mode,
            inode=change.inode,
            folders_made=change.folders_made,
        )

    def _make_folder(self, change: MakeFolder) -> Version:
        there = self._active(change.mount, change.path, folder=True)
        file = there or self._add(change.mount, change.path, FOLDER)
        before_path = change.path if there else None
        return versions.add(
            self.transaction,
            self.lease,
            file,
            self.origin,
            kind="mkdir",
            body=None,
            before_path=before_path,
            state=self.state,
            mode=change.mode,
            inode=change.inode,
            folders_made=change.folders_made,
        )

    def _move(self, change: Move) -> Version:
        if change.target == change.source or change.target.startswith(f"{change.source}/"):
            raise Conflict(f"{change.source} cannot be moved into itself", hint="Choose another target.")
        taken = files.active(self.transaction, self.lease, change.mount, change.target)
        if taken is not None and not change.replace:
            raise _taken(change.target)
        if taken is not None:
            files.retire(self.transaction, self.lease, taken)
        file = self._known(change, change.source)
        files.place_at(self.transaction, self.lease, file, change.target)
        return versions.add(
            self.transaction,
            self.lease,
            self._file(file.id),
            self.origin,
            kind="move",
            body=file,
            before_path=change.source,
            state=self.state,
            inode=change.inode,
            folders_made=change.folders_made,
        )

    def _remove(self, change: Remove) -> Version:
        file = self._known(change, change.path)
        files.retire(self.transaction, self.lease, file)
        return versions.add(
            self.transaction,
            self.lease,
            file,
            self.origin,
            kind="remove",
            body=file,
            before_path=change.path,
            state=self.state,
            mode=change.mode,
            inode=change.inode,
        )

    def _undelete(self, change: Undelete) -> Version:
        file = files.by_id(self.transaction, self.lease, change.file_id)
        if file is None or file.deleted_at is None or file.version_id is None:
            raise NotFound("there is no deleted file with that id", file_id=change.file_id)
        if files.active(self.transaction, self.lease, file.mount, file.path) is not None:
            raise _taken(file.path)
        files.place_at(self.transaction, self.lease, file, file.path)
        return versions.add(
            self.transaction,
            self.lease,
            file,
            self.origin,
            kind="undelete",
            body=file,
            before_path=None,
            state=self.state,
            mode=change.mode,
            folders_made=change.folders_made,
        )

    def _import(self, change: Import) -> Version:
        folder = change.found is None
        there = self._active(change.mount, change.path, folder=folder)
        file = there or self._add(change.mount, change.path, change.file_type or (FOLDER if folder else DOCUMENT))
        return self._imported(file, change.found, mode=change.mode)

    def _lose(self, change: Lose) -> Version:
        file = files.active(self.transaction, self.lease, change.mount, change.path)
        if file is None:
            raise _missing(change.path)
        files.retire(self.transaction, self.lease, file)
        return versions.add(
            self.transaction, self.lease, file, self.origin, kind="external", state=SETTLED, body=file, before_path=change.path
        )

    def _file(self, file_id: str) -> File:
        file = files.by_id(self.transaction, self.lease, file_id)
        assert file is not None
        return file

    def _active(self, mount: str, path: str, *, folder: bool) -> File | None:
        """What the store has at the path; retired when it is of the other kind, for then the disk has changed."""
        there = files.active(self.transaction, self.lease, mount, path)
        if there is None or there.is_folder == folder:
            return there
        files.retire(self.transaction, self.lease, there)
        return None

    def _add(self, mount: str, path: str, file_type: str) -> File:
        return self._file(files.add(self.transaction, self.lease, mount, path, file_type=file_type))

    def _known(self, change: Move | Remove, path: str) -> File:
        """The file that is to go, imported first when the store does not know it as it is."""
        there = files.active(self.transaction, self.lease, change.mount, path)
        if there is None and change.found is None and not change.is_folder:
            raise _missing(path)
        file = there or self._add(change.mount, path, FOLDER if change.is_folder else DOCUMENT)
        return self._caught_up(file, change.found)

    def _caught_up(self, file: File, found: Content | None) -> File:
        """The file with what was found on the disk as its newest version."""
        if found is None or found.hash == file.hash:
            return file
        self._imported(file, found)
        return self._file(file.id)

    def _imported(self, file: File, found: Content | None, *, mode: int | None = None) -> Version:
        if found is not None:
            contents.put(self.transaction, found)
        # Nobody of ours made it, so neither author nor key belong to it; the call that met it does.
        met = Origin(session_id=self.origin.session_id, call_id=self.origin.call_id)
        kind = "external" if file.version_id else "baseline"
        return versions.add(self.transaction, self.lease, file, met, kind=kind, state=SETTLED, body=found, before_path=file.path, mode=mode)


def _taken(path: str) -> Exists:
    return Exists(f"'{path}' already exists", hint="Choose another name.", path=path)


def _missing(path: str) -> NotFound:
    return NotFound(f"file not found: {path}", hint="Check the path, or list the directory.", path=path)
