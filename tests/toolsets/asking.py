"""Asking a desk in the words of `workspace`: results, statuses, and calls within a session."""

import asyncio
import hashlib
from typing import Any
from uuid import uuid4

from holdfast.store import sessions
from holdfast.store.questions import Question
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done
from holdfast.vocabulary.statuses import status_of
from tests.desk import Desk
from tests.workspace.shelf import add_virtual


async def done(desk: Desk, name: str, /, **arguments: Any) -> Any:
    """Call a tool that must succeed, and give its result."""
    body = await desk.call(name, **arguments)
    assert body["success"] is True, body
    assert body["error"] is None
    return body["result"]


async def refused(desk: Desk, status: int, name: str, /, **arguments: Any) -> Any:
    """Call a tool that must be answered with this status, and give the whole answer."""
    body = await desk.call(name, **arguments)
    assert status_now(desk) == status, body
    assert body["success"] is False
    assert body["code"] == status_of(desk.last_code or "").code
    return body


def status_now(desk: Desk) -> int:
    """What the REST door would answer the last call with."""
    assert desk.last is not None
    return 200 if isinstance(desk.last, Done) else status_of(desk.last.error.code).number


def sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


async def add_chat(desk: Desk, path: str, text: str, *, content_kind: str = "text") -> str:
    """A virtual file, as a session makes them; returns its id."""
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    return await add_virtual(desk.holdfast.platform.database, held.lease, path.removeprefix("/"), text, content_kind=content_kind)


class Conversation:
    """One session at a desk, and the person before it."""

    def __init__(self, desk: Desk, session_id: str) -> None:
        self.desk = desk
        self.id = session_id

    @classmethod
    async def begun(cls, desk: Desk, *, mode: str) -> "Conversation":
        held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
        session = await sessions.open_session(desk.holdfast.platform.database, held.lease, mode=mode, trust="guided", profile="coder")
        return cls(desk, session.id)

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool in the session."""
        call = ToolCall(f"call-{uuid4()}", name, arguments, Caller(agent="coder", session=self.id, run=self.desk.holdfast.run))
        self.desk.last = await self.desk.holdfast.take(call)
        return self.desk.last.answer.body

    async def asked(self) -> Question:
        """The question that the person sees, as soon as there is one."""
        held = await self.desk.holdfast.platform.hold(self.desk.holdfast.workspace_id)
        for _ in range(500):
            if pending := [question for question in await held.person.questions() if question.session_id == self.id]:
                return pending[0]
            await asyncio.sleep(0.01)
        raise AssertionError("nobody was asked anything")

    async def answer(self, **answers: Json) -> None:
        """The person answers what is asked."""
        held = await self.desk.holdfast.platform.hold(self.desk.holdfast.workspace_id)
        await held.person.answer((await self.asked()).id, answers, by="somebody")

    async def mode(self) -> str:
        held = await self.desk.holdfast.platform.hold(self.desk.holdfast.workspace_id)
        return (await held.person.mode(self.id)).value
