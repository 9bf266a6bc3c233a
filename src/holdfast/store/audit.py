"""One entry per call, refusals and failures included.

An entry that says `started` is the durable record that a call is about
to run; the entry with the same id that follows it says what came of it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.vocabulary.json import Json

from .columns import from_json, insert, storable, to_json
from .database import Database, Durability, Row, Transaction
from .leases import Lease, check_held

STARTED = "started"


@dataclass(frozen=True)
class Entry:
    """A row of `audit`. `outcome` is `started`, `done`, `refused` or `failed`; `code` is that of the error."""

    id: str
    workspace_id: str
    ts: int
    tool: str
    outcome: str
    epoch: int
    session_id: str = ""
    call_id: str = ""
    agent: str = ""
    user_id: str = ""
    code: str = ""
    duration_ms: float | None = None
    input: Json = None
    output: Json = None


_COLUMNS = "id, workspace_id, ts, tool, outcome, epoch, session_id, call_id, agent, user_id, code, duration_ms, input, output"
_ENTRY = f"SELECT {_COLUMNS} FROM audit"
_PUT = (
    f"{insert('audit', _COLUMNS)} ON CONFLICT (workspace_id, id)"
    " DO UPDATE SET outcome = excluded.outcome, code = excluded.code, duration_ms = excluded.duration_ms, output = excluded.output"
)


async def intend(database: Database, lease: Lease, entry: Entry) -> None:
    """Record that a call is about to run, so that even a power cut cannot hide it.

    Raises:
        LostLease: The workspace is no longer ours, and the call must not run.
    """

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        put(transaction, entry)

    await database.write(work)


def record(database: Database, entry: Entry, *, after: Callable[[], None] | None = None) -> asyncio.Future[None]:
    """Record what came of a call, whether or not somebody waits for it; `after` is called when it is recorded."""
    return database.post(lambda transaction: put(transaction, entry), durability=Durability.RECORDED, after=after)


async def entries(
    database: Database, workspace_id: str, *, session_id: str | None = None, before: str | None = None, limit: int = 100
) -> list[Entry]:
    """The entries of a workspace, the newest first; `before` is the id that the page before ended with."""
    values = {"workspace_id": workspace_id, "limit": limit, "session_id": session_id, "before": before}
    of_session = "" if session_id is None else " AND session_id = :session_id"
    earlier = "" if before is None else " AND id < :before"
    rows = await database.scan(f"{_ENTRY} WHERE workspace_id = :workspace_id{of_session}{earlier} ORDER BY id DESC LIMIT :limit", values)
    return [_entry(row) for row in rows]


async def unfinished(database: Database, lease: Lease) -> list[Entry]:
    """For the new holder of a workspace: calls that had started under earlier holders, and of which nothing more is known."""
    rows = await database.scan(
        f"{_ENTRY} WHERE workspace_id = :workspace_id AND outcome = 'started' AND epoch < :epoch ORDER BY id",
        {"workspace_id": lease.workspace_id, "epoch": lease.epoch},
    )
    return [_entry(row) for row in rows]


def put(transaction: Transaction, entry: Entry) -> None:
    """Write the entry, or complete the one with its id."""
    words = {
        "tool": storable(entry.tool),
        "session_id": storable(entry.session_id),
        "call_id": storable(entry.call_id),
        "agent": storable(entry.agent),
        "user_id": storable(entry.user_id),
        "input": to_json(entry.input),
        "output": to_json(entry.output),
    }
    transaction.run(_PUT, {**vars(entry), **words})


def _entry(row: Row) -> Entry:
    return Entry(*row[:-2], input=from_json(row[-2]), output=from_json(row[-1]))
