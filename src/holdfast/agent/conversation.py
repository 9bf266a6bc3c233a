"""One session as the model gets it, and as it stands in the log: a message is on record as soon as it is made."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from holdfast.store import events
from holdfast.store.database import Database
from holdfast.store.events import NewEvent
from holdfast.store.leases import Lease
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, Message, ToolMessage, as_json, from_json

MESSAGE = "message"
_END = "chat:stream-end"
_DELTAS = ("chat:text-delta", "chat:thinking-delta")
_PAGE = 1_000
_INTERRUPTED = "This call was under way when the program ended. Look at the files before you repeat it."


class Conversation:
    """The messages of a session, and those who watch it.

    `last_seq` is the number of the newest event that is on record.
    `has_ended` is whether the end of the last turn is, after which there
    may be another.
    """

    def __init__(self, database: Database, lease: Lease, session_id: str, messages: list[Message], last_seq: int = 0) -> None:
        self._database = database
        self._lease = lease
        self._watchers: list[Callable[[ChatEvent], None]] = []
        self._in_order = asyncio.Lock()
        self._recording: set[asyncio.Task[None]] = set()
        self._under_way: dict[tuple[str, Json], list[JsonObject]] = {}
        self._call_ids = {call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
        self.id = session_id
        self.messages = messages
        self.last_seq = last_seq
        self.has_ended = True

    @classmethod
    async def load(cls, database: Database, lease: Lease, session_id: str) -> "Conversation":
        """The session as it was left. Calls without a result, because the program ended, get one that says so.

        Raises:
            NotFound: There is no such session.
        """
        messages: list[Message] = []
        after = 0
        while page := await events.read(database, lease.workspace_id, session_id, after=after, limit=_PAGE):
            messages += [from_json(cast("Mapping[str, Json]", each.payload)) for each in page if each.type == MESSAGE]
            after = page[-1].seq
        conversation = cls(database, lease, session_id, messages, last_seq=after)
        await conversation.answer_calls(_INTERRUPTED)
        return conversation

    def watch(self, watcher: Callable[[ChatEvent], None]) -> Callable[[], None]:
        """Have everything told from now on; what this gives ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    @property
    def is_watched(self) -> bool:
        """Whether anybody is there."""
        return bool(self._watchers)

    @property
    def under_way(self) -> list[ChatEvent]:
        """The answer that is just being given, as far as it has come: one event for each of its blocks."""
        return [
            ChatEvent(kind, {**pieces[0], "content": "".join(str(piece["content"]) for piece in pieces)})
            for (kind, _), pieces in self._under_way.items()
        ]

    def with_new_ids(self, message: AssistantMessage) -> AssistantMessage:
        """The message, each call under an id that no other call of the session has: some models begin anew in every answer.

        A yes, a result and a change are known by that id.
        """
        blocks = (replace(block, id=self._new_id(block.id)) if isinstance(block, CallBlock) else block for block in message.blocks)
        return AssistantMessage(tuple(blocks))

    def _new_id(self, wanted: str) -> str:
        new, number = wanted, 2
        while new in self._call_ids:
            new, number = f"{wanted}-{number}", number + 1
        self._call_ids.add(new)
        return new

    async def add(self, *messages: Message) -> None:
        """Put messages on record, for the model to read from now on."""
        if messages:
            await self._append([NewEvent(MESSAGE, as_json(message)) for message in messages])
            self.messages += messages
            self._under_way.clear()

    async def answer_calls(self, text: str) -> None:
        """Give the calls that have no result, and will get none, this one: a model must not be asked with calls left open."""
        await self.add(*[ToolMessage(call.id, call.name, text, is_error=True) for call in _unanswered(self.messages)])

    async def record(self, kind: str, payload: JsonObject) -> None:
        """Put something that happened on record, and tell it, after all that was to be recorded before."""
        async with self._in_order:
            [event] = await self._append([NewEvent(kind, {"conversationId": self.id, **payload})])
            if kind == _END:
                self._under_way.clear()
                self.has_ended = True
            self._tell(ChatEvent(kind, cast("JsonObject", event.payload), event.seq))

    def record_soon(self, kind: str, payload: JsonObject) -> None:
        """The same, for those who cannot wait."""
        task = asyncio.create_task(self.record(kind, payload))
        self._recording.add(task)
        task.add_done_callback(self._recording.discard)

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Tell what passes, and is not on record."""
        event = ChatEvent(kind, {"conversationId": self.id, **payload})
        if kind in _DELTAS:
            self._under_way.setdefault((kind, payload["index"]), []).append(event.payload)
        self._tell(event)

    async def _append(self, new: Sequence[NewEvent]) -> list[events.Event]:
        appended = await events.append(self._database, self._lease, self.id, new)
        self.last_seq = max(self.last_seq, appended[-1].seq)
        return appended

    def _tell(self, event: ChatEvent) -> None:
        for watcher in list(self._watchers):
            watcher(event)


def _unanswered(messages: Sequence[Message]) -> list[CallBlock]:
    """The calls without a result; only the last answer can have such, since no model is asked before it has all of them."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return [call for call in message.calls if call.id not in answered]
        if isinstance(message, ToolMessage):
            answered.add(message.call_id)
    return []
