"""rm: a file or an empty folder, gone until somebody undeletes it."""

from holdfast.tool import Context, Danger, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Movable

from ._shapes import rooted


@tool(danger=Danger.DANGEROUS)
async def rm(ctx: Context, path: Movable) -> dict[str, Json]:
    """Delete a file or an empty folder. Its versions are kept, and a person can bring it back; there is no tool for that.

    Args:
        path: The file or folder, counted from the workspace's root. A folder must be empty: delete what is in it first.
    """
    return {"path": rooted(path.path), "file_id": await ctx.files.discard(path)}
