"""undelete: a removed file, back where it was."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.vocabulary.json import Json

from ._shapes import change


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON)
async def undelete(ctx: Context, file_id: str) -> dict[str, Json]:
    """Bring a removed file or folder back to where it was, with all its versions.

    Args:
        file_id: The file's id.
    """
    return change(await ctx.files.undelete(file_id))
