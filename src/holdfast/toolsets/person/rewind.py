"""rewind: all that a session did to files after one of its events, taken back."""

from collections.abc import Sequence
from typing import Annotated

from holdfast.tool import AtLeast, Audience, Context, Danger, tool
from holdfast.tool.commands import path_of
from holdfast.vocabulary.effects import Effect, EffectKind
from holdfast.vocabulary.json import Json

_MAX_LISTED = 1_000


@tool(danger=Danger.DANGEROUS, audience=Audience.PERSON, seconds=600, changes_unnamed=True)
async def rewind(ctx: Context, session: str, event: Annotated[int, AtLeast(0)], dry_run: bool = False) -> dict[str, Json]:
    """Make every file that a session changed after an event what it was then, bytes and modes, by tools and by commands.

    What somebody else has changed since is left alone, and told. A rewind can be undone like any other call.

    Args:
        session: The session's id.
        event: The number of the last event that stays; 0 takes everything back.
        dry_run: Change nothing, and tell what would happen.
    """
    rewound = await ctx.commands.book.rewind(session, event, dry_run=dry_run)
    removed = [effect for effect in rewound.restored if effect.kind is EffectKind.DELETED]
    restored = [effect for effect in rewound.restored if effect.kind is not EffectKind.DELETED]
    left: list[Json] = [{"path": path_of(each.mount, each.path), "why": each.why} for each in rewound.left[:_MAX_LISTED]]
    return {
        "session_id": session,
        "event": event,
        "dry_run": dry_run,
        "undo_call_id": None if dry_run else ctx.call.id,
        "calls": [*rewound.calls],
        "count": len(rewound.restored),
        "restored": _listed(restored),
        "removed": _listed(removed),
        "left_alone": left,
    }


def _listed(effects: Sequence[Effect]) -> list[Json]:
    return [
        {"path": path_of(each.mount, each.path), "kind": each.kind.value, "type": each.type.value}
        | ({"from": path_of(each.mount, each.before)} if each.before else {})
        for each in effects[:_MAX_LISTED]
    ]
