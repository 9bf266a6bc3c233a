"""The plans of a workspace: files of that type, and those on the disk that are named like one."""

from collections.abc import Sequence
from contextlib import suppress

from holdfast.store import files
from holdfast.vocabulary.errors import HoldfastError, NotDirectory, NotFound

from .entry import Entry, Kind
from .find import Criteria, find
from .item import Item
from .items import item_of
from .kept import load
from .place import Place
from .read import Slice, read
from .records import Records
from .sight import Sight

PLAN = "plan"
FOLDER = "plans"
MAX_PLAN_BYTES = 4 * 1024 * 1024


async def plan_files(records: Records | None, root: Place) -> list[tuple[Item, bytes]]:
    """Every plan with its bytes, by path; `root` is that of the project. What cannot be read is left out."""
    found: dict[str, tuple[Item, bytes]] = {}
    rows = await files.of_type(records.database, records.workspace_id, PLAN, mount=records.name_of(root.mount)) if records else []
    for row in rows:
        with suppress(HoldfastError):
            place = root.below(row.path)
            part = await _read(place)
            if part is not None:
                found[row.path] = item_of(row.path, row, Entry(row.path, Kind.FILE, part.size, part.modified)), part.data
            elif records is not None and row.hash is not None:
                found[row.path] = item_of(row.path, row, None), await load(records, row.hash, row.size or 0, mount=root.mount)
    for entry in await _named_like_one(root):
        place = root.below(entry.path)
        if entry.path not in found and (records is None or await records.row(place) is None):
            with suppress(HoldfastError):
                found[entry.path] = item_of(entry.path, None, entry), (await read(place, max_bytes=MAX_PLAN_BYTES)).data
    return [found[path] for path in sorted(found)]


async def _named_like_one(root: Place) -> Sequence[Entry]:
    try:
        criteria = Criteria(name=f"*.{PLAN}", kinds=frozenset({Kind.FILE}))
        return (await find(root.child(FOLDER), criteria, Sight())).entries
    except (NotFound, NotDirectory):
        return []


async def _read(place: Place) -> Slice | None:
    try:
        return await read(place, max_bytes=MAX_PLAN_BYTES)
    except (NotFound, NotDirectory):
        return None
