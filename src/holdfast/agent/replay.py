"""A session's log, told again as it was told when it happened."""

from collections.abc import AsyncGenerator, Mapping
from typing import cast

from holdfast.store import events
from holdfast.store.chats import MESSAGE
from holdfast.store.database import Database
from holdfast.store.events import Event
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, TextBlock, from_json

_START, _END = "chat:stream-start", "chat:stream-end"
_PAGE = 1_000


async def replayed(database: Database, workspace_id: str, session_id: str, *, after: int, until: int) -> AsyncGenerator[ChatEvent]:
    """The events with numbers after `after`, none after `until`. An answer of the model comes as its blocks, each whole."""
    stream = await _stream_at(database, workspace_id, session_id, after)
    seq = after
    while page := await events.read(database, workspace_id, session_id, after=seq, limit=_PAGE):
        for event in page:
            if event.seq > until:
                return
            if event.type == MESSAGE:
                for told in _of_message(event, session_id, stream):
                    yield told
            else:
                stream = _stream_after(event, stream)
                yield ChatEvent(event.type, cast("JsonObject", event.payload), event.seq)
        seq = page[-1].seq


async def _stream_at(database: Database, workspace_id: str, session_id: str, seq: int) -> str:
    """The id of the message that was being given at that number, "" when none was."""
    before = seq + 1
    while before > 1 and (page := await events.read(database, workspace_id, session_id, before=before, limit=_PAGE)):
        for event in reversed(page):
            if event.type in (_START, _END):
                return _stream_after(event, "")
        before = page[0].seq
    return ""


def _stream_after(event: Event, stream: str) -> str:
    if event.type == _START:
        return str(cast("JsonObject", event.payload)["messageId"])
    return "" if event.type == _END else stream


def _of_message(event: Event, session_id: str, stream: str) -> list[ChatEvent]:
    """An answer. What the person and the tools said has events of its own."""
    message = from_json(cast("Mapping[str, Json]", event.payload))
    if not isinstance(message, AssistantMessage):
        return []
    if not stream:
        # It was not given here, but came with the session's history.
        told: JsonObject = {"messageId": f"{session_id}-{event.seq}", "role": message.role, "content": message.text}
        return [ChatEvent("chat:message", {"conversationId": session_id, **told}, event.seq)]
    of = cast("JsonObject", event.payload).get("of", 0)
    return [
        ChatEvent(
            "chat:text-delta" if isinstance(block, TextBlock) else "chat:thinking-delta",
            {"conversationId": session_id, "messageId": stream, "content": block.text, "index": index, "of": of, "offset": 0},
            event.seq,
        )
        for index, block in enumerate(message.blocks)
        if not isinstance(block, CallBlock) and block.text
    ]
