"""The log of each session: what happened, numbered 1, 2, 3 … without gaps, and never changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json

from .columns import from_json, insert, now, to_json
from .database import Database, Row, Transaction
from .leases import Lease, check_held

_INSERT = insert("events", "workspace_id, session_id, seq, type, payload, key, epoch, created_at")
_EVENT = "SELECT seq, type, key, created_at, payload FROM events WHERE workspace_id = :workspace_id AND session_id = :session_id"


@dataclass(frozen=True)
class NewEvent:
    """Something that has happened; appended again with the same `key`, it is the event that is already there."""

    type: str
    payload: Json
    key: str | None = None


@dataclass(frozen=True)
class Event:
    """A row of `events`."""

    seq: int
    type: str
    key: str | None
    created_at: int
    payload: Json


def append(database: Database, lease: Lease, session_id: str, new: Sequence[NewEvent]) -> asyncio.Future[list[Event]]:
    """The events as they now stand in the log, all of them or none, whether or not somebody waits for that.

    Raises:
        NotFound: There is no such session.
    """

    def work(transaction: Transaction) -> list[Event]:
        check_held(transaction, lease)
        return [put(transaction, lease, session_id, event) for event in new]

    return database.post(work)


async def read(
    database: Database,
    workspace_id: str,
    session_id: str,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 1_000,
) -> list[Event]:
    """Events in their order: the first after `after`, or, when only `before` is given, the last before it."""
    backwards = before is not None and not after
    rows = await database.scan(
        f"{_EVENT} AND seq > :after AND seq < :before ORDER BY seq {'DESC' if backwards else 'ASC'} LIMIT :limit",
        {
            "workspace_id": workspace_id,
            "session_id": session_id,
            "after": after,
            "before": 2**62 if before is None else before,
            "limit": limit,
        },
    )
    return [_event(row) for row in (reversed(rows) if backwards else rows)]


def put(transaction: Transaction, lease: Lease, session_id: str, new: NewEvent) -> Event:
    """The event as it now stands in the log.

    Raises:
        NotFound: There is no such session.
    """
    at = now()
    values = {"workspace_id": lease.workspace_id, "session_id": session_id, "key": new.key, "epoch": lease.epoch, "created_at": at}
    # The session's row is locked by this, so that nobody else takes the same number.
    numbered = transaction.row(
        "UPDATE sessions SET last_seq = last_seq + 1, updated_at = :created_at, epoch = :epoch"
        " WHERE workspace_id = :workspace_id AND id = :session_id AND deleted_at IS NULL RETURNING last_seq",
        values,
    )
    if numbered is None:
        raise NotFound("Session not found", session_id=session_id)
    repeated = transaction.row(f"{_EVENT} AND key = :key", values) if new.key is not None else None
    if repeated is not None:
        transaction.run("UPDATE sessions SET last_seq = last_seq - 1 WHERE workspace_id = :workspace_id AND id = :session_id", values)
        return _event(repeated)
    transaction.run(_INSERT, {**values, "seq": numbered[0], "type": new.type, "payload": to_json(new.payload)})
    return Event(numbered[0], new.type, new.key, at, new.payload)


def _event(row: Row) -> Event:
    return Event(*row[:-1], payload=from_json(row[-1]))
