"""plan_list: the plans of a workspace."""

from typing import Annotated

from holdfast.tool import AtLeast, Context, tool
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import Item
from holdfast.workspace.plan_text import EXTENSION, PlanMetadata, metadata_of

from ._plans import PlanStatus
from ._shapes import first, rooted


@tool
async def plan_list(ctx: Context, status: PlanStatus | None = None, limit: Annotated[int, AtLeast(0)] = 50) -> dict[str, Json]:
    """List the plans, the newest first, with title, status and when each was made.

    Args:
        status: Only plans that have come this far.
        limit: How many to return at most; 0 means all. total counts them all the same.
    """
    found = [(item, metadata_of(data)) for item, data in await ctx.files.plan_files()]
    wanted = [(item, metadata) for item, metadata in found if status is None or (metadata and metadata.status == status)]
    wanted.sort(key=lambda plan: _made_at(*plan), reverse=True)
    plans = [
        {"path": rooted(item.path), "name": item.name.removesuffix(EXTENSION), "metadata": metadata.as_json() if metadata else None}
        for item, metadata in first(wanted, limit)
    ]
    return {"plans": plans, "total": len(wanted)}


def _made_at(item: Item, metadata: PlanMetadata | None) -> str:
    return (metadata and metadata.created_at) or iso(item.created_at)
