"""read_multiple_files: the beginnings of many files in one call."""

from typing import Annotated

from holdfast.tool import AtLeast, AtMost, Context, tool
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.workspace.lines import Lines
from holdfast.workspace.place import Place, Readable

from ._shapes import content, path_of_failed, rooted, told, window


@tool
async def read_multiple_files(
    ctx: Context, paths: Annotated[list[Readable | HoldfastError], AtLeast(1), AtMost(50)], limit: Annotated[int, AtLeast(0)] = 500
) -> dict[str, Json]:
    """Read up to 50 files in one call. Each has its own content and hash, or its own error; the others are read all the same.

    Args:
        paths: The files, counted from the workspace's root.
        limit: How many lines of each to return at most; 0 means all.
    """
    return {"files": [await _read(ctx, path, window(0, limit)) for path in paths]}


async def _read(ctx: Context, path: Place | HoldfastError, lines: Lines) -> dict[str, Json]:
    if isinstance(path, HoldfastError):
        return _failed(path_of_failed(path), path)
    try:
        view = await ctx.files.view(path, lines)
    except HoldfastError as error:
        return _failed(rooted(path.path), error)
    return {
        "path": rooted(view.item.path),
        "success": True,
        **content(view),
        "hash": view.hash,
        "synced": view.item.synced,
        "error": None,
        "total_lines": view.total_lines,
        "truncated": view.truncated,
    }


def _failed(path: str, error: HoldfastError) -> dict[str, Json]:
    about: dict[str, Json] = {"content": None, "hash": None, "synced": False, "error": told(error), "total_lines": None, "truncated": None}
    return {"path": path, "success": False, **about}
