"""Calls that wait for a person's yes or no. They outlive the process, and any client can answer."""

from dataclasses import dataclass

from holdfast.vocabulary.errors import Conflict, NotFound
from holdfast.vocabulary.json import Json

from .columns import from_json, insert, now, storable, to_json
from .database import Database, Row, Transaction
from .leases import Lease, check_held
from .uuid7 import uuid7

PENDING = "pending"
EXPIRED = "expired"


@dataclass(frozen=True, kw_only=True)
class NewApproval:
    """What is to be decided. The two calls are what makes held effects real, or throws them away."""

    session_id: str
    call_id: str
    tool: str
    input: Json
    args_hash: str
    reason: str
    effects: Json = None
    effects_hash: str | None = None
    keep_call: Json = None
    drop_call: Json = None
    expires_at: int | None = None
    key: str | None = None


@dataclass(frozen=True)
class Approval:
    """A row of `approvals`. `state` is `pending`, `approved`, `denied`, `expired`, `kept` or `dropped`."""

    id: str
    workspace_id: str
    session_id: str
    call_id: str
    tool: str
    args_hash: str
    reason: str
    state: str
    effects_hash: str | None
    feedback: str
    decided_by: str
    key: str | None
    epoch: int
    created_at: int
    expires_at: int | None
    decided_at: int | None
    input: Json
    effects: Json
    keep_call: Json
    drop_call: Json
    changed: Json


_COLUMNS = (
    "id, workspace_id, session_id, call_id, tool, args_hash, reason, state, effects_hash, feedback, decided_by, key, epoch, created_at,"
    " expires_at, decided_at, input, effects, keep_call, drop_call, changed"
)
_APPROVAL = f"SELECT {_COLUMNS} FROM approvals"
_PUT = f"{insert('approvals', _COLUMNS)} ON CONFLICT (workspace_id, key) WHERE key IS NOT NULL DO NOTHING"


async def ask(database: Database, lease: Lease, new: NewApproval) -> Approval:
    """The approval, pending; or the one that was asked for with the same key before."""
    approval = Approval(
        **vars(new),
        id=uuid7(),
        workspace_id=lease.workspace_id,
        state=PENDING,
        feedback="",
        decided_by="",
        epoch=lease.epoch,
        created_at=now(),
        decided_at=None,
        changed=None,
    )
    texts: dict[str, str | None] = {"changed": None}
    texts |= {name: to_json(value) for name, value in vars(new).items() if name in ("input", "effects", "keep_call", "drop_call")}

    def work(transaction: Transaction) -> Approval:
        check_held(transaction, lease)
        if transaction.run(_PUT, {**vars(approval), **texts}):
            return approval
        row = transaction.row(f"{_APPROVAL} WHERE workspace_id = :workspace_id AND key = :key", vars(approval))
        assert row is not None
        return _approval(row)

    return await database.write(work)


async def get(database: Database, workspace_id: str, approval_id: str) -> Approval | None:
    """The approval with that id."""
    row = await database.row(
        f"{_APPROVAL} WHERE id = :id AND workspace_id = :workspace_id", {"id": approval_id, "workspace_id": workspace_id}
    )
    return _approval(row) if row else None


async def in_state(database: Database, workspace_id: str, state: str = PENDING, *, limit: int = 1_000) -> list[Approval]:
    """The approvals of a workspace that are in that state, the oldest first."""
    rows = await database.rows(
        f"{_APPROVAL} WHERE workspace_id = :workspace_id AND state = :state ORDER BY id LIMIT :limit",
        {"workspace_id": workspace_id, "state": state, "limit": limit},
    )
    return [_approval(row) for row in rows]


async def decide(
    database: Database,
    lease: Lease,
    approval_id: str,
    state: str,
    *,
    by: str,
    feedback: str = "",
    effects_hash: str | None = None,
    changed: Json = None,
) -> Approval:
    """The approval, decided. Only the first decision counts, and only one about the effects as they are.

    `changed` are the arguments that the call is to have instead of its own.

    Raises:
        NotFound: There is no such approval.
        Conflict: It has been decided, is past its time, or its effects are not those with `effects_hash`.
    """
    at = now()

    def work(transaction: Transaction) -> Approval:
        check_held(transaction, lease)
        row = transaction.row(
            f"{_APPROVAL} WHERE id = :id AND workspace_id = :workspace_id FOR UPDATE",
            {"id": approval_id, "workspace_id": lease.workspace_id},
        )
        if row is None:
            raise NotFound("there is no such approval", approval_id=approval_id)
        _check_open(_approval(row), at, effects_hash)
        decided = transaction.row(
            "UPDATE approvals SET state = :state, decided_by = :by, feedback = :feedback, changed = :changed, decided_at = :now,"
            f" epoch = :epoch WHERE id = :id RETURNING {_COLUMNS}",
            {
                "id": approval_id,
                "state": state,
                "by": by,
                "feedback": storable(feedback),
                "changed": None if changed is None else to_json(changed),
                "now": at,
                "epoch": lease.epoch,
            },
        )
        assert decided is not None
        return _approval(decided)

    return await database.write(work)


async def use(database: Database, lease: Lease, approval_id: str) -> bool:
    """Use a yes up, and tell whether it was still there: it is for one call, and whoever makes the same again is asked again."""

    def work(transaction: Transaction) -> bool:
        check_held(transaction, lease)
        used = transaction.run(
            "UPDATE approvals SET key = NULL, epoch = :epoch"
            " WHERE id = :id AND workspace_id = :workspace_id AND state = 'approved' AND key IS NOT NULL",
            {"id": approval_id, "workspace_id": lease.workspace_id, "epoch": lease.epoch},
        )
        return bool(used)

    return await database.write(work)


async def expire(database: Database, lease: Lease) -> list[Approval]:
    """Those whose time has just run out, now `expired`."""
    at = now()

    def work(transaction: Transaction) -> list[Approval]:
        check_held(transaction, lease)
        rows = transaction.rows(
            "UPDATE approvals SET state = 'expired', decided_at = :now, epoch = :epoch"
            f" WHERE workspace_id = :workspace_id AND state = 'pending' AND expires_at <= :now RETURNING {_COLUMNS}",
            {"workspace_id": lease.workspace_id, "now": at, "epoch": lease.epoch},
        )
        return [_approval(row) for row in rows]

    return await database.write(work)


def _check_open(approval: Approval, at: int, effects_hash: str | None) -> None:
    if approval.state != PENDING:
        raise Conflict(f"the approval is already {approval.state}", state=approval.state)
    if approval.expires_at is not None and approval.expires_at <= at:
        raise Conflict("the time to decide has run out", state=EXPIRED)
    if approval.effects_hash != effects_hash:
        raise Conflict("the effects are not those that were seen", hint="Look at them again.", effects_hash=approval.effects_hash)


def _approval(row: Row) -> Approval:
    return Approval(*row[:-5], *(None if text is None else from_json(text) for text in row[-5:]))
