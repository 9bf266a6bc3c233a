"""Turns that have begun and not ended, so that whoever holds the workspace next can go on with them.

A turn begins and ends together with the events that say so, and an
answer is put into the log together with the end of its check-point:
nothing of it is there twice, and nothing is missing.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.vocabulary.json import Json

from . import events
from .columns import from_json, insert, now, to_json
from .database import Database, Durability, Row, Transaction
from .events import Event, NewEvent
from .leases import Lease, check_held

IDLE, RUNNING, WAITING = "idle", "running", "waiting"


@dataclass(frozen=True)
class OpenTurn:
    """A row of `turns`. `said` is the last check-point of the answer that was being given, None when there is none."""

    workspace_id: str
    session_id: str
    message_id: str
    resumed: int
    resumed_seq: int
    epoch: int
    created_at: int
    updated_at: int
    begun_with: Json
    used: Json
    said: Json


@dataclass(frozen=True)
class CallRecord:
    """What an entry of the audit says that came of a call."""

    outcome: str
    code: str
    output: Json


_COLUMNS = "workspace_id, session_id, message_id, resumed, resumed_seq, epoch, created_at, updated_at, begun_with, used, said"
_TURN = f"SELECT {_COLUMNS} FROM turns"
_HERE = "workspace_id = :workspace_id AND session_id = :session_id"


def begin(
    database: Database, lease: Lease, session_id: str, message_id: str, new: Sequence[NewEvent], *, begun_with: Json
) -> asyncio.Future[list[Event]]:
    """The events that a turn begins with; once they are there it is open, and its session running. This and what follows is done
    whether or not somebody waits for it, and in the order in which it was asked for.

    Raises:
        NotFound: There is no such session.
    """
    at = now()
    turn = OpenTurn(lease.workspace_id, session_id, message_id, 0, 0, lease.epoch, at, at, begun_with, None, None)

    def work(transaction: Transaction) -> list[Event]:
        check_held(transaction, lease)
        appended = events.put(transaction, lease, session_id, new)
        _delete(transaction, lease, session_id)
        told = {"begun_with": to_json(begun_with), "used": to_json(None), "said": None}
        transaction.run(insert("turns", _COLUMNS), {**vars(turn), **told})
        _set_state(transaction, lease, session_id, RUNNING)
        return appended

    return database.post(work)


def end(database: Database, lease: Lease, session_id: str, last: NewEvent) -> asyncio.Future[list[Event]]:
    """The event that a turn ends with; it is no longer open, and its session idle.

    Raises:
        NotFound: There is no such session.
    """

    def work(transaction: Transaction) -> list[Event]:
        check_held(transaction, lease)
        appended = events.put(transaction, lease, session_id, [last])
        _delete(transaction, lease, session_id)
        _set_state(transaction, lease, session_id, IDLE)
        return appended

    return database.post(work)


def answer(database: Database, lease: Lease, session_id: str, new: Sequence[NewEvent], *, used: Json = None) -> asyncio.Future[list[Event]]:
    """The events as they now stand in the log; what was check-pointed is among them, so it is forgotten. `used` is all so far.

    Raises:
        NotFound: There is no such session.
    """

    def work(transaction: Transaction) -> list[Event]:
        check_held(transaction, lease)
        appended = events.put(transaction, lease, session_id, new)
        values = {"workspace_id": lease.workspace_id, "session_id": session_id, "used": to_json(used), "now": now()}
        transaction.run(f"UPDATE turns SET said = NULL, used = :used, updated_at = :now WHERE {_HERE}", values)
        return appended

    return database.post(work)


def check_point(database: Database, lease: Lease, session_id: str, message_id: str, said: Json) -> asyncio.Future[None]:
    """Keep what has come of an answer, in the place of what was kept of it before."""
    values = {"workspace_id": lease.workspace_id, "session_id": session_id, "message_id": message_id, "now": now()}

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        update = f"UPDATE turns SET said = :said, updated_at = :now WHERE {_HERE} AND message_id = :message_id"
        transaction.run(update, {**values, "said": to_json(said)})

    return database.post(work, durability=Durability.RECORDED)


async def count_resumed(database: Database, lease: Lease, session_id: str, times: int, *, seq: int) -> None:
    """Remember that a turn is gone on with, how often that was so with nothing coming of it, and the newest event."""

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        transaction.run(
            f"UPDATE turns SET resumed = :times, resumed_seq = :seq, epoch = :epoch WHERE {_HERE}",
            {"workspace_id": lease.workspace_id, "session_id": session_id, "times": times, "seq": seq, "epoch": lease.epoch},
        )

    await database.write(work)


async def of_session(database: Database, workspace_id: str, session_id: str) -> OpenTurn | None:
    """The turn of a session that is open."""
    row = await database.row(f"{_TURN} WHERE {_HERE}", {"workspace_id": workspace_id, "session_id": session_id})
    return _turn(row) if row else None


async def left_open(database: Database, workspace_id: str) -> list[OpenTurn]:
    """All turns of a workspace that are open, the oldest first."""
    rows = await database.rows(f"{_TURN} WHERE workspace_id = :workspace_id ORDER BY created_at", {"workspace_id": workspace_id})
    return [_turn(row) for row in rows]


async def tidy(database: Database, lease: Lease) -> None:
    """For the new holder of a workspace: no session runs yet, and no clock runs for what is asked of one that nobody watches."""

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        values = {"workspace_id": lease.workspace_id, "epoch": lease.epoch}
        transaction.run(
            "DELETE FROM turns WHERE workspace_id = :workspace_id AND session_id IN"
            " (SELECT id FROM sessions WHERE workspace_id = :workspace_id AND deleted_at IS NOT NULL)",
            {"workspace_id": lease.workspace_id},
        )
        opened = "SELECT session_id FROM turns WHERE workspace_id = :workspace_id"
        transaction.run(
            "UPDATE sessions SET state = 'idle', epoch = :epoch WHERE workspace_id = :workspace_id AND state <> 'idle'"
            f" AND id NOT IN ({opened})",
            values,
        )
        transaction.run(
            "UPDATE approvals SET expires_at = NULL, epoch = :epoch WHERE workspace_id = :workspace_id AND state = 'pending'"
            f" AND session_id IN ({opened})",
            values,
        )

    await database.write(work)


def say_state(database: Database, lease: Lease, session_id: str, state: str) -> asyncio.Future[None]:
    """Let a session be in a state, whether or not somebody waits for that."""

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        _set_state(transaction, lease, session_id, state)

    return database.post(work, durability=Durability.RECORDED)


async def asked_in_call(database: Database, workspace_id: str, session_id: str, call_id: str) -> list[str]:
    """The ids of the approvals that a call has asked for, the oldest first."""
    rows = await database.rows(
        "SELECT id FROM approvals WHERE workspace_id = :workspace_id AND session_id = :session_id AND call_id = :call_id ORDER BY id",
        {"workspace_id": workspace_id, "session_id": session_id, "call_id": call_id},
    )
    return [row[0] for row in rows]


async def records_of_call(database: Database, workspace_id: str, session_id: str, call_id: str) -> list[CallRecord]:
    """What the audit knows of a call of a session, the newest first."""
    rows = await database.scan(
        "SELECT outcome, code, output FROM audit WHERE workspace_id = :workspace_id AND session_id = :session_id AND call_id = :call_id"
        " ORDER BY id DESC",
        {"workspace_id": workspace_id, "session_id": session_id, "call_id": call_id},
    )
    return [CallRecord(row[0], row[1], from_json(row[2])) for row in rows]


async def give_back(database: Database, lease: Lease, approval_id: str, key: str) -> None:
    """Let a yes that was used up count once more, because the call that it was for has not come to anything."""

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        transaction.run(
            "UPDATE approvals SET key = :key, epoch = :epoch"
            " WHERE id = :id AND workspace_id = :workspace_id AND state = 'approved' AND key IS NULL",
            {"id": approval_id, "workspace_id": lease.workspace_id, "key": key, "epoch": lease.epoch},
        )

    await database.write(work)


async def close_asked(database: Database, lease: Lease, session_id: str, wanted: Callable[[str], bool]) -> list[tuple[str, str, str]]:
    """Expire what calls of a session still ask for, the wanted ones by their ids; gives call, tool and approval of each."""
    values = {"workspace_id": lease.workspace_id, "session_id": session_id, "now": now(), "epoch": lease.epoch}

    def work(transaction: Transaction) -> list[tuple[str, str, str]]:
        check_held(transaction, lease)
        pending = f"WHERE {_HERE} AND state = 'pending'"
        asked = [row for row in transaction.rows(f"SELECT call_id, tool, id FROM approvals {pending}", values) if wanted(row[0])]
        for row in asked:
            closed = "UPDATE approvals SET state = 'expired', decided_at = :now, epoch = :epoch WHERE id = :id"
            transaction.run(closed, {"now": values["now"], "epoch": lease.epoch, "id": row[2]})
        for row in transaction.rows(f"SELECT call_id, id FROM questions {pending}", values):
            if wanted(row[0]):
                transaction.run(
                    "UPDATE questions SET state = 'expired', epoch = :epoch WHERE id = :id", {"epoch": lease.epoch, "id": row[1]}
                )
        return [(row[0], row[1], row[2]) for row in asked]

    return await database.write(work)


def _delete(transaction: Transaction, lease: Lease, session_id: str) -> None:
    transaction.run(f"DELETE FROM turns WHERE {_HERE}", {"workspace_id": lease.workspace_id, "session_id": session_id})


def _set_state(transaction: Transaction, lease: Lease, session_id: str, state: str) -> None:
    values = {"workspace_id": lease.workspace_id, "session_id": session_id, "state": state, "epoch": lease.epoch}
    transaction.run("UPDATE sessions SET state = :state, epoch = :epoch WHERE workspace_id = :workspace_id AND id = :session_id", values)


def _turn(row: Row) -> OpenTurn:
    return OpenTurn(*row[:-3], *(None if text is None else from_json(text) for text in row[-3:]))
