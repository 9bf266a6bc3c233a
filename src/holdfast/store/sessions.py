"""Conversations: what each is called, how it is set, and whether it runs."""

from dataclasses import dataclass

from holdfast.vocabulary.errors import Exists, NotFound

from .columns import insert, now, storable
from .database import Database, Row, Transaction
from .leases import Lease, check_held
from .uuid7 import uuid7


@dataclass(frozen=True)
class Session:
    """A row of `sessions`.

    `mode` is `plan` or `build`, `state` is `idle`, `running` or `waiting`;
    `last_seq` is the number of its newest event, 0 when there is none.
    """

    workspace_id: str
    id: str
    title: str
    mode: str
    trust: str
    profile: str
    state: str
    last_seq: int
    epoch: int
    created_at: int
    updated_at: int


_COLUMNS = "workspace_id, id, title, mode, trust, profile, state, last_seq, epoch, created_at, updated_at"
_SESSION = f"SELECT {_COLUMNS} FROM sessions"


async def open_session(
    database: Database, lease: Lease, *, session_id: str | None = None, title: str = "", mode: str = "build", trust: str, profile: str
) -> Session:
    """A new session, under an id that the client may choose.

    Raises:
        Exists: The workspace has, or had, a session with that id.
    """
    at = now()
    session = Session(
        workspace_id=lease.workspace_id,
        id=session_id or uuid7(),
        title=storable(title),
        mode=mode,
        trust=trust,
        profile=profile,
        state="idle",
        last_seq=0,
        epoch=lease.epoch,
        created_at=at,
        updated_at=at,
    )

    def work(transaction: Transaction) -> Row | None:
        check_held(transaction, lease)
        return transaction.row(f"{insert('sessions', _COLUMNS)} ON CONFLICT (workspace_id, id) DO NOTHING RETURNING id", vars(session))

    if await database.write(work) is None:
        raise Exists("there is already a session with that id", hint="Choose another.", session_id=session.id)
    return session


async def get(database: Database, workspace_id: str, session_id: str) -> Session | None:
    """The session with that id."""
    row = await database.row(
        f"{_SESSION} WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL",
        {"workspace_id": workspace_id, "id": session_id},
    )
    return Session(*row) if row else None


async def how_set(database: Database, workspace_id: str, session_id: str) -> tuple[str, str] | None:
    """Mode and trust of the session with that id: asked for again and again while it runs."""
    row = await database.row(
        "SELECT mode, trust FROM sessions WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL",
        {"workspace_id": workspace_id, "id": session_id},
    )
    return (row[0], row[1]) if row else None


async def latest(database: Database, workspace_id: str, *, before: int | None = None, limit: int = 100) -> list[Session]:
    """The sessions of a workspace, the last used first; `before` is the `updated_at` that the page before ended with."""
    rows = await database.rows(
        f"{_SESSION} WHERE workspace_id = :workspace_id AND deleted_at IS NULL AND updated_at < :before"
        " ORDER BY updated_at DESC, id DESC LIMIT :limit",
        {"workspace_id": workspace_id, "before": 2**62 if before is None else before, "limit": limit},
    )
    return [Session(*row) for row in rows]


async def change(
    database: Database,
    lease: Lease,
    session_id: str,
    *,
    title: str | None = None,
    mode: str | None = None,
    trust: str | None = None,
    state: str | None = None,
) -> Session:
    """The session with what is not None set anew.

    Raises:
        NotFound: There is no such session.
    """

    def work(transaction: Transaction) -> Row | None:
        check_held(transaction, lease)
        return transaction.row(
            "UPDATE sessions SET title = COALESCE(:title, title), mode = COALESCE(:mode, mode), trust = COALESCE(:trust, trust),"
            " state = COALESCE(:state, state), epoch = :epoch, updated_at = :now"
            f" WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL RETURNING {_COLUMNS}",
            {
                "workspace_id": lease.workspace_id,
                "id": session_id,
                "title": None if title is None else storable(title),
                "mode": mode,
                "trust": trust,
                "state": state,
                "epoch": lease.epoch,
                "now": now(),
            },
        )

    row = await database.write(work)
    if row is None:
        raise NotFound("Session not found", session_id=session_id)
    return Session(*row)


async def delete(database: Database, lease: Lease, session_id: str) -> None:
    """Let nobody find the session any more; its events stay.

    Raises:
        NotFound: There is no such session.
    """

    def work(transaction: Transaction) -> int:
        check_held(transaction, lease)
        return transaction.run(
            "UPDATE sessions SET deleted_at = :now, epoch = :epoch WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL",
            {"now": now(), "epoch": lease.epoch, "workspace_id": lease.workspace_id, "id": session_id},
        )

    if not await database.write(work):
        raise NotFound("Session not found", session_id=session_id)
