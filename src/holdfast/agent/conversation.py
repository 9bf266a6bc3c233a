"""One session as the model gets it, and as it stands in the log: a message is on record as soon as it is made."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from holdfast.store import events, turns
from holdfast.store.chats import MESSAGE
from holdfast.store.database import Database
from holdfast.store.events import Event, NewEvent
from holdfast.store.leases import Lease
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    TextBlock,
    ToolMessage,
    UserMessage,
    as_json,
    from_json,
)

from .budget import Budget
from .under_way import UnderWay

_RESULT = "chat:tool-result"
# What of each is told only once, even if a call is taken up again after the program ended.
_ONCE = {
    "chat:tool-start": "toolId",
    _RESULT: "toolId",
    "chat:tool-confirm": "approvalId",
    "chat:tool-decided": "approvalId",
    "chat:question": "questionId",
}
Told: TypeAlias = tuple[str, JsonObject]
_PAGE = 1_000
_INTERRUPTED = "This call was under way when the program ended. Look at the files before you repeat it."
_CUT = "[Your answer was cut off here because the program ended. Go on from there.]"

log = logging.getLogger(__name__)


class Conversation:
    """The messages of a session, and those who watch it.

    `last_seq` is the number of the newest event that is on record.
    `has_ended` is whether the end of the last turn is, after which there
    may be another.
    """

    def __init__(self, database: Database, lease: Lease, session_id: str) -> None:
        self._database = database
        self._lease = lease
        self._watchers: list[Callable[[ChatEvent], None]] = []
        self._recording = 0
        self._newest: asyncio.Future[list[Event]] | None = None
        self._under_way = UnderWay(database, lease, session_id)
        self._call_ids: set[str] = set()
        self._told: set[tuple[str, Json]] = set()
        self.id = session_id
        self.messages: list[Message] = []
        self.results: dict[str, JsonObject] = {}
        self.last_seq = 0
        self.message_id = ""
        self.has_ended = True
        self.is_resting = False
        self.title = ""
        self.mode = ""
        self.budget: Budget | None = None

    @classmethod
    async def load(cls, database: Database, lease: Lease, session_id: str) -> "Conversation":
        """The session as it was left, with what had been said of an answer that was being given.

        Raises:
            NotFound: There is no such session.
        """
        conversation = cls(database, lease, session_id)
        await conversation.wake()
        turn = await turns.of_session(database, lease.workspace_id, session_id)
        if turn is None:
            await conversation.answer_calls(_INTERRUPTED)
            return conversation
        conversation.has_ended = False
        conversation.message_id = turn.message_id
        if turn.said is not None:
            await conversation.add(AssistantMessage((TextBlock(str(turn.said)),)), UserMessage(_CUT, is_note=True), used=turn.used)
        return conversation

    async def wake(self) -> None:
        """Read what was said from the log."""
        messages: list[Message] = []
        after = 0
        while page := await events.read(self._database, self._lease.workspace_id, self.id, after=after, limit=_PAGE):
            for event in page:
                self._read(event, messages)
            after = page[-1].seq
        self.messages = messages
        self._call_ids = {call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
        self.last_seq = max(self.last_seq, after)
        self.is_resting = False

    def rest(self) -> None:
        """Forget what was said until `wake`; those who watch still do."""
        self.is_resting = True
        self.messages = []
        self.budget = None
        self.results.clear()
        self._call_ids.clear()
        self._told.clear()

    def watch(self, watcher: Callable[[ChatEvent], None]) -> Callable[[], None]:
        """Have everything told from now on; what this gives ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    @property
    def is_watched(self) -> bool:
        """Whether anybody is there."""
        return bool(self._watchers)

    @property
    def is_recording(self) -> bool:
        """Whether something is just being put on record."""
        return self._recording > 0

    @property
    def under_way(self) -> list[ChatEvent]:
        """The answer that is just being given, as far as it has come: one event for each of its blocks."""
        return [ChatEvent(kind, {"conversationId": self.id, **payload}) for kind, payload in self._under_way.so_far]

    @property
    def unanswered(self) -> list[CallBlock]:
        """The calls without a result; only the last answer can have such, since no model is asked before it has all of them."""
        answered: set[str] = set()
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                return [call for call in message.calls if call.id not in answered]
            if isinstance(message, ToolMessage):
                answered.add(message.call_id)
        return []

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

    async def begin(self, message_id: str, content: str, *, model: str, begun_with: JsonObject, said: JsonObject) -> None:
        """Put what the person says on record, and that the model begins to answer; `said` is more about the former."""
        self.message_id = message_id
        told = [
            NewEvent("chat:message", {"conversationId": self.id, "role": "user", "content": content, **said}),
            NewEvent("chat:stream-start", {"conversationId": self.id, "messageId": message_id, "model": model}),
        ]
        first = NewEvent(MESSAGE, as_json(UserMessage(content)))

        def recorded(appended: Sequence[Event]) -> None:
            self._next_answer()
            self.messages.append(UserMessage(content))
            self._tell_all(appended[1:])

        beginning = turns.begin(self._database, self._lease, self.id, message_id, [first, *told], begun_with=begun_with)
        await asyncio.shield(self._on_record(beginning, recorded))

    async def add(self, *messages: Message, used: Json = None, told: Sequence[Told] = ()) -> None:
        """Put messages on record, for the model to read from now on; also when whoever adds them is gone.

        `used` is the turn's so far, and `told` what happened just before.
        """
        if messages:
            await asyncio.shield(self.add_soon(*messages, used=used, told=told))

    def add_soon(self, *messages: Message, used: Json = None, told: Sequence[Told] = ()) -> asyncio.Future[list[Event]]:
        """The same, for those who go on meanwhile: whatever else they put on record comes after it."""
        before = [(kind, payload) for kind, payload in told if not self._was_told(kind, payload)]
        new = [self._event(kind, payload) for kind, payload in before]
        is_answer = isinstance(messages[0], AssistantMessage)
        of = {"of": self._under_way.of} if is_answer else {}
        new += [NewEvent(MESSAGE, {**as_json(each), **(of if isinstance(each, AssistantMessage) else {})}) for each in messages]

        def recorded(appended: Sequence[Event]) -> None:
            if is_answer:
                self._under_way.clear()
                self._next_answer()
            self._tell_all(appended[: len(before)])
            self._keep_results(before)
            self.last_seq = max(self.last_seq, appended[-1].seq)
            self.messages += messages

        # An answer takes the place of its check-point; what comes of calls was never check-pointed.
        if is_answer:
            self._under_way.stop()
            appending = turns.answer(self._database, self._lease, self.id, new, used=used)
        else:
            appending = events.append(self._database, self._lease, self.id, new)
        return self._on_record(appending, recorded)

    async def settled(self) -> None:
        """Wait until all that was to be put on record is there, or could not be."""
        while self._recording and self._newest is not None:
            await asyncio.wait({self._newest})
            # What is done about it comes after those who wait.
            await asyncio.sleep(0)

    async def answer_calls(self, text: str) -> None:
        """Give the calls that have no result, and will get none, this one: a model must not be asked with calls left open."""
        await self.add(*[ToolMessage(call.id, call.name, text, is_error=True) for call in self.unanswered])

    async def record(self, kind: str, payload: JsonObject) -> None:
        """Put something that happened on record, and tell it, after all that was to be recorded before; also when nobody waits for it."""
        if (recording := self._record(kind, payload)) is not None:
            await asyncio.shield(recording)

    def record_soon(self, kind: str, payload: JsonObject) -> None:
        """The same, for those who cannot wait, or wait for something that is recorded after it."""
        if (recording := self._record(kind, payload)) is not None:
            recording.add_done_callback(_note)

    def _record(self, kind: str, payload: JsonObject) -> asyncio.Future[list[Event]] | None:
        if self._was_told(kind, payload):
            return None

        def recorded(appended: Sequence[Event]) -> None:
            self._tell_all(appended)
            self._keep_results([(kind, payload)])

        return self._on_record(events.append(self._database, self._lease, self.id, [self._event(kind, payload)]), recorded)

    def _was_told(self, kind: str, payload: JsonObject) -> bool:
        return kind in _ONCE and (kind, payload[_ONCE[kind]]) in self._told

    def _event(self, kind: str, payload: JsonObject) -> NewEvent:
        return NewEvent(kind, {"conversationId": self.id, **payload})

    def _keep_results(self, told: Sequence[Told]) -> None:
        for kind, payload in told:
            if kind == _RESULT:
                self.results[str(payload["toolId"])] = payload

    def _on_record(self, appending: asyncio.Future[list[Event]], then: Callable[[Sequence[Event]], None]) -> asyncio.Future[list[Event]]:
        """Do something as soon as events are on record, in the order in which they were asked for."""

        def appended(done: asyncio.Future[list[Event]]) -> None:
            self._recording -= 1
            if not done.cancelled() and done.exception() is None:
                then(done.result())

        self._recording += 1
        self._newest = appending
        appending.add_done_callback(appended)
        return appending

    def tell_in_order(self, kind: str, payload: JsonObject) -> None:
        """Tell what passes, and is not on record, after all that was to be recorded before."""
        if self._newest is not None and self._recording:
            self._newest.add_done_callback(lambda _: self.tell(kind, payload))
        else:
            self.tell(kind, payload)

    async def end(self, payload: JsonObject) -> None:
        """Put the end of the turn on record, and tell it."""
        last = NewEvent("chat:stream-end", {"conversationId": self.id, "messageId": self.message_id, **payload})
        self._under_way.clear()

        def recorded(appended: Sequence[Event]) -> None:
            self.has_ended = True
            self._tell_all(appended)

        await asyncio.shield(self._on_record(turns.end(self._database, self._lease, self.id, last), recorded))

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Tell what passes, and is not on record."""
        self._tell(ChatEvent(kind, {"conversationId": self.id, **payload}))

    def tell_piece(self, kind: str, text: str, index: int) -> None:
        """Tell a piece of the answer that is just being given.

        `of` is the newest number when the answer began, `index` which of its blocks the piece is of, and `offset` how many characters of
        that block have come before.
        """
        piece = self._under_way.add(kind, text, index, of=self.last_seq, message_id=self.message_id)
        self._tell(ChatEvent(kind, {"conversationId": self.id, **piece}))

    async def check_point(self) -> None:
        """Keep what has come of the answer now, since no more of it will come here."""
        await self._under_way.check_point()

    def _read(self, event: Event, messages: list[Message]) -> None:
        if event.type == MESSAGE:
            messages.append(from_json(cast("Mapping[str, Json]", event.payload)))
            if isinstance(messages[-1], AssistantMessage):
                self._next_answer()
        elif event.type in _ONCE:
            payload = cast("JsonObject", event.payload)
            self._told.add((event.type, payload[_ONCE[event.type]]))
            self._keep_results([(event.type, payload)])

    def _next_answer(self) -> None:
        """What came of the calls of the answer before is not asked for any more."""
        self._told.clear()
        self.results.clear()

    def _tell_all(self, appended: Sequence[Event]) -> None:
        for event in appended:
            self.last_seq = max(self.last_seq, event.seq)
            self._tell(ChatEvent(event.type, cast("JsonObject", event.payload), event.seq))

    def _tell(self, event: ChatEvent) -> None:
        for watcher in list(self._watchers):
            watcher(event)


def _note(recording: asyncio.Future[list[Event]]) -> None:
    if not recording.cancelled() and (error := recording.exception()) is not None:
        log.warning("something that happened could not be put on record: %s", error)
