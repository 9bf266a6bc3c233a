"""list_deleted: what can be undeleted."""

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.json import Json

from ._shapes import file


@tool(audience=Audience.PERSON)
async def list_deleted(ctx: Context) -> dict[str, Json]:
    """List the deleted files and folders that can be brought back, the latest deletion first."""
    return {"files": [file(item) for item in await ctx.files.deleted_items()]}
