"""What the model asks the person, and the answers. They outlive the process, and any client can answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.vocabulary.errors import Conflict, NotFound
from holdfast.vocabulary.json import Json

from .columns import from_json, insert, now, to_json
from .database import Database, Row, Transaction
from .leases import Lease, check_held
from .uuid7 import uuid7

PENDING = "pending"
EXPIRED = "expired"


@dataclass(frozen=True)
class Question:
    """A row of `questions`: what one call asked. `state` is `pending`, `answered` or `expired`."""

    id: str
    workspace_id: str
    session_id: str
    call_id: str
    state: str
    answered_by: str
    key: str | None
    epoch: int
    created_at: int
    expires_at: int | None
    answered_at: int | None
    questions: Json
    answers: Json
    by_button: bool


_COLUMNS = (
    "id, workspace_id, session_id, call_id, state, answered_by, key, epoch, created_at, expires_at, answered_at,"
    " questions, answers, by_button"
)
_QUESTION = f"SELECT {_COLUMNS} FROM questions"
_PUT = f"{insert('questions', _COLUMNS)} ON CONFLICT (workspace_id, key) WHERE key IS NOT NULL DO NOTHING"


async def ask(
    database: Database,
    lease: Lease,
    questions: Sequence[Json],
    *,
    session_id: str = "",
    call_id: str = "",
    expires_at: int | None = None,
    key: str | None = None,
) -> Question:
    """The question, pending; or the one that was asked with the same key before."""
    question = Question(
        id=uuid7(),
        workspace_id=lease.workspace_id,
        session_id=session_id,
        call_id=call_id,
        state=PENDING,
        answered_by="",
        key=key,
        epoch=lease.epoch,
        created_at=now(),
        expires_at=expires_at,
        answered_at=None,
        questions=questions,
        answers=None,
        by_button=False,
    )

    def work(transaction: Transaction) -> Question:
        check_held(transaction, lease)
        if transaction.run(_PUT, {**vars(question), "questions": to_json(questions), "answers": to_json(None)}):
            return question
        row = transaction.row(f"{_QUESTION} WHERE workspace_id = :workspace_id AND key = :key", vars(question))
        assert row is not None
        return _question(row)

    return await database.write(work)


async def get(database: Database, workspace_id: str, question_id: str) -> Question | None:
    """The question with that id."""
    row = await database.row(
        f"{_QUESTION} WHERE id = :id AND workspace_id = :workspace_id", {"id": question_id, "workspace_id": workspace_id}
    )
    return _question(row) if row else None


async def in_state(database: Database, workspace_id: str, state: str = PENDING, *, limit: int = 1_000) -> list[Question]:
    """The questions of a workspace that are in that state, the oldest first."""
    rows = await database.rows(
        f"{_QUESTION} WHERE workspace_id = :workspace_id AND state = :state ORDER BY id LIMIT :limit",
        {"workspace_id": workspace_id, "state": state, "limit": limit},
    )
    return [_question(row) for row in rows]


async def last_of(database: Database, workspace_id: str, session_id: str) -> Question | None:
    """What a session asked last, answered or not."""
    row = await database.row(
        f"{_QUESTION} WHERE workspace_id = :workspace_id AND session_id = :session_id ORDER BY id DESC LIMIT 1",
        {"workspace_id": workspace_id, "session_id": session_id},
    )
    return _question(row) if row else None


async def answer(
    database: Database, lease: Lease, question_id: str, answers: Mapping[str, Json], *, by: str, by_button: bool = False
) -> Question:
    """The question, answered. Only the first answer counts.

    Raises:
        NotFound: There is no such question.
        Conflict: It has been answered, or is past its time.
    """
    at = now()

    def work(transaction: Transaction) -> Question:
        check_held(transaction, lease)
        row = transaction.row(
            f"{_QUESTION} WHERE id = :id AND workspace_id = :workspace_id FOR UPDATE",
            {"id": question_id, "workspace_id": lease.workspace_id},
        )
        if row is None:
            raise NotFound("there is no such question", question_id=question_id)
        _check_open(_question(row), at)
        answered = transaction.row(
            "UPDATE questions SET state = 'answered', answers = :answers, by_button = :by_button, answered_by = :by, answered_at = :now,"
            f" epoch = :epoch WHERE id = :id RETURNING {_COLUMNS}",
            {"id": question_id, "answers": to_json(answers), "by_button": by_button, "by": by, "now": at, "epoch": lease.epoch},
        )
        assert answered is not None
        return _question(answered)

    return await database.write(work)


async def expire(database: Database, lease: Lease) -> list[Question]:
    """Those whose time has just run out, now `expired`."""
    at = now()

    def work(transaction: Transaction) -> list[Question]:
        check_held(transaction, lease)
        rows = transaction.rows(
            "UPDATE questions SET state = 'expired', epoch = :epoch"
            f" WHERE workspace_id = :workspace_id AND state = 'pending' AND expires_at <= :now RETURNING {_COLUMNS}",
            {"workspace_id": lease.workspace_id, "now": at, "epoch": lease.epoch},
        )
        return [_question(row) for row in rows]

    return await database.write(work)


def _check_open(question: Question, at: int) -> None:
    if question.state != PENDING:
        raise Conflict(f"the question is already {question.state}", state=question.state)
    if question.expires_at is not None and question.expires_at <= at:
        raise Conflict("the time to answer has run out", state=EXPIRED)


def _question(row: Row) -> Question:
    return Question(*row[:-3], questions=from_json(row[-3]), answers=from_json(row[-2]), by_button=bool(row[-1]))
