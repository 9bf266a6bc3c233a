"""touch: a file's time set to now, or an empty file made."""

from holdfast.tool import Context, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Writable

from ._shapes import rooted


@tool
async def touch(ctx: Context, path: Writable) -> dict[str, Json]:
    """Set the time of a file to now, its content unchanged; or make an empty document, and the folders that it needs.

    Args:
        path: The file, counted from the workspace's root. Folders are made with mkdir.
    """
    item = await ctx.files.touch_item(path)
    return {"path": rooted(item.path), "file_id": item.file_id}
