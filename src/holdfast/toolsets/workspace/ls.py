"""ls: what is in a folder."""

from typing import Annotated

from holdfast.tool import AtLeast, Context, Otherwise, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import Item
from holdfast.workspace.place import Readable

from ._shapes import entry, first, rooted


@tool
async def ls(
    ctx: Context, path: Annotated[Readable, Otherwise("/")], recursive: bool = False, limit: Annotated[int, AtLeast(0)] = 50
) -> dict[str, Json]:
    """List the files and folders in a folder, folders first. Use glob to find files by a pattern and grep to search in them.

    `synced` tells whether the database knows an entry, or only the disk; `is_virtual` marks what the system makes and nobody can edit.

    Args:
        path: The folder, counted from the workspace's root.
        recursive: Also list what is in the folders below.
        limit: How many entries to return at most; 0 means all.
    """
    found = await ctx.files.items(path, recursive=recursive)
    entries = [_listed(item) for item in first(found, limit)]
    return {"path": rooted(path.path), "entries": entries, "truncated": len(entries) < len(found)}


def _listed(item: Item) -> dict[str, Json]:
    return {"id": item.file_id, "display_name": item.display_name, **entry(item)}
