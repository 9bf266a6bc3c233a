"""describe_file: what is known of a file by its id."""

from holdfast.tool import Audience, Context, tool
from holdfast.vocabulary.json import Json

from ._shapes import file


@tool(audience=Audience.PERSON)
async def describe_file(ctx: Context, file_id: str) -> dict[str, Json]:
    """Tell what is known of a file, deleted or not.

    Args:
        file_id: The file's id.
    """
    return file(await ctx.files.item_by_id(file_id))
