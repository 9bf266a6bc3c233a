"""The guard of `@state/workflow.md`, for every tool of `fs` that can change it."""

from collections.abc import Callable

from holdfast.tool import Context
from holdfast.workspace.place import Place
from holdfast.workspace.workflow import guard_workflow

_GUARDED = "@state/workflow.md"


def guard(ctx: Context, place: Place) -> Callable[[bytes | None, bytes], None] | None:
    """What a change of this place must pass, given the bytes before and after; None when it is not the workflow."""
    if place.alias != _GUARDED:
        return None
    edges = ctx.profile.workflow.edges if ctx.profile.workflow else None
    return lambda before, after: guard_workflow(before, after, edges)
