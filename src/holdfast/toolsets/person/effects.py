"""effects: what a command did that waits for a decision."""

from holdfast.tool import Audience, Context, tool
from holdfast.tool.commands import listed, parsed_path, path_of
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso

_MAX_LISTED = 1_000


@tool(audience=Audience.PERSON)
async def effects(ctx: Context, effects_id: str | None = None, path: str | None = None) -> dict[str, Json]:
    """Look at effects that are held; without an id, list what is.

    `left_out` is what a keep would not keep, and whether it would with git_settings.

    Args:
        effects_id: The id that the command's answer gave.
        path: One of the paths, to see what changes in it.
    """
    if effects_id is None:
        return {"pending": [*await ctx.commands.book.pending()]}
    undecided, lines = await ctx.commands.effects(effects_id)
    refused = {each.effect for each in await ctx.commands.left_out(undecided, may_write_git=True)}
    left_out: list[Json] = [
        {"path": path_of(each.effect.mount, each.effect.path), "why": each.why, "git_settings": each.effect not in refused}
        for each in (await ctx.commands.left_out(undecided, may_write_git=False))[:_MAX_LISTED]
    ]
    told: dict[str, Json] = {
        "effects_id": undecided.id,
        "call_id": undecided.call_id,
        "created_at": iso(undecided.created_at),
        "effects_hash": undecided.effects.hash,
        "count": len(undecided.effects),
        "effects": listed(lines),
        "left_out": left_out,
    }
    if path is not None:
        difference = await ctx.commands.diff(undecided, *parsed_path(path))
        told["diff"] = difference.text if difference else None
    return told
