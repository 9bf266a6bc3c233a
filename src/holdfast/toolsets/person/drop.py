"""drop: what a command did, thrown away."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.vocabulary.json import Json


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON)
async def drop(ctx: Context, effects_id: str) -> dict[str, Json]:
    """Throw held effects of a command away; nothing in the project changes.

    Args:
        effects_id: The id that the command's answer gave.
    """
    dropped = await ctx.commands.drop(effects_id)
    return {"effects_id": dropped.id, "count": len(dropped.effects)}
