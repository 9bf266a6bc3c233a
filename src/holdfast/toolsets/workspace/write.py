"""write: a whole file, new or replaced."""

from collections.abc import Mapping
from typing import Annotated

from holdfast.tool import Content, Context, Danger, Shape, tool
from holdfast.vocabulary.errors import Exists, InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Writable

from ._plans import PLAN, check_plan_mode, is_plan_path
from ._shapes import FileType, change, rooted


def _writes_plan(arguments: Mapping[str, object]) -> bool:
    return arguments["file_type"] == PLAN and is_plan_path(arguments["path"])


@tool(danger=Danger.DANGEROUS, writes_plans=_writes_plan)
async def write(
    ctx: Context,
    path: Writable,
    content: Annotated[Json, Shape({}), Content()],
    file_type: FileType | None = None,
    overwrite: bool = False,
) -> dict[str, Json]:
    """Create a file, or replace one whole when overwrite is true; missing folders are made. To change a part of a file use edit.

    Args:
        path: The file, counted from the workspace's root.
        content: Text, or any other JSON value, which is stored and read back as such.
        file_type: What kind of file it is; a new one is a document unless told otherwise. Plans end in .plan and need 'plan' here.
        overwrite: Replace the file if it exists. Without this an existing file is left as it is.
    """
    if file_type == "folder":
        raise InvalidArguments.of("file_type", "cannot be 'folder' here", hint="Use mkdir to make a folder.")
    if file_type == PLAN:
        await check_plan_mode(ctx, path)
    try:
        return change(await ctx.files.save(path, content, file_type=file_type, overwrite=overwrite))
    except Exists:
        raise InvalidArguments.of(
            "path",
            f"File already exists: {rooted(path.path)}. To overwrite, set overwrite=true. "
            "However, for modifying existing files, the 'edit' tool is recommended instead of overwriting.",
            hint="",
        ) from None
