"""undo: all that a call did to files, taken back."""

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.tool.commands import path_of
from holdfast.vocabulary.errors import Conflict
from holdfast.vocabulary.json import Json

_MAX_LISTED = 1_000


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON, seconds=600, changes_unnamed=True)
async def undo(ctx: Context, call_id: str | None = None, session_id: str | None = None, force: bool = False) -> dict[str, Json]:
    """Make every file that a call changed what it was before, bytes and modes.

    What was changed since is a conflict, and then nothing is done.

    Args:
        call_id: The call, also an undo; without it the last one that changed files and was not taken back.
        session_id: The session of the call; without a call, the last one of this session, or of all.
        force: Take back what was changed since as well; it stays a version.
    """
    undone = await ctx.commands.book.undo(call_id or None, session_id=session_id, force=force)
    if undone.conflicts:
        named = ", ".join(path_of(each.mount, each.path) for each in undone.conflicts[:10])
        raise Conflict(
            f"these are not as the call left them: {named}",
            hint="Nothing was changed. With force they are taken back too.",
            call=undone.call_id,
            conflicts=[{"path": path_of(each.mount, each.path), "why": each.why} for each in undone.conflicts[:_MAX_LISTED]],
        )
    restored: list[Json] = [
        {"path": path_of(each.mount, each.path), "kind": each.kind.value, "type": each.type.value} for each in undone.restored[:_MAX_LISTED]
    ]
    left_out: list[Json] = [
        {"path": path_of(each.effect.mount, each.effect.path), "why": each.why} for each in undone.left_out[:_MAX_LISTED]
    ]
    return {
        "call_id": undone.call_id,
        "undo_call_id": ctx.call.id,
        "count": len(undone.restored),
        "restored": restored,
        "left_out": left_out,
    }
