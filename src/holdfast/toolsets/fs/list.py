"""fs.list: what is in one directory of a mount."""

from holdfast.tool import Context, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.entry import Entry, Kind
from holdfast.workspace.place import Readable


@tool
async def list(ctx: Context, path: Readable) -> dict[str, Json]:  # noqa: A001 - the tool's name is the module's
    """List the direct children of a directory. Hidden entries and links are left out.

    Args:
        path: A directory, as @mount/path.
    """
    most = ctx.profile.limits.fs.max_entries
    found = [entry for entry in await ctx.files.list(path) if _is_shown(entry)]
    shown: Json = [{"name": entry.name, "type": entry.kind.value, "size": entry.size} for entry in found[:most]]
    if len(found) <= most:
        return {"path": path.alias, "entries": shown}
    hint = f"{len(found)} entries, {most} shown: list a folder below, or use fs.search."
    return {"path": path.alias, "entriesPreview": shown, "truncated": True, "hint": hint}


def _is_shown(entry: Entry) -> bool:
    return entry.kind in (Kind.FILE, Kind.DIRECTORY) and not entry.name.startswith(".")
