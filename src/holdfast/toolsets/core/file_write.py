"""file_write: a whole file, new or replaced."""

from typing import Annotated

from holdfast.tool import Content, Context, Danger, tool
from holdfast.workspace.place import Writable

from ._dialect import Text


@tool(danger=Danger.DANGEROUS)
async def file_write(ctx: Context, path: Writable, content: Annotated[str, Content()]) -> Text:
    """Write a file, replacing what is there; missing folders are created.

    Args:
        path: Absolute or relative path to write.
        content: The whole new contents of the file.
    """
    written = await ctx.files.write(path, content.encode())
    return Text(f"wrote {written.size} bytes to {path}", {"path": path.path, "bytes": written.size, "sha256": written.sha256_after})
