"""One turn of an agent with somebody who watches it, says yes or no, answers, and can end it.

What they say are the frames that clients of `/ws/chat` send, so that a
turn is the same whether it runs here or in the process that holds the
workspace.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from holdfast.agent.sessions import Sessions
from holdfast.dispatch.person import is_valid
from holdfast.vocabulary.chat import CANCELLED, ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust

from .profiles import hear_profile

if TYPE_CHECKING:
    from holdfast.agent.conversation import Conversation
    from holdfast.providers.choose import Providers

    from .agents import Agents

APPROVE, ANSWER, CANCEL = "chat:tool-approve", "chat:answer", "chat:cancel"
_TITLE_CHARACTERS = 80

Tell: TypeAlias = Callable[[ChatEvent], None]
Frame: TypeAlias = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """What somebody wants done: in a session that there is, or in a new one.

    `profile` is as `tell_profile` tells it. With `script`, a path and a
    text, that script plays the model.
    """

    content: str
    session_id: str | None = None
    profile: str | dict[str, Any] | None = None
    trust: str | None = None
    model: str | None = None
    script: tuple[str, str] | None = None

    def told(self) -> dict[str, Any]:
        """The same, for another process."""
        return asdict(self)

    def played_by(self, providers: "Providers") -> "Wanted":
        """The same, when the script is one that the providers have.

        Raises:
            InvalidSetting: Something in it does not fit.
        """
        if self.script is None:
            return self
        providers.play(*self.script)
        return replace(self, model=f"scripted/{self.script[0]}", script=None)


@dataclass(frozen=True)
class SessionChange:
    """A new title for a session, or its end."""

    title: str | None = None
    delete: bool = False

    async def make(self, sessions: Sessions, session_id: str, *, agents: "Agents | None") -> None:
        """Make the change, and tell those who watch; `agents` are those that may be at work in the session, which a deletion ends.

        Raises:
            NotFound: There is no such session.
        """
        if self.title is not None:
            shown = await sessions.change(session_id, title=self.title, mode=None, trust=None)
            if agents is not None:
                await agents.was_set(shown)
        if self.delete:
            await sessions.get(session_id)
            if agents is not None:
                await agents.end(session_id)
            await sessions.delete(session_id)


class Talk(Protocol):
    """A turn that has begun."""

    @property
    def session_id(self) -> str:
        """Whose turn it is."""
        ...

    async def hear(self, frame: Frame) -> None:
        """Take what the person says; what cannot be done is told as `chat:error`."""
        ...

    async def ended(self) -> EndOfTurn:
        """How it ended, when it has.

        Raises:
            HoldfastError: Nobody knows how.
        """
        ...


class TalkHere:
    """A turn in this process. Whoever watches it takes the time they need: what they are asked has no clock."""

    def __init__(self, agents: "Agents", conversation: "Conversation", patient: set[str], by: str, tell: Tell) -> None:
        self._agents = agents
        self._patient = patient
        self._by = by
        self._tell = tell
        self._turn: asyncio.Task[EndOfTurn] | None = None
        self.session_id = conversation.id
        self._unwatch = conversation.watch(tell)
        patient.add(conversation.id)

    @classmethod
    async def begin(cls, agents: "Agents", wanted: Wanted, tell: Tell, *, patient: set[str], by: str) -> "TalkHere":
        """Have the model begin. `patient` are the sessions whose approvals have no clock.

        Raises:
            NotFound: There is no such session.
            Busy: A turn of it is running.
            InvalidArguments, InvalidSetting: There is no such profile or model, or there are mistakes in it.
        """
        named = hear_profile(wanted.profile) if wanted.profile is not None else None
        trust = Trust(wanted.trust) if wanted.trust else None
        conversation, profile = await _opened(agents, wanted, named, trust)
        talk = cls(agents, conversation, patient, by, tell)
        try:
            talk._turn = await agents.start(conversation.id, wanted.content, profile, model=wanted.model)
        except BaseException:
            talk._stop_watching()
            raise
        return talk

    async def hear(self, frame: Frame) -> None:
        """Take what the person says."""
        try:
            await self._heard(frame)
        except HoldfastError as error:
            told = {"conversationId": self.session_id, "code": error.code, "message": str(error)}
            self._tell(ChatEvent("chat:error", told))

    async def ended(self) -> EndOfTurn:
        """How it ended."""
        assert self._turn is not None
        await asyncio.wait({self._turn})
        return CANCELLED if self._turn.cancelled() else self._turn.result()

    async def leave(self) -> None:
        """End the turn if it has not, and watch no longer."""
        self._agents.cancel(self.session_id)
        if self._turn is not None:
            await asyncio.wait({self._turn})
        self._stop_watching()

    def _stop_watching(self) -> None:
        self._unwatch()
        self._patient.discard(self.session_id)

    async def _heard(self, frame: Frame) -> None:
        said: object = frame.get("payload", {})
        payload = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
        match frame.get("type"):
            case "chat:tool-approve":
                await self._approve(payload)
            case "chat:answer":
                answers = cast("JsonObject", _given(payload, "answers", dict))
                await self._agents.held.person.answer(_given(payload, "questionId", str), answers, by=self._by)
            case "chat:cancel":
                self._agents.cancel(self.session_id)
            case other:
                hint = f"The types are: {APPROVE}, {ANSWER}, {CANCEL}."
                raise InvalidArguments.of("type", f"there is none called '{str(other)[:60]}'", hint=hint)

    async def _approve(self, payload: dict[str, Any]) -> None:
        approval_id, call_id = payload.get("approvalId"), payload.get("toolId")
        found = await self._agents.approvals.waiting((self.session_id,), approval_id=approval_id, call_id=call_id)
        keep = payload.get("keep")
        await self._agents.decide(
            found.id,
            approved=_given(payload, "approved", bool),
            by=self._by,
            feedback=str(payload.get("feedback") or ""),
            changed=payload.get("input"),
            effects_hash=payload.get("effectsHash"),
            keep=None if keep in (None, "all") else _paths(keep),
        )


def impatiently_watched(agents: "Agents", patient: set[str]) -> Callable[[str], bool]:
    """Says whether somebody sees what a session asks who has only so much time; whoever talks at a terminal has all of it."""
    return lambda session_id: session_id not in patient and agents.is_watched(session_id)


def fits(question: JsonObject, answer: Json) -> bool:
    """Whether that answers a question: it is a button's value, or valid by the schema."""
    buttons = cast("Sequence[JsonObject]", question.get("buttons") or ())
    schema = cast("JsonObject | str", question.get("schema") or {})
    return any(button.get("value") == answer for button in buttons) or is_valid(schema, answer)


async def _opened(agents: "Agents", wanted: Wanted, named: Profile | None, trust: Trust | None) -> "tuple[Conversation, Profile]":
    if wanted.session_id is None:
        profile = named or await agents.profile(None)
        return await agents.create(profile, trust=trust, title=wanted.content[:_TITLE_CHARACTERS]), profile
    conversation = await agents.conversation(wanted.session_id)
    if trust is not None and not agents.is_running(conversation.id):
        await agents.trust(conversation.id, trust)
    return conversation, named or await agents.profile(None, conversation.id)


def _given(payload: dict[str, Any], name: str, kind: type[T]) -> T:
    value = payload.get(name)
    if not isinstance(value, kind):
        raise InvalidArguments.of(name, f"is not {'given' if value is None else 'what it should be'}", hint="See docs/agents.md.")
    return value


def _paths(keep: object) -> list[str]:
    if not isinstance(keep, list):
        raise InvalidArguments.of("keep", "is neither a list nor 'all'", hint='Write [{"path": "/a"}].')
    every = cast("list[Any]", keep)
    return [_given(each, "path", str) if isinstance(each, dict) else str(each) for each in every]  # pyright: ignore[reportUnknownArgumentType]  # what was sent can be anything
