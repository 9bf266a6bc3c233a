"""A session that goes on from somewhere in another: the same log up to there, and its own from then on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.store import events, sessions
from holdfast.store.chats import MESSAGE
from holdfast.store.database import Database
from holdfast.store.events import Event, NewEvent
from holdfast.store.leases import Lease
from holdfast.store.sessions import Session
from holdfast.vocabulary.chat import CANCELLED
from holdfast.vocabulary.errors import InvalidArguments, NotFound
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, ToolMessage, as_json, from_json

_PAGE = 1_000
_NOT_HERE = "What came of this call belongs to the session that this one was forked from. Look at the files before you repeat it."


async def fork(database: Database, lease: Lease, session_id: str, *, event: int) -> Session:
    """A new session with all that happened in another up to and with that event. The files stay as they are.

    What was under way there has ended here: a call without a result was
    not this session's, and nobody waits for a yes.

    Raises:
        NotFound: There is no such session.
        InvalidArguments: It has no such event.
    """
    origin = await sessions.get(database, lease.workspace_id, session_id)
    if origin is None:
        raise NotFound("Session not found", hint="List the sessions.", session_id=session_id)
    if not 0 < event <= origin.last_seq:
        raise InvalidArguments.of("event", f"there is none numbered {event}", hint=f"The last one is {origin.last_seq}.")
    copied: list[Event] = []
    while page := await events.read(database, lease.workspace_id, session_id, after=len(copied), before=event + 1, limit=_PAGE):
        copied += page
    made = await sessions.open_session(
        database, lease, title=f"{origin.title} (fork)".strip(), mode=origin.mode, trust=origin.trust, profile=origin.profile
    )
    log = _Log(made.id)
    new = [log.copied(each) for each in copied]
    await events.append(database, lease, made.id, [*new, *log.ends()])
    found = await sessions.get(database, lease.workspace_id, made.id)
    assert found is not None
    return found


@dataclass
class _Log:
    """What stands open while a log is copied."""

    session_id: str
    _stream: JsonObject | None = None
    _calls: dict[str, CallBlock] = field(default_factory=dict[str, CallBlock])
    _asked: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])

    def copied(self, event: Event) -> NewEvent:
        """The event, as one of the new session."""
        payload = cast("dict[str, Any]", event.payload)
        if event.type == MESSAGE:
            self._note(payload)
            return NewEvent(MESSAGE, event.payload)
        match event.type:
            case "chat:stream-start":
                self._stream = payload
            case "chat:stream-end":
                self._stream = None
            case "chat:tool-confirm":
                self._asked[payload["approvalId"]] = payload
            case "chat:tool-decided":
                self._asked.pop(payload["approvalId"], None)
            case _:
                pass
        return NewEvent(event.type, {**payload, "conversationId": self.session_id})

    def ends(self) -> list[NewEvent]:
        """What closes all that stands open."""
        ended = [
            self._told("chat:tool-decided", asked, "toolId", "toolName", "approvalId", decision="expired", by="")
            for asked in self._asked.values()
        ]
        results = [ToolMessage(call.id, call.name, _NOT_HERE, is_error=True) for call in self._calls.values()]
        ended += [NewEvent(MESSAGE, as_json(result)) for result in results]
        if self._stream is not None:
            ended.append(self._told("chat:stream-end", self._stream, "messageId", reason=CANCELLED, usage={}))
        return ended

    def _note(self, payload: Mapping[str, Json]) -> None:
        match from_json(payload):
            case AssistantMessage() as answer:
                self._calls = {call.id: call for call in answer.calls}
            case ToolMessage() as result:
                self._calls.pop(result.call_id, None)
            case _:
                pass

    def _told(self, kind: str, about: JsonObject, *names: str, **more: Json) -> NewEvent:
        return NewEvent(kind, {"conversationId": self.session_id, **{name: about[name] for name in names}, **more})
