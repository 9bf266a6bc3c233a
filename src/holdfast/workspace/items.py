"""The union of disk and store: what is on the disk, with what the store knows of it, and what only the store has."""

import stat
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from operator import itemgetter, le
from typing import TypeAlias

from holdfast.store.files import DOCUMENT, FOLDER, PROJECT, File, Known
from holdfast.vocabulary.errors import NotDirectory, NotFound

from .chats import FOLDER as CHATS
from .chats import ChatFile
from .entry import Entry, Kind
from .find import Criteria, find
from .finds import Finds
from .glob import glob
from .info import Info, info
from .item import Item
from .listing import list_directory
from .pattern import Trail, name_matcher, trail
from .place import Place
from .pool import in_turns
from .records import Records
from .rows import Rows, rows_beneath
from .sight import Sight

# Names and sizes of protected files are no secret, what is in them is.
_NAMES = Sight()


async def item(records: Records | None, place: Place) -> Item:
    """What is at the place, for disk and store.

    Raises:
        NotFound: Neither has anything there.
    """
    row = await records.row(place) if records else None
    if records and isinstance(row, ChatFile):
        return item_of(place.path, await records.chats.measured(row), None)
    seen = await _seen(place)
    if seen is None and row is None:
        raise not_found(place)
    return item_of(place.path, row, seen)


async def items(records: Records | None, place: Place, *, recursive: bool) -> list[Item]:
    """What is in a folder, at any depth if that is asked: folders first, then by path.

    Raises:
        NotFound, NotDirectory: It is not there, or is no folder.
    """
    found = await _union(records, place, recursive=recursive, seen=_listed if not recursive else _walked, measured=False)
    return sorted(await _each(found), key=lambda one: (not one.is_folder, one.path.split("/")))


async def find_items(records: Records | None, place: Place, criteria: Criteria, *, file_type: str | None = None) -> Sequence[Item]:
    """What fits the criteria beneath a folder, by path.

    Raises:
        InvalidPattern: The name's pattern is empty or too long.
        NotFound, NotDirectory: The folder is not there, or is none.
    """
    matches = name_matcher(criteria.name) if criteria.name is not None else None

    async def seen(top: Place) -> Sequence[Entry]:
        return (await find(top, criteria, _NAMES)).entries

    def named(known: Known) -> bool:
        return matches is None or bool(matches(known.path.rpartition("/")[2]))

    found = await _union(records, place, recursive=criteria.recursive, seen=seen, wanted=named)
    return _by_path(one for one in await _each(found) if (file_type is None or one.file_type == file_type) and _fits(one, criteria))


def _joined(found: Sequence[Entry], known: Mapping[str, File]) -> Sequence[Item]:
    """`item_of` for everything that is found on the disk."""
    if not isinstance(found, Finds):
        return [item_of(entry.path, known.get(entry.path), entry) for entry in found]
    if not known:
        return found.made(_unknown)

    def make(path: str, mode: int, size: int, seconds: float) -> Item:
        row = known.get(path)
        return item_of(path, row, Entry.told(path, mode, size, seconds)) if row else _unknown(path, mode, size, seconds)

    return found.made(make)


def _unknown(path: str, mode: int, size: int, seconds: float) -> Item:
    """`item_of` for what the store does not know, written out; a large tree has thousands of them."""
    name, modified = path[path.rfind("/") + 1 :], int(seconds * 1e6)
    kind = mode & 0o170000
    file_type = FOLDER if kind == stat.S_IFDIR else DOCUMENT
    return Item(path, name, name, file_type, False, False, None, size if kind == stat.S_IFREG else None, modified, modified)


async def glob_items(records: Records | None, place: Place, patterns: Sequence[str]) -> Sequence[Item]:
    """What matches one of the patterns beneath a folder, by path.

    Raises:
        InvalidPattern: A pattern is empty, too long, or goes up with `..`.
        NotFound, NotDirectory: The folder is not there, or is none.
    """
    start = trail(patterns)
    skipped = len(place.path) + 1 if place.path else 0

    async def seen(top: Place) -> Sequence[Entry]:
        return (await glob(top, patterns, _NAMES)).entries

    def on_trail(known: Known) -> bool:
        return _is_on(start, known.path[skipped:].split("/"), is_folder=known.is_folder)

    return _by_path(await _union(records, place, recursive=True, seen=seen, wanted=on_trail))


def item_of(path: str, row: File | None, seen: Entry | Info | None) -> Item:
    """One entry as disk and store know it together. Where they disagree about what kind of thing it is, the disk is right.

    An `Entry` does not know when it was made, so that is then told as when it was changed.
    """
    if row is not None and seen is not None and (row.is_folder != (seen.kind is Kind.DIRECTORY) or (row.is_folder and row.is_virtual)):
        row = None
    name = path.rpartition("/")[2]
    modified = int(seen.modified * 1e6) if seen is not None else 0
    if row is None:
        assert seen is not None, "something that is nowhere is no item"
        kind = FOLDER if seen.kind is Kind.DIRECTORY else DOCUMENT
        created = int(seen.created * 1e6) if isinstance(seen, Info) else modified
        return Item(path, name, name, kind, False, False, None, seen.size, created, modified)
    return Item(
        path,
        name,
        row.display_name,
        row.file_type,
        is_virtual=row.is_virtual,
        synced=row.deleted_at is None,
        file_id=row.id,
        size=None if row.is_folder else (seen.size if seen else row.size or 0),
        created_at=row.created_at,
        # Whoever wrote the file behind our back did so later.
        updated_at=row.updated_at if row.is_folder else max(row.updated_at, modified),
    )


def not_found(place: Place) -> NotFound:
    """The error for what is neither on the disk nor in the store."""
    return NotFound(f"file not found: {place}", hint="Check the path, or list the directory.", path=str(place))


_Look: TypeAlias = Callable[[Place], Awaitable[Sequence[Entry]]]


async def _union(
    records: Records | None,
    place: Place,
    *,
    recursive: bool,
    seen: _Look,
    wanted: Callable[[Known], bool] = lambda _: True,
    measured: bool = True,
) -> Sequence[Item]:
    if records is None:
        return _joined(await seen(place), {})
    found = await _on_disk_and_stored(records, place, recursive=recursive, seen=seen, wanted=wanted)
    if place.path not in ("", CHATS) or place.mount.name != PROJECT:
        return found
    chats = await chats_beneath(records, place, recursive=recursive, wanted=wanted)
    if not chats:
        return found
    each = [await records.chats.measured(chat) if measured and isinstance(chat, ChatFile) else chat for chat in chats]
    hidden = {chat.path for chat in chats if not chat.is_folder} or {""}
    found = [one for one in found if one.path not in hidden]
    is_listed = any(one.path == CHATS for one in found)
    return found + [item_of(chat.path, chat, None) for chat in each if not (chat.is_folder and is_listed)]


async def chats_beneath(records: Records, place: Place, *, recursive: bool, wanted: Callable[[Known], bool] = lambda _: True) -> list[File]:
    """The wanted chats of sessions that are found from the root or the folder of them, which is among them when it is found too.

    Something else of that name in the project's root hides them.
    """
    folder = await records.chats.folder()
    if folder is None or not await _is_folder_or_nothing(place if place.path else place.child(CHATS)):
        return []
    chats = await records.chats.every(lambda path: wanted(Known(path, False, True))) if recursive or place.path else []
    return [folder, *chats] if not place.path and wanted(Known(CHATS, True, True)) else [*chats]


async def _is_folder_or_nothing(place: Place) -> bool:
    seen = await _seen(place)
    return seen is None or seen.kind is Kind.DIRECTORY


async def _on_disk_and_stored(
    records: Records, place: Place, *, recursive: bool, seen: _Look, wanted: Callable[[Known], bool]
) -> Sequence[Item]:
    rows = await rows_beneath(records, place, recursive=recursive)
    on_disk = await _seen_or_none(seen, rows)
    if not rows.known:
        return _joined(on_disk, {})
    paths = set(on_disk.columns.paths if isinstance(on_disk, Finds) else [entry.path for entry in on_disk])
    # A row may have met no entry because the entry is not what is looked for.
    left = await rows.missing_on_disk([one for path, one in rows.known.items() if path not in paths and wanted(one)])
    known = await rows.of([path for path in rows.known if path in paths] + left)
    found = _joined(on_disk, known)
    if not left:
        return found
    return await _each(found) + [item_of(path, known[path], None) for path in left if path in known]


async def _each(found: Sequence[Item]) -> list[Item]:
    """What is made when it is looked at, looked at in turns."""
    return await in_turns(lambda one: one, found)


async def _seen_or_none(seen: _Look, rows: Rows) -> Sequence[Entry]:
    """What the disk has in the folder: nothing, when only the store has the folder."""
    try:
        return await seen(rows.top)
    except NotFound:
        if rows.folder is None:
            raise
        if not rows.folder.is_folder:
            raise _not_directory(rows.top) from None
        return []


async def _listed(place: Place) -> list[Entry]:
    return await list_directory(place, _NAMES)


async def _walked(place: Place) -> Sequence[Entry]:
    return (await find(place, Criteria(), _NAMES)).entries


async def _seen(place: Place) -> Info | None:
    try:
        return await info(place)
    except (NotFound, NotDirectory):
        return None


def _fits(found: Item, criteria: Criteria) -> bool:
    """Whether kind and size are as wanted; an entry of the disk has been asked already, and is neither when it is a link."""
    if found.size is None and not found.is_folder:
        return True
    if criteria.kinds is not None and (Kind.DIRECTORY if found.is_folder else Kind.FILE) not in criteria.kinds:
        return False
    if criteria.min_bytes is None and criteria.max_bytes is None:
        return True
    size = found.size
    return size is not None and (criteria.min_bytes or 0) <= size and (criteria.max_bytes is None or size <= criteria.max_bytes)


def _is_on(start: Trail, names: list[str], *, is_folder: bool) -> bool:
    here: Trail | None = start
    for name in names[:-1]:
        here = here.below(name)
        if here is None:
            return False
    return bool(here.wanted_directory(names[-1]) if is_folder else here.wanted(names[-1]))


def _by_path(found: Iterable[Item]) -> Sequence[Item]:
    """By path, component by component. What only a walk has found is so already, and a slash is then the least of all characters."""
    if isinstance(found, Finds):
        return found
    every = list(found)
    keys = [one.path.replace("/", "\0") for one in every]
    if all(map(le, keys, keys[1:])):
        return every
    return [one for _, one in sorted(zip(keys, every, strict=True), key=itemgetter(0))]


def _not_directory(place: Place) -> NotDirectory:
    return NotDirectory(f"'{place}' is not a directory", hint="Name a directory, or read it as a file.", path=str(place))
