"""plan_edit: a part of a plan, whose front matter stays as it is."""

from holdfast.tool import Context, Danger, tool
from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Place, Writable
from holdfast.workspace.plan_text import body_begins
from holdfast.workspace.save import Part

from ._edits import Text, apply, meant
from ._plans import PLAN, check_named_as_plan, check_plan_mode, is_in_plans_folder, writes_plan
from ._shapes import change


@tool(danger=Danger.DANGEROUS, safe_if=is_in_plans_folder, writes_plans=writes_plan)
async def plan_edit(
    ctx: Context,
    path: Writable,
    old_string: Text | None = None,
    new_string: Text | None = None,
    insert_line: int | None = None,
    insert_content: Text | None = None,
    last_read_hash: str | None = None,
) -> dict[str, Json]:
    """Edit the text of a plan below its front matter, as edit does: replace a text that is there once, or insert lines.

    Args:
        path: The plan's file, which ends in .plan.
        old_string: The text to replace, exactly as it stands in the plan.
        new_string: The text to put in its place.
        insert_line: The line of the plan's text to insert before, counted from 0; the number of lines appends at the end.
        insert_content: The lines to insert.
        last_read_hash: The hash that plan_read gave. If the plan has changed since, nothing is done.
    """
    check_named_as_plan(path)
    wanted = meant(old_string=old_string, new_string=new_string, insert_line=insert_line, insert_content=insert_content)
    await check_plan_mode(ctx, path)
    part = Part(body_begins, file_type=None if await _is_known(ctx, path) else PLAN)
    return change(await apply(ctx, path, wanted, only_if=last_read_hash, part=part))


async def _is_known(ctx: Context, path: Place) -> bool:
    try:
        return (await ctx.files.item(path)).synced
    except NotFound:
        return False
