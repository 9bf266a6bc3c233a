"""read_file: the contents of one file of the project."""

from holdfast.tool import Context, tool
from holdfast.workspace.place import Readable


@tool
async def read_file(ctx: Context, path: Readable) -> str:
    """Read the contents of a file. The path is relative to the project root.

    Args:
        path: Relative path to the file from the project root.
    """
    part = await ctx.files.read(path, max_bytes=ctx.profile.limits.simple.max_read_bytes, surveyed=False)
    return part.text + (f"\n[truncated: the first {len(part.data)} of {part.size} bytes]" if part.cut else "")
