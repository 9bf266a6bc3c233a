"""mkdir: a folder, and all that is missing above it."""

from holdfast.tool import Context, tool
from holdfast.vocabulary.errors import Exists, NotDirectory
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Writable

from ._shapes import rooted


@tool
async def mkdir(ctx: Context, path: Writable) -> dict[str, Json]:
    """Make a folder and every folder above it that is missing. One that exists already is left as it is.

    Args:
        path: The folder, counted from the workspace's root.
    """
    try:
        item = await ctx.files.make_folder(path)
    except NotDirectory as error:
        raise Exists(f"a file is in the way of '{path}'", hint="Choose another name for the folder.", path=str(path)) from error
    return {"path": rooted(item.path), "file_id": item.file_id}
