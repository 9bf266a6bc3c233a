"""Removing, moving, touching and making what disk and store have together."""

from holdfast.store import files
from holdfast.store.begin import begin
from holdfast.store.changes import Import
from holdfast.store.files import File
from holdfast.vocabulary.errors import Exists, InvalidArguments, NotDirectory, NotEmpty, NotFound, Protected, Virtual
from holdfast.vocabulary.protected import ProtectedPaths

from . import make
from .author import Receipt, receipt_of, with_receipt
from .change import Change, Verb
from .changes import Changes, Steps
from .chats import FOLDER as CHATS
from .entry import Kind
from .find import Criteria, find
from .info import Info, info
from .item import Item, Saved
from .items import item, not_found
from .ledger import check_not_virtual
from .move import move
from .place import Place
from .records import Records
from .remove import remove
from .save import bring_back, saved
from .sight import Sight


async def discard(records: Records, changes: Changes, place: Place) -> str | None:
    """Remove a file or an empty folder, and return its id; None when the store did not know it. It can be undeleted in any case.

    Raises:
        NotFound: Neither disk nor store has it.
        NotEmpty: It is a folder, and disk or store have something in it.
        InvalidArguments: It is the root.
        Virtual: It is a virtual file.
    """
    if not place.path:
        raise InvalidArguments.of("path", "is the root, which stays as it is", hint="Name something in it.")
    row = await records.row(place)
    check_not_virtual(row, place)
    if row is not None and row.is_folder:
        await _check_empty(records, row, place)
    try:
        await remove(changes, place)
    except NotFound:
        if row is None:
            raise not_found(place) from None
        await changes.make(lambda: _forgetting(changes, place), place)
    return row.id if row else None


async def relocate(
    records: Records,
    changes: Changes,
    source: Place,
    target: Place,
    *,
    exact: bool = False,
    untouchable: ProtectedPaths | None = None,
) -> Saved:
    """Move a file or a folder with all that is in it; a folder at the target receives it, unless the target is meant to be `exact`.

    Raises:
        NotFound: There is no source, or the target's folder is missing.
        Exists: A file is at the target, or the folder there has something of that name.
        InvalidArguments: The root, or a folder into itself.
        Virtual: It is a virtual file, or there are some in it.
        Protected: Something in it is untouchable, or would be there.
    """
    if not source.path:
        raise InvalidArguments.of("source", "is the root, which stays as it is", hint="Name something in it.")
    row = await records.row(source)
    check_not_virtual(row, source)
    seen = await _seen(source)
    if seen is None and row is None:
        raise not_found(source)
    target = target if exact else await _final_target(records, source, target)
    if target.mount is source.mount and target.path.startswith(f"{source.path}/"):
        raise InvalidArguments.of("destination", "is inside of what is to be moved", hint="A folder cannot be moved into itself.")
    taken = await records.row(target)
    check_not_virtual(taken, target)
    if taken is not None or await _seen(target) is not None:
        raise Exists(f"'{target}' already exists", hint="Choose another name.", path=str(target))
    if row is not None and row.is_folder:
        await _check_nothing_virtual(records, row, source)
    if untouchable is not None and seen is not None and seen.kind is Kind.DIRECTORY:
        await _check_nothing_untouchable(source, target, untouchable)
    if seen is None and row is not None:
        await _bring_back_any(records, changes, source, row)
    changes, receipt = with_receipt(changes, Receipt())
    await move(changes, source, target, parents=await _has_parent_row(records, target))
    return saved(target, receipt)


async def touch_item(records: Records, changes: Changes, place: Place) -> Item:
    """Set a file's time to now, or make it empty. What the store does not know it gets to know; there is no version of a touch.

    Raises:
        IsDirectory, Virtual: A folder or a virtual file is there.
    """
    row = await records.row(place)
    check_not_virtual(row, place)
    if row is not None and not row.is_folder and await _seen(place) is None:
        await bring_back(records, changes, place, row)
    await make.touch(changes, place, parents=True)
    return await item(records, place)


async def make_folder(records: Records, changes: Changes, place: Place) -> Item:
    """Make a folder and what is missing above it, unless it is there; the store gets to know it in any case.

    Raises:
        Exists: Something else than a folder is there.
        Virtual: It is a virtual file.
    """
    row = await records.row(place)
    check_not_virtual(row, place)
    if row is not None and not row.is_folder and await _seen(place) is None:
        raise Exists(f"'{place}' is a file", hint="Choose another name for the folder.", path=str(place))
    made = await make.make_directory(changes, place)
    if not made.created and place.path and (row is None or not row.is_folder or row.is_virtual):
        author = receipt_of(changes.author).author
        known = Import(path=place.path, mount=records.name_of(place.mount), found=None)
        await begin(records.database, records.lease, known, author.origin, entry=author.audit)
    return await item(records, place)


def _forgetting(changes: Changes, place: Place) -> Steps[None]:
    """Remove what only the store has: there is nothing to do on the disk."""
    yield Change(Verb.REMOVE, place, None, None, author=changes.author)


async def _final_target(records: Records, source: Place, target: Place) -> Place:
    """The target, or the source's name in it when it is a folder.

    Raises:
        NotFound: It was written as a folder, with a slash at its end, and is not there.
    """
    row, seen = await records.row(target), await _seen(target)
    is_folder = seen.kind is Kind.DIRECTORY if seen else (row.is_folder if row else not target.path)
    if is_folder:
        return target.child(source.name)
    if target.written.rstrip().endswith("/") and seen is None and row is None:
        raise NotFound(f"directory not found: {target}", hint="Make the folder first.", path=str(target))
    return target


async def _has_parent_row(records: Records, place: Place) -> bool:
    """Whether the store knows the folder, so that it may be made again on a disk that lacks it."""
    parent = await records.row_at(place.mount, place.parent_path)
    return parent is not None and parent.is_folder


async def _bring_back_any(records: Records, changes: Changes, place: Place, row: File) -> None:
    if row.is_folder:
        await make.make_directory(changes, place)
    else:
        await bring_back(records, changes, place, row)


async def _check_empty(records: Records, folder: File, place: Place) -> None:
    has_chats = folder.path == CHATS and await records.chats.are_there()
    if has_chats or await files.children(records.database, records.workspace_id, folder, mount=folder.mount):
        raise NotEmpty(f"'{place}' is not empty", hint="Remove what is in it first.", path=str(place))


async def _check_nothing_virtual(records: Records, folder: File, place: Place) -> None:
    below = await files.below(records.database, records.workspace_id, folder.path, mount=folder.mount)
    if any(row.is_virtual for row in below) or (folder.path == CHATS and await records.chats.are_there()):
        raise Virtual(f"'{place}' has virtual files in it", hint="They stay where the system makes them.", path=str(place))


async def _check_nothing_untouchable(source: Place, target: Place, untouchable: ProtectedPaths) -> None:
    """What is in a folder goes with it, though only the folder was named and judged."""
    for entry in (await find(source, Criteria(), Sight())).entries:
        path = entry.path
        after = target.path + path.removeprefix(source.path)
        if untouchable.covers(path, mount=source.mount.name) or untouchable.covers(after, mount=target.mount.name):
            hint = "It may hold secrets or machinery; ask the person to do it."
            raise Protected(f"'{source}' has protected files in it, which cannot be moved by a tool", hint=hint, path=str(source))


async def _seen(place: Place) -> Info | None:
    try:
        return await info(place)
    except (NotFound, NotDirectory):
        return None
