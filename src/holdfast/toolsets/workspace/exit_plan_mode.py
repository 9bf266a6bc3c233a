"""exit_plan_mode: from planning to building, when the person has accepted a plan."""

from holdfast.tool import Context, tool
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import ContentKind
from holdfast.workspace.place import Readable
from holdfast.workspace.plan_text import body_begins

from ._plans import PLAN, check_named_as_plan
from ._shapes import rooted

_ARGUMENT = "plan_file_path"


@tool
async def exit_plan_mode(ctx: Context, plan_file_path: Readable) -> dict[str, Json]:
    """Leave plan mode and begin to build. Call it only right after the person has pressed Accept in an ask_user question about the plan.

    First write the plan, then ask with ask_user: schema {"type": "string", "enum": ["Accept", "Reject"]} and a button for each. Only
    the answer "Accept" by the button counts; what the person says in the chat does not, ask then.

    Args:
        plan_file_path: The plan's file: it ends in .plan, is of type plan, and is not empty.
    """
    check_named_as_plan(plan_file_path, _ARGUMENT)
    item = await ctx.files.item(plan_file_path)
    if item.file_type != PLAN:
        raise InvalidArguments.of(
            _ARGUMENT, "File is not a plan file", hint='Write it with plan_write, or with write and file_type="plan".'
        )
    view = await ctx.files.view(plan_file_path)
    data = str(view.content).encode() if view.kind is ContentKind.TEXT else b"something"
    if not data[body_begins(data) :].strip():
        raise InvalidArguments.of(_ARGUMENT, "has no content", hint="Write the plan first.")
    plan = rooted(plan_file_path.path)
    await ctx.person.accept_plan(ctx.call, plan)
    return {"mode": "build", "plan_file": plan}
