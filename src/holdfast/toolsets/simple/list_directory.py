"""list_directory: what is in one directory of the project."""

from typing import Annotated

from holdfast.tool import Context, Otherwise, tool
from holdfast.workspace.entry import Kind
from holdfast.workspace.place import Readable


@tool
async def list_directory(ctx: Context, path: Annotated[Readable, Otherwise(".")]) -> str:
    """List the contents of a directory, one name per line; directories end in '/'.

    Args:
        path: Relative path to the directory from the project root. Defaults to '.' (the project root).
    """
    entries = await ctx.files.list(path)
    return "\n".join(f"{entry.name}/" if entry.kind is Kind.DIRECTORY else entry.name for entry in entries)
