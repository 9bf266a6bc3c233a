"""read: part of one file, by line."""

from typing import Annotated

from holdfast.tool import AtLeast, Context, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import ContentKind
from holdfast.workspace.place import Readable

from ._shapes import content, rooted, window


@tool
async def read(ctx: Context, path: Readable, offset: int = 0, limit: Annotated[int, AtLeast(0)] = 500) -> dict[str, Json]:
    """Read a file, by lines. `hash` is that of the whole file: give it to edit as last_read_hash.

    JSON values come back whole, as they were written.

    Args:
        path: The file, counted from the workspace's root.
        offset: The first line to return, counted from 0; a negative one counts from the end, so that -100 returns the last 100 lines.
        limit: How many lines to return at most; 0 means all.
    """
    view = await ctx.files.view(path, window(offset, limit))
    is_text = view.kind is ContentKind.TEXT
    return {
        "path": rooted(view.item.path),
        **content(view),
        "hash": view.hash,
        "synced": view.item.synced,
        "total_lines": view.total_lines,
        "truncated": view.truncated,
        "offset": offset if is_text else None,
        "limit": limit if is_text else None,
    }
