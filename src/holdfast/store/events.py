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
        return put(transaction, lease, session_id, new)

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


def put(transaction: Transaction, lease: Lease, session_id: str, new: Sequence[NewEvent]) -> list[Event]:
    """The events as they now stand in the log.

    Raises:
        NotFound: There is no such session.
    """
    at = now()
    values = {"workspace_id": lease.workspace_id, "session_id": session_id, "epoch": lease.epoch, "created_at": at}
    # The session's row is locked by this, so that nobody else takes the same numbers.
    numbered = transaction.row(
        "UPDATE sessions SET last_seq = last_seq + :count, updated_at = :created_at, epoch = :epoch"
        " WHERE workspace_id = :workspace_id AND id = :session_id AND deleted_at IS NULL RETURNING last_seq",
        {**values, "count": len(new)},
    )
    if numbered is None:
        raise NotFound("Session not found", session_id=session_id)
    seq = numbered[0] - len(new)
    stand: list[Event] = []
    for event in new:
        repeated = transaction.row(f"{_EVENT} AND key = :key", {**values, "key": event.key}) if event.key is not None else None
        if repeated is not None:
            stand.append(_event(repeated))
            continue
        seq += 1
        transaction.run(_INSERT, {**values, "seq": seq, "type": event.type, "payload": to_json(event.payload), "key": event.key})
        stand.append(Event(seq, event.type, event.key, at, event.payload))
    if seq < numbered[0]:
        transaction.run(
            "UPDATE sessions SET last_seq = :seq WHERE workspace_id = :workspace_id AND id = :session_id", {**values, "seq": seq}
        )
    return stand


def _event(row: Row) -> Event:
    return Event(*row[:-1], payload=from_json(row[-1]))
