"""POST /workspaces/{id}/tools: any tool by its name. The busiest address, so nothing stands between it and the road."""

import asyncio
import contextlib
import re
from collections.abc import Generator
from typing import Any, cast
from uuid import uuid4

import orjson

from holdfast.accounts.tokens import Identity
from holdfast.app import EVERYTHING, SAFE_ONLY
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.errors import Cancelled, InvalidArguments, Mistake
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome, Refused
from holdfast.vocabulary.statuses import BUSY, status_of

from .door import Door
from .replies import Receive, Scope, Send, error_body, reply

ADDRESS = re.compile(r"/api/v1/workspaces/([^/]+)/tools/?")
_EFFECTS = tuple(wish.value for wish in Wish)
_LISTEN_AFTER_SECONDS = 0.25
_HUNG_UP = "hung up"
_CLIENT_CLOSED = 499
_STATUS_DIALECTS = ("workspace", "person")
# Whatever the dialect, these are answered by status.
_STATUS_CODES = ("unknown_tool", "invalid_arguments", "forbidden", "not_permitted", "unjudgeable", "busy", "lost_lease")


class ToolsAddress:
    """The endpoint, as a plain ASGI application."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send, workspace_id: str) -> None:
        """Take one call to its answer."""
        identity, may_endanger = await self._door.caller(scope, workspace_id)
        asked = _parsed(await _body(receive))
        call = _call(asked, identity)
        try:
            with _cancelled_when_gone(receive):
                outcome = await self._door.platform.take(workspace_id, call, EVERYTHING if may_endanger else SAFE_ONLY)
        except Cancelled as error:
            # Nobody reads it; but the log should not tell of a fault of ours.
            await reply(send, _CLIENT_CLOSED, error_body(error))
            return
        status, body = self._answer(call.name, outcome)
        await reply(send, status, body, [(b"retry-after", b"1")] if status == BUSY.number else [])

    def _answer(self, name: str, outcome: Outcome) -> tuple[int, Any]:
        tool = self._door.platform.registry.get(name)
        if isinstance(outcome, Done):
            by_status = tool is not None and tool.toolset in _STATUS_DIALECTS
            return 200, outcome.answer.body if by_status else {"success": True, "result": outcome.answer.body, "error": None}
        status = status_of(outcome.error.code)
        if tool is not None and tool.toolset in _STATUS_DIALECTS:
            return status.number, outcome.answer.body
        # A session that is not there is a mistake in the request, not in what the tool was asked.
        if outcome.error.code in _STATUS_CODES or (isinstance(outcome, Refused) and "session" in outcome.error.facts):
            return status.number, error_body(outcome.error)
        return 200, {"success": False, "result": outcome.answer.body, "error": str(outcome.error)}


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        asked: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise InvalidArguments([Mistake("", "the body is not valid JSON")], hint='Send {"tool": …, "args": {…}}.') from None
    if not isinstance(asked, dict):
        raise InvalidArguments([Mistake("", "the body is not a JSON object")], hint='Send {"tool": …, "args": {…}}.')
    body = cast("dict[str, Any]", asked)
    if mistakes := _mistakes(body):
        raise InvalidArguments(mistakes, hint='Send {"tool": …, "args": {…}}.')
    return body


def _mistakes(asked: dict[str, Any]) -> list[Mistake]:
    found: list[Mistake] = []
    for name, kind, said in (("tool", str, "text"), ("args", dict, "an object")):
        if name not in asked:
            found.append(Mistake(name, "is required"))
        elif not isinstance(asked[name], kind):
            found.append(Mistake(name, f"is not {said}"))
    if not isinstance(asked.get("session_id") or "", str):
        found.append(Mistake("session_id", "is not text"))
    if asked.get("effects") is not None and asked["effects"] not in _EFFECTS:
        found.append(Mistake("effects", f"is not one of {', '.join(_EFFECTS)}"))
    return found


def _call(asked: dict[str, Any], identity: Identity) -> ToolCall:
    arguments: dict[str, Json] = asked["args"]
    caller = Caller(session=asked.get("session_id") or "", user=identity.user_id)
    return ToolCall(str(uuid4()), asked["tool"], arguments, caller, Wish(asked.get("effects") or "keep"))


async def _body(receive: Receive) -> bytes:
    message = await receive()
    data = message.get("body", b"")
    while message.get("more_body"):
        message = await receive()
        data += message.get("body", b"")
    return data


@contextlib.contextmanager
def _cancelled_when_gone(receive: Receive) -> Generator[None]:
    """Cancel what is done here when the client has hung up. Most calls are over before it is worth the while to listen for that."""
    task = asyncio.current_task()
    assert task is not None
    watching: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        task.cancel(_HUNG_UP)

    later = asyncio.get_running_loop().call_later(_LISTEN_AFTER_SECONDS, lambda: watching.append(asyncio.create_task(watch())))
    try:
        yield
    except asyncio.CancelledError as error:
        if _HUNG_UP not in error.args:
            raise
        task.uncancel()
        raise Cancelled("the client has hung up") from None
    finally:
        later.cancel()
        for each in watching:
            each.cancel()
