"""Which file and which version are meant: by id, or as people say it, by path and number."""

from collections.abc import Sequence

from holdfast.tool import Context
from holdfast.vocabulary.errors import Conflict, InvalidArguments, NotFound
from holdfast.workspace.item import Item, VersionInfo
from holdfast.workspace.place import Place


async def file_meant(ctx: Context, file_id: str | None, path: Place | None) -> str:
    """The id of a file; by path it is the one that is there, otherwise the last one that was.

    Raises:
        NotFound: Nothing is remembered of that path.
        InvalidArguments: Neither is given, or both are.
    """
    named = _one_of(file_id, path)
    if isinstance(named, str):
        return named
    known = await _known(ctx, named) or next(iter(await _deleted(ctx, named)), None)
    if known is None or known.file_id is None:
        raise NotFound(f"nothing is remembered of '{named}'", hint="Only what was changed through Holdfast has versions.", path=str(named))
    return known.file_id


async def deleted_meant(ctx: Context, file_id: str | None, path: Place | None) -> str:
    """The id of a deleted file; by path it is the one that was deleted last.

    Raises:
        NotFound: Nothing was deleted there.
        Conflict: The file is there, and no other of that path was deleted.
        InvalidArguments: Neither is given, or both are.
    """
    named = _one_of(file_id, path)
    if isinstance(named, str):
        return named
    for item in await _deleted(ctx, named):
        return item.file_id or ""
    if await _known(ctx, named) is not None:
        raise Conflict(f"'{named}' is not deleted", hint="There is nothing to bring back.", path=str(named))
    raise NotFound(f"nothing that was deleted is remembered of '{named}'", hint="List what is: list_deleted.", path=str(named))


def version_meant(versions: Sequence[VersionInfo], named: str) -> str:
    """The id of a version that is named by its number or its id; an id is taken as it is.

    Raises:
        NotFound: There is no version of that number.
    """
    if not (named.isascii() and named.isdigit()):
        return named
    found = next((version for version in versions if version.number == int(named)), None)
    if found is None:
        raise NotFound(f"the file has no version {named}", hint=f"It has {_numbers(versions)}.", version=named)
    return found.version_id


def _one_of(file_id: str | None, path: Place | None) -> str | Place:
    if file_id is not None and path is None:
        return file_id
    if path is not None and file_id is None:
        return path
    raise InvalidArguments.of("file_id", "or 'path' names the file: one of them, and not both")


async def _known(ctx: Context, path: Place) -> Item | None:
    try:
        item = await ctx.files.item(path)
    except NotFound:
        return None
    return item if item.synced else None


async def _deleted(ctx: Context, path: Place) -> list[Item]:
    return [item for item in await ctx.files.deleted_items() if item.path == path.path]


def _numbers(versions: Sequence[VersionInfo]) -> str:
    numbers = [version.number for version in versions]
    return f"versions {min(numbers)} to {max(numbers)}" if len(numbers) > 1 else f"version {numbers[0]} alone" if numbers else "none"
