"""plan_write: a plan, new or as a new version."""

from datetime import UTC, datetime
from typing import Annotated

from holdfast.tool import Content, Context, Danger, tool
from holdfast.vocabulary.errors import Exists, NotFound
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import ContentKind, Saved
from holdfast.workspace.place import Place
from holdfast.workspace.plan_names import invent_name
from holdfast.workspace.plan_text import EXTENSION, PlanMetadata, compose, metadata_of

from ._plans import PLAN, NewPlan, PlanStatus, check_named_as_plan, check_plan_mode, is_in_plans_folder, is_nameless, writes_plan
from ._shapes import change

_TRIES = 100


@tool(danger=Danger.DANGEROUS, safe_if=is_in_plans_folder, writes_plans=writes_plan)
async def plan_write(
    ctx: Context, title: str, content: Annotated[str, Content()], path: NewPlan, status: PlanStatus = "draft"
) -> dict[str, Json]:
    """Write a plan: a file of type plan whose front matter has the title, the status and when it was made. Allowed in plan mode.

    Args:
        title: The title of the plan.
        content: The plan itself, in Markdown, without front matter.
        path: The file, which must end in .plan; if it exists, this becomes its new version. Left out, a name of three words is made
            up, such as /plans/gleeful-tangerine-expedition.plan.
        status: How far the plan has come.
    """
    check_named_as_plan(path)
    if is_nameless(path):
        metadata = PlanMetadata(title, status, iso(datetime.now(UTC)))
        saved = await _saved_under_new_name(ctx, path, compose(metadata, content))
    else:
        await check_plan_mode(ctx, path)
        metadata = PlanMetadata(title, status, await _made_at(ctx, path))
        saved = await ctx.files.save(path, compose(metadata, content), file_type=PLAN, overwrite=True)
    return {**change(saved), "metadata": metadata.as_json()}


async def _saved_under_new_name(ctx: Context, path: Place, text: str) -> Saved:
    for _ in range(_TRIES):
        try:
            return await ctx.files.save(path.sibling(invent_name() + EXTENSION), text, file_type=PLAN)
        except Exists:
            continue
    raise Exists("no name was free for the plan", hint="Give it a path of your own.")


async def _made_at(ctx: Context, path: Place) -> str:
    """When the plan was made: as its last version says, or else as its file says, or now."""
    try:
        view = await ctx.files.view(path)
    except NotFound:
        return iso(datetime.now(UTC))
    before = metadata_of(str(view.content).encode()) if view.kind is ContentKind.TEXT else None
    return (before and before.created_at) or iso((await ctx.files.item(path)).created_at)
