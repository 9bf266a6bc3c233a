"""file_read: the contents of one file."""

from holdfast.tool import Context, tool
from holdfast.workspace.place import Readable

from ._dialect import Text


@tool
async def file_read(ctx: Context, path: Readable) -> Text:
    """Read the contents of a file.

    Args:
        path: Absolute or relative path to read.
    """
    limit = ctx.profile.limits.core.max_read_bytes
    part = await ctx.files.read(path, max_bytes=limit)
    note = f"\n[truncated: the first {len(part.data)} of {part.size} bytes]" if part.cut else ""
    return Text(
        part.text + note,
        {
            "path": path.path,
            "bytes": part.size,
            "sha256": part.sha256,
            "lineCount": part.total_lines,
            "truncated": part.cut,
            "binary": part.encoding.is_binary,
        },
    )
