"""edit: a part of one file."""

from holdfast.tool import Context, Danger, tool
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Writable

from ._edits import Text, apply, meant
from ._shapes import change


@tool(danger=Danger.DANGEROUS)
async def edit(
    ctx: Context,
    path: Writable,
    old_string: Text | None = None,
    new_string: Text | None = None,
    insert_line: int | None = None,
    insert_content: Text | None = None,
    last_read_hash: str | None = None,
    merge: bool = False,
) -> dict[str, Json]:
    """Edit a file in one of two ways: replace a text that is in it exactly once, or insert lines.

    To replace, give old_string and new_string; the old text is gone, so repeat in new_string what is to stay. To insert, give
    insert_line and insert_content. Read the file first, and give its hash as last_read_hash.

    Args:
        path: The file, counted from the workspace's root.
        old_string: The text to replace, exactly as it stands in the file, with enough around it to be there only once.
        new_string: The text to put in its place.
        insert_line: The line to insert before, counted from 0; the number of lines appends at the end.
        insert_content: The lines to insert.
        last_read_hash: The hash that reading the file gave. If the file has changed since, nothing is done.
        merge: If the file has changed since, do the edit all the same when both changes go together.
    """
    wanted = meant(old_string=old_string, new_string=new_string, insert_line=insert_line, insert_content=insert_content)
    return change(await apply(ctx, path, wanted, only_if=last_read_hash, merge=merge))
