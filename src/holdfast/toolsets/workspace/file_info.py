"""file_info: what is known of a file or folder, without its content."""

from holdfast.tool import Context, tool
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.place import Readable

from ._shapes import entry


@tool
async def file_info(ctx: Context, path: Readable) -> dict[str, Json]:
    """Tell the type, size, number of lines, times and hash of a file, without its content. Folders have no size, lines or hash.

    Args:
        path: The file or folder, counted from the workspace's root.
    """
    item = await ctx.files.item(path)
    about = None if item.is_folder else await ctx.files.about(path)
    return {
        **entry(item),
        "size": about.size if about else None,
        "line_count": about.total_lines if about else None,
        "created_at": iso(item.created_at),
        "hash": about.hash if about else None,
    }
