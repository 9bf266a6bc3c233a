"""plan_read: a plan, and what it says of itself."""

from typing import Annotated

from holdfast.tool import AtLeast, Context, tool
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.workspace.item import ContentKind
from holdfast.workspace.place import Place
from holdfast.workspace.plan_text import EXTENSION, body_begins, metadata_of
from holdfast.workspace.view import by_line

from ._plans import SomePlan, check_named_as_plan, is_nameless
from ._shapes import content, rooted


@tool
async def plan_read(
    ctx: Context, path: SomePlan, name: str | None = None, offset: int = 0, limit: Annotated[int, AtLeast(0)] = 500
) -> dict[str, Json]:
    """Read a plan: its front matter as metadata, and its text without it. Older plans have no metadata.

    Args:
        path: The plan's file.
        name: Instead of the path: the plan's name, without .plan, in /plans.
        offset: The first line of the plan's text to return, counted from 0; a negative one counts from the end.
        limit: How many lines to return at most; 0 means all.
    """
    plan = _named(path, name)
    view = await ctx.files.view(plan)
    about: dict[str, Json] = {"path": rooted(plan.path), "hash": view.hash, "synced": view.item.synced}
    if view.kind is not ContentKind.TEXT:
        return {**about, "metadata": None, **content(view), "total_lines": None, "truncated": None}
    data = str(view.content).encode()
    metadata = metadata_of(data)
    lines = by_line(data[body_begins(data) :])
    start = offset if offset >= 0 else max(0, len(lines) + offset)
    shown = lines[start : start + limit] if limit else lines[start:]
    return {
        **about,
        "metadata": metadata.as_json() if metadata else None,
        "content": b"".join(shown).decode(),
        "total_lines": len(lines),
        "truncated": start + len(shown) < len(lines),
    }


def _named(path: Place, name: str | None) -> Place:
    check_named_as_plan(path)
    if not is_nameless(path):
        return path
    if not name:
        raise InvalidArguments.of("path", "is required, or else name", hint="List the plans with plan_list.")
    return path.sibling(name.strip().removesuffix(EXTENSION) + EXTENSION)
