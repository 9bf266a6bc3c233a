"""fs.read: part of one file, by line."""

from typing import Annotated

from holdfast.tool import AtLeast, Context, tool
from holdfast.vocabulary.errors import InvalidRange
from holdfast.vocabulary.json import Json
from holdfast.workspace.lines import Lines
from holdfast.workspace.place import Readable


@tool
async def read(
    ctx: Context, path: Readable, start_line: Annotated[int, AtLeast(1)] | None = None, end_line: Annotated[int, AtLeast(1)] | None = None
) -> dict[str, Json]:
    """Read a file, or the lines from startLine to endLine. The sha256 is that of the whole file.

    Args:
        path: A file, as @mount/path.
        start_line: The first line, counted from 1.
        end_line: The last line, included.
    """
    first = start_line or 1
    if end_line is not None and end_line < first:
        raise InvalidRange(f"endLine {end_line} is before startLine {first}", hint="Give endLine the larger number.")
    wanted = Lines(first - 1, None if end_line is None else end_line - first + 1)
    part = await ctx.files.read(path, wanted, max_bytes=ctx.profile.limits.fs.max_read_bytes, whole_lines=True)
    about: dict[str, Json] = {"path": path.alias, "bytes": part.size, "sha256": part.sha256, "totalLines": part.total_lines}
    if start_line is not None or end_line is not None:
        about.update({"startLine": first, "endLine": first + part.lines - 1})
    if not part.cut:
        return {**about, "content": part.text}
    hint = f"Only {part.lines} lines are shown. Read on with startLine={first + part.lines} and an endLine, or use fs.search."
    return {**about, "contentPreview": part.text, "truncated": True, "hint": hint}
