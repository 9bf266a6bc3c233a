"""restore: an old version of a file made the newest."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.vocabulary.json import Json

from ._shapes import change


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON)
async def restore(ctx: Context, file_id: str, version_id: str) -> dict[str, Json]:
    """Make an old version of a file its newest one; the versions in between stay.

    Args:
        file_id: The file's id.
        version_id: The version to bring back.
    """
    return change(await ctx.files.restore(file_id, version_id))
