"""What the tools for plans share: which files are plans, and what may be done to them in plan mode."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from holdfast.tool import Context, Otherwise
from holdfast.vocabulary.errors import InvalidArguments, NotFound, NotPermitted
from holdfast.vocabulary.mode import Mode
from holdfast.workspace.place import Place, Readable, Writable
from holdfast.workspace.plan_text import EXTENSION
from holdfast.workspace.plans import PLAN

__all__ = [
    "PLAN",
    "NewPlan",
    "PlanStatus",
    "SomePlan",
    "check_named_as_plan",
    "check_plan_mode",
    "is_in_plans_folder",
    "is_nameless",
    "is_plan_path",
    "writes_plan",
]

PlanStatus: TypeAlias = Literal["draft", "approved", "implemented", "archived"]

# A plan without a name: one is made up for it, or comes by another argument. It ends in .plan, so it is judged as the plan that it becomes.
_NAMELESS: Final = f"/plans/{EXTENSION}"
NewPlan: TypeAlias = Annotated[Writable, Otherwise(_NAMELESS)]
SomePlan: TypeAlias = Annotated[Readable, Otherwise(_NAMELESS)]


def is_plan_path(place: object) -> bool:
    """Whether this is a place that a plan can have."""
    return isinstance(place, Place) and place.name.endswith(EXTENSION)


def is_nameless(place: Place) -> bool:
    """Whether the plan there still needs a name."""
    return place.name == EXTENSION


def is_in_plans_folder(arguments: Mapping[str, object]) -> bool:
    """Whether a call is about a file in /plans."""
    path = arguments["path"]
    return isinstance(path, Place) and path.path.startswith("plans/")


def writes_plan(arguments: Mapping[str, object]) -> bool:
    """Whether a call of plan_write or plan_edit is about a plan, as it should be."""
    return is_plan_path(arguments["path"])


def check_named_as_plan(place: Place, argument: str = "path") -> None:
    """Let only files pass that are named like plans.

    Raises:
        InvalidArguments: This one is not.
    """
    if not is_plan_path(place):
        raise InvalidArguments.of(argument, f"does not end in {EXTENSION}", hint="Plans are files such as /plans/bold-meadow-quest.plan.")


async def check_plan_mode(ctx: Context, place: Place) -> None:
    """In plan mode let only plans be replaced, and not what is merely named like one.

    Raises:
        NotPermitted: It is another kind of file.
    """
    if await ctx.person.mode(ctx.call.caller.session) is not Mode.PLAN:
        return
    try:
        item = await ctx.files.item(place)
    except NotFound:
        return
    if item.synced and item.file_type != PLAN:
        hint = "Write another .plan file."
        raise NotPermitted(f"in plan mode only plans change, and '{place}' is a {item.file_type}", hint=hint, path=str(place))
