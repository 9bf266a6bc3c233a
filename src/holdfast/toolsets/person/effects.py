"""effects: what a command did that waits for a decision."""

from holdfast.tool import Audience, Context, tool
from holdfast.tool.commands import listed, parsed_path
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso


@tool(audience=Audience.PERSON)
async def effects(ctx: Context, effects_id: str | None = None, path: str | None = None) -> dict[str, Json]:
    """Look at effects that are held; without an id, list what is.

    Args:
        effects_id: The id that the command's answer gave.
        path: One of the paths, to see what changes in it.
    """
    if effects_id is None:
        return {"pending": [*await ctx.commands.book.pending()]}
    undecided, lines = await ctx.commands.effects(effects_id)
    told: dict[str, Json] = {
        "effects_id": undecided.id,
        "call_id": undecided.call_id,
        "created_at": iso(undecided.created_at),
        "effects_hash": undecided.effects.hash,
        "count": len(undecided.effects),
        "effects": listed(lines),
    }
    if path is not None:
        difference = await ctx.commands.diff(undecided, *parsed_path(path))
        told["diff"] = difference.text if difference else None
    return told
