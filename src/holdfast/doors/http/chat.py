"""/ws/chat: a conversation with a model, as it happens, for one or for many who watch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from pydantic import Field

from holdfast.accounts.tokens import Identity
from holdfast.agent.conversation import Conversation
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.errors import Forbidden, HoldfastError, InvalidArguments, NotFound
from holdfast.vocabulary.json import dump
from holdfast.vocabulary.messages import AssistantMessage, Message, TextBlock, UserMessage
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust

from .approvals import kept_paths
from .models import KeptPaths
from .talks import MAX_WAITING_FRAMES, Frame, Outbox, Talk, read_frame

if TYPE_CHECKING:
    from holdfast.app.agents import Agents

_TITLE_CHARACTERS = 80
ConversationId = Annotated[str, Field(min_length=1, max_length=200)]


class Said(Frame):
    """Something that was said elsewhere before."""

    role: Literal["user", "assistant"]
    content: str


class SendFrame(Frame):
    """chat:send."""

    conversation_id: ConversationId | None = None
    content: str = Field(min_length=1)
    history: list[Said] = Field(default_factory=list[Said])
    trust_level: Literal["supervised", "guided", "autonomous"] | None = None
    profile: str | None = None
    model: str | None = None
    client_id: str | None = Field(None, max_length=200)


class CancelFrame(Frame):
    """chat:cancel."""

    conversation_id: ConversationId


class ApproveFrame(Frame):
    """chat:tool-approve. To remember a decision is not possible yet."""

    approval_id: str | None = None
    tool_id: str | None = None
    conversation_id: ConversationId | None = None
    approved: bool
    input: dict[str, Any] | None = None
    feedback: str = ""
    effects_hash: str | None = None
    keep: KeptPaths | Literal["all"] | None = None
    remember: Literal[False] | None = None


class AnswerFrame(Frame):
    """chat:answer."""

    question_id: str
    answers: dict[str, Any]


class ResumeFrame(Frame):
    """chat:resume."""

    conversation_id: ConversationId
    after: int = Field(0, ge=0, le=2**53)


class Chat(Talk):
    """One client of /ws/chat. It watches the conversations that it has sent something to, or resumed.

    Of the whole workspace it hears how the sessions are, and which files have changed.
    """

    RESYNC: ClassVar[Mapping[str, object]] = {
        "type": "chat:error",
        "payload": {"conversationId": None, "code": "resync", "message": "You read too slowly. Come back, and resume after the last seq."},
    }

    def __init__(self, writer: "Writer", agents: "Agents", identity: Identity, outbox: Outbox) -> None:
        super().__init__(agents, identity, outbox)
        self._writer = writer
        self._watched: dict[str, _Watch] = {}
        self._end_news = agents.watch_workspace(lambda event: outbox.put(writer.frame(event)))

    async def hear(self, frame: Mapping[str, Any]) -> None:
        """Do what a frame says."""
        payload: object = frame.get("payload", {})
        match frame["type"]:
            case "chat:send":
                await self._send(read_frame(SendFrame, payload))
            case "chat:cancel":
                self._cancel(read_frame(CancelFrame, payload))
            case "chat:tool-approve":
                await self._approve(read_frame(ApproveFrame, payload))
            case "chat:answer":
                answered = read_frame(AnswerFrame, payload)
                await self.agents.held.person.answer(answered.question_id, answered.answers, by=self.user_id)
            case "chat:resume":
                await self._resume(read_frame(ResumeFrame, payload))
            case other:
                hint = "The types are: chat:send, chat:cancel, chat:tool-approve, chat:answer, chat:resume."
                raise InvalidArguments.of("type", f"there is none called '{other[:60]}'", hint=hint)

    def told_error(self, error: HoldfastError, frame: Mapping[str, Any]) -> object:
        """chat:error."""
        payload = frame.get("payload")
        given = cast("dict[str, object]", payload).get("conversationId") if isinstance(payload, dict) else None
        conversation_id = given if isinstance(given, str) else None
        return {"type": "chat:error", "payload": {"conversationId": conversation_id, "code": error.code, "message": str(error)}}

    def leave(self) -> None:
        """Watch nothing any longer."""
        self._end_news()
        for watch in self._watched.values():
            watch.end()
        self._watched.clear()

    async def _send(self, sent: SendFrame) -> None:
        conversation, profile = await self._found_or_made(sent)
        if conversation.id not in self._watched:
            self._watched[conversation.id] = _Watch(conversation, self.outbox, self._writer)
        if not self.may_endanger:
            profile = replace(profile, dangerous=False)
        await self.agents.start(conversation.id, sent.content, profile, model=sent.model, client_id=sent.client_id)

    async def _found_or_made(self, sent: SendFrame) -> tuple[Conversation, Profile]:
        # Whoever may not change things cannot have a model do it unasked for somebody else.
        trust = Trust(sent.trust_level) if sent.trust_level and self.may_endanger else None
        try:
            if sent.conversation_id is None:
                raise NotFound("a new one")
            conversation = await self.agents.conversation(_printable(sent.conversation_id))
        except NotFound:
            profile = await self.agents.profile(sent.profile)
            title = sent.content[:_TITLE_CHARACTERS]
            conversation = await self.agents.create(profile, trust=trust, title=title, session_id=sent.conversation_id)
            await self.agents.seed(conversation, [_message(each) for each in sent.history])
            return conversation, profile
        profile = await self.agents.profile(sent.profile, conversation.id)
        if trust is not None and not self.agents.is_running(conversation.id):
            await self.agents.trust(conversation.id, trust)
        return conversation, profile

    def _cancel(self, sent: CancelFrame) -> None:
        if not self.agents.cancel(sent.conversation_id):
            raise NotFound("no turn of this conversation is running", hint="There is nothing to cancel.")

    async def _approve(self, sent: ApproveFrame) -> None:
        if not self.may_endanger:
            raise Forbidden("you may not let anything run here that changes things")
        watched = [each for each in self._watched if sent.conversation_id in (None, each)]
        found = await self.agents.approvals.waiting(watched, approval_id=sent.approval_id, call_id=sent.tool_id)
        await self.agents.decide(
            found.id,
            approved=sent.approved,
            by=self.user_id,
            feedback=sent.feedback,
            changed=sent.input,
            effects_hash=sent.effects_hash,
            keep=kept_paths(sent.keep),
        )

    async def _resume(self, sent: ResumeFrame) -> None:
        conversation = await self.agents.conversation(_printable(sent.conversation_id))
        if (before := self._watched.pop(conversation.id, None)) is not None:
            before.end()
        # What is told from here on waits until all before it has been told.
        watch = self._watched[conversation.id] = _Watch(conversation, self.outbox, self._writer, held=[])
        until, under_way = conversation.last_seq, conversation.under_way
        async for event in self.agents.replay(conversation.id, after=sent.after, until=until):
            await self.outbox.put_patiently(self._writer.frame(event))
        watch.release(under_way, after=until)


class Writer:
    """Events as frames. All who watch an event are told of it in a row, so the last one is kept, and is written once for all."""

    def __init__(self) -> None:
        self._event: ChatEvent | None = None
        self._frame = b""

    def frame(self, event: ChatEvent) -> bytes:
        """The frame of an event."""
        if self._event is not event:
            seq = {} if event.seq is None else {"seq": event.seq}
            self._event, self._frame = event, dump({"type": event.type, **seq, "payload": event.payload})
        return self._frame


@dataclass
class _Watch:
    """One conversation that a client watches. While `held` is a list, what is told waits there."""

    conversation: Conversation
    outbox: Outbox
    writer: Writer
    held: list[ChatEvent] | None = None

    def __post_init__(self) -> None:
        self.end = self.conversation.watch(self._hear)

    def release(self, first: Sequence[ChatEvent], *, after: int) -> None:
        """Tell these, then what was held and is not numbered up to `after`, then what comes."""
        held, self.held = self.held or [], None
        for event in [*first, *(event for event in held if event.seq is None or event.seq > after)]:
            self._hear(event)

    def _hear(self, event: ChatEvent) -> None:
        if self.held is None:
            self.outbox.put(self.writer.frame(event))
        elif len(self.held) < MAX_WAITING_FRAMES:
            self.held.append(event)
        else:
            self.outbox.behind.set()


def _message(said: Said) -> Message:
    return UserMessage(said.content) if said.role == "user" else AssistantMessage((TextBlock(said.content),))


def _printable(conversation_id: str) -> str:
    if not conversation_id.isprintable():
        raise InvalidArguments.of("conversationId", "has characters that cannot be seen", hint="Use others.")
    return conversation_id
