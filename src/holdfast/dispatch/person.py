"""The person before a session: what they are asked, what they answer, and the mode that they have the session in.

Questions are rows: they outlive the process, and any client can answer.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import jsonschema_rs

from holdfast.store import questions as rows
from holdfast.store import sessions
from holdfast.store.columns import now
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.questions import Question
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import Busy, InvalidArguments, Mistake, NotFound, NotPermitted, TimedOut
from holdfast.vocabulary.events import Event, QuestionAsked
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.moments import iso

ACCEPT = "Accept"
_LOOK_AGAIN_SECONDS = 1.0


class SessionPerson:
    """Whoever sits before the sessions of one workspace."""

    def __init__(
        self, database: Database, lease: Lease, *, question_seconds: float, announce: Callable[[Event], None] = lambda _: None
    ) -> None:
        self._announce = announce
        self._database = database
        self._lease = lease
        self._question_seconds = question_seconds
        self._answered: dict[str, asyncio.Event] = {}
        self._has_left = False
        self.waits: Callable[[ToolCall], AbstractContextManager[None]] = lambda _: nullcontext()
        self.was_answered: Callable[[Question], None] = lambda _: None

    async def mode(self, session: str) -> Mode:
        """The mode of a session; without one it is build.

        Raises:
            NotFound: There is no such session.
        """
        if not session:
            return Mode.BUILD
        found = await sessions.how_set(self._database, self._lease.workspace_id, session)
        if found is None:
            raise NotFound("Session not found", hint="Create it first, or leave the session out.", session=session)
        return Mode(found[0])

    async def ask(self, call: ToolCall, questions: Sequence[JsonObject]) -> Json:
        """Put questions to the person: in a session wait for `{name: answer}`, otherwise say that they are pending.

        Raises:
            TimedOut: Nobody answered in time.
        """
        session = call.caller.session
        expires_at = now() + int(self._question_seconds * 1_000_000)
        # A call that is taken up again after a restart finds what it has asked.
        key = f"{session}/{call.id}" if session else None
        question = await rows.ask(
            self._database, self._lease, list(questions), session_id=session, call_id=call.id, expires_at=expires_at, key=key
        )
        self._announce(QuestionAsked(call, shown_question(question)))
        if not session:
            return {"status": "question_pending", "question_id": question.id, "questions": questions}
        with self.waits(call):
            return await self._answer_to(question.id)

    async def answer(self, question_id: str, answers: Mapping[str, Json], *, by: str) -> Question:
        """Take the person's answer: each must be a button's value, or valid by its question's schema.

        Raises:
            NotFound: There is no such question.
            InvalidArguments: An answer is missing, is not asked for, or does not fit.
            Conflict: It has been answered, or its time has run out.
        """
        question = await rows.get(self._database, self._lease.workspace_id, question_id)
        if question is None:
            raise NotFound("there is no such question", hint="List the pending ones.", question_id=question_id)
        asked = {str(each["name"]): each for each in cast("Sequence[JsonObject]", question.questions)}
        by_button = _check(asked, answers)
        answered = await rows.answer(self._database, self._lease, question_id, answers, by=by, by_button=by_button)
        if question_id in self._answered:
            self._answered[question_id].set()
        self.was_answered(answered)
        return answered

    async def questions(self, state: str = "pending") -> list[Question]:
        """The questions that are in a state, the oldest first."""
        await rows.expire(self._database, self._lease)
        return await rows.in_state(self._database, self._lease.workspace_id, state)

    async def accept_plan(self, call: ToolCall, plan: str) -> None:
        """Turn the session to building, if the person has just accepted by a button.

        Raises:
            NotPermitted: The last question was not answered so.
        """
        session = call.caller.session
        if not session:
            return
        last = await rows.last_of(self._database, self._lease.workspace_id, session)
        answers = list(cast("Mapping[str, Json]", last.answers or {}).values()) if last is not None else []
        if last is None or not last.by_button or ACCEPT not in answers:
            hint = "Ask with ask_user, with an Accept and a Reject button, and go on only when the answer is Accept."
            raise NotPermitted(f"the person has not accepted {plan} by the button", hint=hint, plan=plan)
        await sessions.change(self._database, self._lease, session, mode=Mode.BUILD.value)

    def leave(self) -> None:
        """Let nobody wait here any longer; the questions stay, for the next process that holds the workspace."""
        self._has_left = True
        for event in self._answered.values():
            event.set()

    async def _answer_to(self, question_id: str) -> Json:
        event = self._answered.setdefault(question_id, asyncio.Event())
        try:
            while True:
                question = await rows.get(self._database, self._lease.workspace_id, question_id)
                if question is None or question.state == "expired" or ((question.expires_at or 0) <= now() and question.state == "pending"):
                    raise TimedOut("nobody answered the question in time", hint="Go on without the answer, or ask again.")
                if question.state == "answered":
                    return question.answers
                if self._has_left:
                    raise Busy("the question is pending, and nobody waits for it here any more", hint="It can still be answered.")
                # Another process may have taken the answer, so look now and then.
                try:
                    await asyncio.wait_for(event.wait(), _LOOK_AGAIN_SECONDS)
                except TimeoutError:
                    continue
        finally:
            self._answered.pop(question_id, None)


def shown_question(question: Question) -> dict[str, Any]:
    """A question as clients see it."""
    return {
        "id": question.id,
        "session_id": question.session_id,
        "call_id": question.call_id,
        "state": question.state,
        "questions": question.questions,
        "answers": question.answers,
        "created_at": iso(question.created_at),
        "expires_at": None if question.expires_at is None else iso(question.expires_at),
    }


def _check(asked: Mapping[str, JsonObject], answers: Mapping[str, Json]) -> bool:
    """Whether every answer is a button's; what fits neither button nor schema is a mistake."""
    mistakes = [Mistake(name, "is not answered") for name in asked if name not in answers]
    mistakes += [Mistake(name, "was not asked") for name in answers if name not in asked]
    by_button = True
    for name in asked.keys() & answers.keys():
        buttons = cast("Sequence[JsonObject]", asked[name].get("buttons") or [])
        if any(button.get("value") == answers[name] for button in buttons):
            continue
        by_button = False
        if not is_valid(cast("JsonObject", asked[name].get("schema") or {}), answers[name]):
            mistakes.append(Mistake(name, "does not fit its schema"))
    if mistakes:
        raise InvalidArguments(mistakes, hint="Answer every question by its schema, or with a button's value.")
    return by_button


def is_valid(schema: JsonObject | str, value: Json) -> bool:
    """Whether a value fits a JSON schema."""
    parsed: Any = json.loads(schema) if isinstance(schema, str) else schema
    return jsonschema_rs.validator_for(parsed, offline=True).is_valid(value)
