"""undelete: a removed file, back where it was."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Movable

from ._shapes import change
from ._which import deleted_meant


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON, changes_unnamed=True)
async def undelete(ctx: Context, file_id: str | None = None, path: Movable | None = None) -> dict[str, Json]:
    """Bring a removed file or folder back to where it was, with all its versions.

    Args:
        file_id: The file's id.
        path: Where the file was, instead of its id; of several the one that was deleted last comes back.
    """
    return change(await ctx.files.undelete(await deleted_meant(ctx, file_id, path)))
