"""mv: a file or folder, to another name or another folder."""

from typing import Annotated

from holdfast.tool import Context, Danger, tool
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Asks, Movable, Place

from ._shapes import rooted


@tool(danger=Danger.DANGEROUS)
async def mv(ctx: Context, source: Movable, destination: Annotated[Place, Asks(Want.WRITE, receives="source")]) -> dict[str, Json]:
    """Move or rename a file, or a folder with all that is in it. Nothing is ever overwritten.

    Args:
        source: What to move, counted from the workspace's root.
        destination: Its new path; or a folder, existing or written with a slash at its end, to move it into under its own name.
            The folder that it goes to must exist.
    """
    moved = await ctx.files.relocate(source, destination, exact=True)
    return {"from_path": rooted(source.path), "to_path": rooted(moved.path)}
