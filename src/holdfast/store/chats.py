"""Sessions as they are listed and read: few columns of each, and of its log the messages alone."""

from typing import NamedTuple

from .columns import from_json
from .database import Database
from .events import Event

MESSAGE = "message"

_FEW = 1_000  # what may be listed on the loop's thread
_ENDLESS = 2**62
_CHAT = "SELECT id, title, last_seq, created_at, updated_at FROM sessions WHERE workspace_id = :workspace_id AND deleted_at IS NULL"


class Chat(NamedTuple):
    """A session, as far as its text depends on it: `last_seq` tells whether there is more of that."""

    id: str
    title: str
    last_seq: int
    created_at: int
    updated_at: int


async def find(database: Database, workspace_id: str, session_id: str) -> Chat | None:
    """The chat of that session."""
    row = await database.row(f"{_CHAT} AND id = :id", {"workspace_id": workspace_id, "id": session_id})
    return Chat(*row) if row else None


async def latest(database: Database, workspace_id: str) -> Chat | None:
    """The chat of the session that was used last; None when the workspace has no session."""
    row = await database.row(f"{_CHAT} ORDER BY updated_at DESC LIMIT 1", {"workspace_id": workspace_id})
    return Chat(*row) if row else None


async def every(database: Database, workspace_id: str) -> list[Chat]:
    """The chats of all sessions, by id."""
    sql = f"{_CHAT} AND id > :after ORDER BY id LIMIT :limit"
    rows = await database.rows(sql, {"workspace_id": workspace_id, "after": "", "limit": _FEW})
    if len(rows) == _FEW:
        rows += await database.scan(sql, {"workspace_id": workspace_id, "after": rows[-1][0], "limit": _ENDLESS})
    return [Chat(*row) for row in rows]


async def messages(database: Database, workspace_id: str, session_id: str, *, after: int, until: int, limit: int) -> list[Event]:
    """The first messages of a session with numbers after `after`, none after `until`."""
    rows = await database.scan(
        "SELECT seq, type, key, created_at, payload FROM events WHERE workspace_id = :workspace_id AND session_id = :session_id"
        " AND seq > :after AND seq <= :until AND type = :type ORDER BY seq LIMIT :limit",
        {"workspace_id": workspace_id, "session_id": session_id, "after": after, "until": until, "type": MESSAGE, "limit": limit},
    )
    return [Event(*row[:-1], payload=from_json(row[-1])) for row in rows]
