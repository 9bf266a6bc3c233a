"""The plans of a workspace: files of that type, and those on the disk that are named like one."""

from contextlib import suppress

from holdfast.store import files
from holdfast.vocabulary.errors import HoldfastError, NotDirectory, NotFound

from .entry import Kind
from .find import Criteria, find
from .info import info
from .item import Item
from .items import beneath, item_of
from .kept import load
from .place import Place
from .read import read
from .records import Records
from .sight import Sight

PLAN = "plan"
FOLDER = "plans"
MAX_PLAN_BYTES = 4 * 1024 * 1024


async def plan_files(records: Records | None, root: Place) -> list[tuple[Item, bytes]]:
    """Every plan with its bytes, by path; `root` is that of the project. What cannot be read is left out."""
    found: dict[str, tuple[Item, bytes]] = {}
    known: set[str] = set()
    if records is not None:
        for row in await files.below(records.database, records.workspace_id, "", mount=records.name_of(root.mount)):
            known.add(row.path)
            if row.file_type != PLAN:
                continue
            place = beneath(root, row.path)
            with suppress(HoldfastError):
                try:
                    seen = await info(place)
                    found[row.path] = item_of(row.path, row, seen), (await read(place, max_bytes=MAX_PLAN_BYTES)).data
                except (NotFound, NotDirectory):
                    if row.hash is not None:
                        found[row.path] = item_of(row.path, row, None), await load(records, row.hash, row.size or 0, mount=root.mount)
    with suppress(NotFound, NotDirectory):
        criteria = Criteria(name=f"*.{PLAN}", kinds=frozenset({Kind.FILE}))
        for entry in (await find(root.child(FOLDER), criteria, Sight())).entries:
            if entry.place.path not in known:
                with suppress(HoldfastError):
                    data = (await read(entry.place, max_bytes=MAX_PLAN_BYTES)).data
                    found[entry.place.path] = item_of(entry.place.path, None, entry), data
    return [found[path] for path in sorted(found)]
