"""What the store has beneath a folder, asked for no more than is needed: of most files only the path is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.store import files
from holdfast.store.files import File, Known

from .absent import absent
from .place import Place
from .records import Records

# So many rows are asked for one by one; over a network each is a way of its own, and here it costs as much as reading two.
_FEW_NEAR = 500
_FEW_FAR = 4


@dataclass(frozen=True)
class Rows:
    """The folder's own row, and by their paths what the store knows beneath it."""

    records: Records
    top: Place
    folder: File | None
    known: dict[str, Known]
    _read: dict[str, File] = field(default_factory=dict[str, File])

    async def of(self, paths: Sequence[str]) -> dict[str, File]:
        """The whole rows of some of them."""
        if self._read:
            return self._read
        few = min(_FEW_NEAR, max(_FEW_FAR, len(self.known) // 2)) if self.records.database.embedded else _FEW_FAR
        if len(paths) <= few:
            each = [await self.records.row_at(self.top.mount, path) for path in paths]
            return {row.path: row for row in each if row is not None}
        mount = self.records.name_of(self.top.mount)
        every = await files.below(self.records.database, self.records.workspace_id, self.top.path, mount=mount)
        return {row.path: row for row in every}

    async def missing_on_disk(self, wanted: Iterable[Known]) -> list[str]:
        """The paths of those that only the store has."""
        paths = [one.path for one in wanted if not one.is_virtual]
        missing = await self.top.mount.pool.run(absent, self.top.mount, paths) if paths else set[str]()
        return [one.path for one in wanted if one.is_virtual or one.path in missing]


async def rows_beneath(records: Records, place: Place, *, recursive: bool) -> Rows:
    """What the store knows in a folder, or at any depth below it; what it knows of a file is the file itself."""
    folder = await records.row(place)
    if folder is None and place.path:
        return Rows(records, place, None, {})
    if folder is not None and not folder.is_folder:
        return Rows(records, place, folder, {folder.path: _known(folder)}, {folder.path: folder})
    mount = records.name_of(place.mount)
    if recursive:
        known = await files.known_below(records.database, records.workspace_id, place.path, mount=mount)
        return Rows(records, place, folder, {one.path: one for one in known})
    children = await files.children(records.database, records.workspace_id, folder, mount=mount)
    return Rows(records, place, folder, {row.path: _known(row) for row in children}, {row.path: row for row in children})


def _known(row: File) -> Known:
    return Known(row.path, row.is_folder, row.is_virtual)
