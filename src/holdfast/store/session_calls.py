"""Which calls of a session changed files, and when: for taking back what came after one of its events."""

from dataclasses import dataclass
from typing import cast

from .columns import from_json
from .database import Database

_PAGE = 200
_CALLS = {"start": "chat:tool-start", "result": "chat:tool-result"}


@dataclass(frozen=True)
class ChangingCall:
    """A call that changed files, and when it did so last; of effects that were held, `command_id` is the call that ran the command."""

    id: str
    command_id: str
    at: int


async def changing(database: Database, workspace_id: str, session_id: str) -> list[ChangingCall]:
    """The calls of a session that changed files, the latest first; undos are among them."""
    values = {"workspace_id": workspace_id, "session_id": session_id}
    by_versions = await database.scan(
        "SELECT call_id, call_id, max(created_at) FROM versions WHERE workspace_id = :workspace_id AND session_id = :session_id"
        " AND call_id <> '' AND state <> 'aborted' AND kind NOT IN ('baseline', 'external') GROUP BY call_id",
        values,
    )
    by_layers = await database.scan(
        "SELECT kept_by, call_id, updated_at FROM layers WHERE workspace_id = :workspace_id AND session_id = :session_id"
        " AND kept_by <> '' AND state IN ('committed', 'settled')",
        values,
    )
    found: dict[str, ChangingCall] = {}
    for call_id, command_id, at in [*by_versions, *by_layers]:
        before = found.get(call_id)
        found[call_id] = ChangingCall(call_id, command_id, max(at, before.at if before else 0))
    return sorted(found.values(), key=lambda call: (call.at, call.id), reverse=True)


async def time_of(database: Database, workspace_id: str, session_id: str, seq: int) -> int | None:
    """When an event of a session was recorded; None when there is no such event."""
    row = await database.row(
        "SELECT created_at FROM events WHERE workspace_id = :workspace_id AND session_id = :session_id AND seq = :seq",
        {"workspace_id": workspace_id, "session_id": session_id, "seq": seq},
    )
    return row[0] if row else None


async def told_after(database: Database, workspace_id: str, session_id: str, seq: int) -> set[str]:
    """The ids of the calls whose start or result has a number after `seq`."""
    found: set[str] = set()
    while rows := await database.scan(
        "SELECT seq, payload FROM events WHERE workspace_id = :workspace_id AND session_id = :session_id AND seq > :seq"
        " AND (type = :start OR type = :result) ORDER BY seq LIMIT :limit",
        {"workspace_id": workspace_id, "session_id": session_id, "seq": seq, **_CALLS, "limit": _PAGE},
    ):
        found.update(str(cast("dict[str, object]", from_json(payload)).get("toolId", "")) for _, payload in rows)
        seq = rows[-1][0]
    return found
