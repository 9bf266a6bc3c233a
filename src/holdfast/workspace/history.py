"""What a person does with the memory of files: look at old versions, compare them, bring them and removed files back."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.store import files, versions
from holdfast.store.files import PROJECT, File
from holdfast.store.versions import Version
from holdfast.vocabulary.difference import difference
from holdfast.vocabulary.errors import Conflict, Exists, InvalidArguments, NotDirectory, NotFound, TooLarge

from . import make
from .author import Receipt, with_receipt
from .change import Change, Verb
from .changes import Changes, Steps
from .chats import ChatFile, path_of
from .faults import told
from .folders import folder_of
from .info import info
from .item import ContentKind, Item, Saved, VersionInfo, View
from .items import item_of
from .kept import LINK, load
from .mount import Mount
from .place import Place
from .read import EVERYTHING
from .records import Records
from .resolve import resolve
from .save import saved
from .view import MAX_VIEW_BYTES, kind_said, shown
from .write import write

MAX_COMPARED_BYTES = 4 * 1024 * 1024
_VERSIONS_A_PAGE = 1_000
_MAX_DELETED = 10_000


@dataclass(frozen=True)
class History:
    """The memory of one workspace, with the mounts in which its files lie."""

    records: Records
    changes: Changes
    mounts: Mapping[str, Mount]

    async def versions(self, file_id: str) -> list[VersionInfo]:
        """All versions of a file, the newest first.

        Raises:
            NotFound: There is no such file.
        """
        await self._row(file_id)
        told: list[VersionInfo] = []
        before: int | None = None
        while page := await versions.history(
            self.records.database, self.records.workspace_id, file_id, before=before, limit=_VERSIONS_A_PAGE
        ):
            told += [_told(version) for version in page]
            before = page[-1].number
        return told

    async def content(self, file_id: str, version_id: str | None) -> View:
        """What the file was by a version, or is by its newest.

        Raises:
            NotFound: There is no such file or version.
            NotKept: The version's bytes are not in the store.
        """
        row = await self._row(file_id)
        version = await self._version(file_id, version_id or row.version_id)
        data = await self._bytes(version)
        return shown(
            item_of(row.path, row, None), kind_said(version.content_kind, data), data, version.hash or "", EVERYTHING, MAX_VIEW_BYTES
        )

    async def bytes_of(self, file_id: str, version_id: str | None) -> tuple[VersionInfo, bytes]:
        """A version of a file, or its newest, with its bytes.

        Raises:
            NotFound, NotKept: As in `content`.
        """
        row = await self._row(file_id)
        version = await self._version(file_id, version_id or row.version_id)
        return _told(version), await self._bytes(version)

    async def difference(self, file_id: str, from_version: str, to_version: str) -> str:
        """A unified diff of two versions; empty when they are the same.

        Raises:
            NotFound, NotKept: As in `content`.
            TooLarge: One of them is too large to be compared.
        """
        row = await self._row(file_id)
        old, new = await self._version(file_id, from_version), await self._version(file_id, to_version)
        old_bytes, new_bytes = await self._bytes(old), await self._bytes(new)
        for data in (old_bytes, new_bytes):
            if len(data) > MAX_COMPARED_BYTES:
                hint = f"At most {MAX_COMPARED_BYTES} can be compared."
                raise TooLarge(f"a version has {len(data)} bytes", hint=hint, size=len(data), limit=MAX_COMPARED_BYTES)
        if ContentKind.BINARY in (kind_said(old.content_kind, old_bytes), kind_said(new.content_kind, new_bytes)):
            return "" if old_bytes == new_bytes else f"Binary files {_label(old)} and {_label(new)} differ\n"
        mount = self._mount(row)
        return (await mount.pool.run(difference, old_bytes, new_bytes, _label(old), _label(new))).text

    async def restore(self, file_id: str, version_id: str) -> Saved:
        """Make an old version the newest one.

        Raises:
            NotFound: There is no such file or version, or the file is deleted.
            InvalidArguments: That version has no content.
            NotKept: The version's bytes are not in the store.
        """
        row = await self._row(file_id)
        if row.deleted_at is not None:
            raise NotFound("the file is deleted", hint="Undelete it first.", file_id=file_id)
        version = await self._version(file_id, version_id)
        if version.hash is None or version.content_kind == LINK:
            raise InvalidArguments.of("version_id", "is a version without content", hint="Choose another version.")
        data = await self._bytes(version)
        place = await self._place(row)
        changes, receipt = with_receipt(self.changes, Receipt(kind="restore", content_kind=kind_said(version.content_kind, data)))
        await write(changes, place, data, parents=True)
        return saved(place, receipt)

    async def undelete(self, file_id: str) -> Saved:
        """Bring a removed file, folder or link back to where it was.

        Raises:
            NotFound: There is no such file.
            Conflict: It is not deleted.
            Exists: Something else is there now.
            NotKept: Its bytes are not in the store.
        """
        row = await self._row(file_id)
        if row.deleted_at is None:
            raise Conflict("the file is not deleted", hint="There is nothing to bring back.", file_id=file_id)
        place = await self._place(row)
        if await self.records.row(place) is not None or await _is_there(place):
            raise Exists(f"'{place}' is taken by another file", hint="Move that one away first.", path=str(place))
        data = await load(self.records, row.hash, row.size or 0, mount=place.mount) if row.hash is not None else b""
        changes, receipt = with_receipt(self.changes, Receipt(undeletes=file_id))
        if row.is_folder:
            await make.make_directory(changes, place)
        elif row.content_kind == LINK:
            await link(changes, place, data)
        else:
            await write(changes, place, data, exists=False, parents=True)
        return saved(place, receipt)

    async def deleted(self) -> list[Item]:
        """What can be undeleted in the project, the latest deletion first."""
        rows = await files.deleted(self.records.database, self.records.workspace_id, limit=_MAX_DELETED)
        return [item_of(row.path, row, None) for row in rows if row.mount == PROJECT]

    async def item(self, file_id: str) -> Item:
        """The file with that id, deleted or not.

        Raises:
            NotFound: There is none.
        """
        row = await self._row(file_id)
        if isinstance(row, ChatFile):
            return item_of(row.path, await self.records.chats.measured(row), None)
        if row.deleted_at is not None or row.is_virtual:
            return item_of(row.path, row, None)
        place = await self._place(row)
        return item_of(row.path, row, await info(place) if await _is_there(place) else None)

    async def _row(self, file_id: str) -> File:
        row = await files.get(self.records.database, self.records.workspace_id, file_id) or await self.records.chats.at(path_of(file_id))
        if row is None:
            raise NotFound("there is no file with that id", hint="List the files to see their ids.", file_id=file_id)
        return row

    async def _version(self, file_id: str, version_id: str | None) -> Version:
        found = await versions.get(self.records.database, self.records.workspace_id, version_id) if version_id else None
        if found is None or found.file_id != file_id:
            raise NotFound("the file has no such version", hint="Look at its history.", file_id=file_id, version_id=version_id)
        return found

    async def _bytes(self, version: Version) -> bytes:
        if version.hash is None:
            return b""
        return await load(self.records, version.hash, version.size or 0)

    def _mount(self, row: File) -> Mount:
        for mount in self.mounts.values():
            if self.records.name_of(mount) == row.mount:
                return mount
        raise NotFound("the file is in a mount that is not here", hint="Open the workspace with that mount.", mount=row.mount)

    async def _place(self, row: File) -> Place:
        """Where the file is. A link that stands in the way is not followed: the file is what bears the name."""
        return await resolve(self._mount(row), row.path, written=f"/{row.path}", follow=False)


async def link(changes: Changes, place: Place, target: bytes) -> None:
    """Make a link, which leads wherever `target` says: nothing of ours follows it out of the mount.

    Raises:
        Exists: Something is there.
    """
    await changes.make(lambda: _linking(changes, place, target), place)


def _linking(changes: Changes, place: Place, target: bytes) -> Steps[None]:
    with told(place), folder_of(place, make=True) as folder, changes.gate.entered(folder.descriptor):
        yield Change(Verb.WRITE, place, None, None, folders=folder.made, author=changes.author)
        os.symlink(os.fsdecode(target), place.name, dir_fd=folder.descriptor)
        if changes.sync:
            folder.sync()


async def _is_there(place: Place) -> bool:
    try:
        await info(place)
    except (NotFound, NotDirectory):
        return False
    return True


def _told(version: Version) -> VersionInfo:
    return VersionInfo(
        version_id=version.id,
        file_id=version.file_id,
        number=version.number,
        kind=version.kind,
        state=version.state,
        path=version.path,
        content_kind=version.content_kind,
        hash=version.hash,
        size=version.size,
        author=version.author,
        session_id=version.session_id,
        call_id=version.call_id,
        created_at=version.created_at,
    )


def _label(version: Version) -> str:
    return f"{version.path}@{version.number}"
