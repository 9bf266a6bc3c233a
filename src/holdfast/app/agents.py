"""Agents at work in one workspace: sessions, models and the road, brought together."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any, cast

from holdfast.agent.budget import Budget
from holdfast.agent.conversation import Conversation
from holdfast.agent.loop import Bounds, Hands, Turn
from holdfast.agent.prompts import system_prompt
from holdfast.agent.replay import replayed
from holdfast.config.settings import Settings
from holdfast.dispatch.approvals import Approvals
from holdfast.policy.trust import trust_for
from holdfast.providers.choose import Providers
from holdfast.providers.settings import ProviderSettings
from holdfast.store import sessions
from holdfast.store.approvals import Approval
from holdfast.tool.definition import neutral
from holdfast.tool.tool import Danger
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.chat import CANCELLED, ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import Busy, HoldfastError, NotFound
from holdfast.vocabulary.events import ApprovalAsked, ApprovalExpired, Event, QuestionAsked, ToolOutput, ToolStarted
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve

from .held import Held
from .platform import Platform
from .profiles import profile_folders

_NOTES = "AGENTS.md"
_MAX_NOTES_BYTES = 32 * 1024

log = logging.getLogger(__name__)


def provider_settings(settings: Settings) -> ProviderSettings:
    """The settings in the words of the providers."""
    names = ("model", "anthropic_api_key", "anthropic_base_url", "openai_api_key", "openai_base_url", "ollama_host")
    given = {name: settings[name] for name in (*names, "copilot_token", "copilot_url")}
    return ProviderSettings(**given, scripts=settings.home / "scripts")


class Agents:
    """The agents of one workspace that this process holds: at most one turn at a time for each session."""

    def __init__(self, platform: Platform, held: Held, providers: Providers) -> None:
        self._platform = platform
        self._providers = providers
        self._open: dict[str, Conversation] = {}
        self._running: dict[str, asyncio.Task[EndOfTurn]] = {}
        self._unwatch = platform.watch(lambda workspace_id, event: self._heard(event) if workspace_id == held.lease.workspace_id else None)
        self.held = held
        self.closed = asyncio.Event()

    def stop(self) -> None:
        """End the turns that run, and take no new ones; whoever waits for `closed` hears of it."""
        self.closed.set()
        for task in self._running.values():
            task.cancel()

    async def close(self) -> None:
        """The same, and wait until they have ended."""
        self.stop()
        if self._running:
            await asyncio.wait(set(self._running.values()))
        self._unwatch()

    def is_watched(self, session_id: str) -> bool:
        """Whether anybody sees what a session asks."""
        return session_id in self._open and self._open[session_id].is_watched

    async def profile(self, name: str | None, session_id: str | None = None) -> Profile:
        """The profile of that name; without one the session's own, or that of new sessions.

        Raises:
            InvalidArguments, InvalidSetting: There is none, or there are mistakes in it.
            NotFound: There is no such session.
        """
        settings = self._platform.settings
        chosen = name or (settings["profile"] if session_id is None else (await self._row(session_id)).profile)
        return profile_folders(self.held.mounts.named["project"].root, home=settings.home).find(chosen)

    async def create(self, profile: Profile, *, trust: Trust | None = None, title: str = "", session_id: str | None = None) -> Conversation:
        """A new session of a profile."""
        chosen = trust_for(profile, Trust(self._platform.settings["trust"]), trust)
        row = await sessions.open_session(
            self._platform.database,
            self.held.lease,
            session_id=session_id,
            title=title,
            mode=profile.mode.value,
            trust=chosen.value,
            profile=profile.name,
        )
        return await self.conversation(row.id)

    async def conversation(self, session_id: str) -> Conversation:
        """A session as it stands.

        Raises:
            NotFound: There is none with that id.
        """
        await self._row(session_id)
        if session_id not in self._open:
            self._open[session_id] = await Conversation.load(self._platform.database, self.held.lease, session_id)
        return self._open[session_id]

    async def send(self, session_id: str, content: str, profile: Profile, *, model: str | None = None) -> EndOfTurn:
        """Have the model answer, and return how the turn ended.

        Raises:
            NotFound: There is no such session.
            Busy: A turn of it is running.
            InvalidSetting: There is no such model.
        """
        task = await self.start(session_id, content, profile, model=model)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        return CANCELLED if task.cancelled() else task.result()

    async def start(
        self, session_id: str, content: str, profile: Profile, *, model: str | None = None, bounds: Bounds | None = None
    ) -> asyncio.Task[EndOfTurn]:
        """Have the model begin to answer, and return when it has; the task ends with the turn.

        Raises:
            NotFound: There is no such session.
            Busy: A turn of it is running, or no more are taken.
            InvalidSetting: There is no such model.
        """
        conversation = await self.conversation(session_id)
        while (before := self._running.get(session_id)) is not None:
            if not conversation.has_ended:
                raise Busy("a turn of this session is running", hint="Wait for its end, or cancel it.", session=session_id)
            await asyncio.wait({before})
        if self.closed.is_set():
            raise Busy("this process is giving the workspace back", hint="Try again in a moment.")
        begun = asyncio.Event()

        async def whole() -> EndOfTurn:
            turn = await self._turn(conversation, profile, model, bounds or Bounds())
            begun.set()
            return await turn.run(content)

        def ended(task: asyncio.Task[EndOfTurn]) -> None:
            self._running.pop(session_id, None)
            begun.set()
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, HoldfastError):
                log.error("a turn of session %s broke", session_id, exc_info=error)

        conversation.has_ended = False
        task = self._running[session_id] = asyncio.create_task(whole())
        task.add_done_callback(ended)
        await begun.wait()
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error
        return task

    def is_running(self, session_id: str) -> bool:
        """Whether a turn of that session is running."""
        return session_id in self._running and not self._open[session_id].has_ended

    async def seed(self, conversation: Conversation, history: Sequence[Message]) -> None:
        """Let a new session begin with what was said elsewhere."""
        for message in history:
            await conversation.add(message)
            if isinstance(message, UserMessage):
                told = {"messageId": f"{conversation.id}-{conversation.last_seq}", "role": message.role, "content": message.text}
                await conversation.record("chat:message", told)

    async def trust(self, session_id: str, trust: Trust) -> None:
        """Trust a session so far from its next call on."""
        await sessions.change(self._platform.database, self.held.lease, session_id, trust=trust.value)

    async def decide(
        self,
        approval_id: str,
        *,
        approved: bool,
        by: str,
        feedback: str = "",
        changed: JsonObject | None = None,
        effects_hash: str | None = None,
        keep: Sequence[str] | None = None,
    ) -> Approval:
        """Take a person's decision, and tell those who watch the session. Raises as `Approvals.decide`."""
        decided = await self.approvals.decide(
            approval_id, approved=approved, by=by, feedback=feedback, changed=changed, effects_hash=effects_hash, keep=keep
        )
        if (conversation := self._open.get(decided.session_id)) is not None:
            yes, no = ("approved", "denied") if decided.effects_hash is None else ("kept", "dropped")
            told = {"toolId": decided.call_id, "toolName": decided.tool, "approvalId": decided.id, "decision": yes if approved else no}
            kept = {} if keep is None else {"kept": [*keep]}
            await conversation.record("chat:tool-decided", {**told, "by": by, **kept})
        return decided

    @property
    def approvals(self) -> Approvals:
        """What the sessions ask for."""
        assert self.held.road.approvals is not None
        return self.held.road.approvals

    def replay(self, session_id: str, *, after: int, until: int) -> AsyncGenerator[ChatEvent]:
        """What is on record of a session between two numbers, as it was told."""
        return replayed(self._platform.database, self.held.lease.workspace_id, session_id, after=after, until=until)

    async def messages(self, session_id: str) -> list[dict[str, Any]]:
        """What was said in a session, in its order: what the model is told first, if the session's profile is still there.

        Raises:
            NotFound: There is no such session.
        """
        row = await self._row(session_id)
        said: list[Message] = list((await self.conversation(session_id)).messages)
        try:
            profile = await self.profile(None, session_id)
        except HoldfastError:
            pass
        else:
            said.insert(0, SystemMessage(system_prompt(profile, Mode(row.mode), await self._notes())))
        return [
            {"role": message.role, "content": message.text, "sort_order": number, "metadata": _metadata(message)}
            for number, message in enumerate(said)
        ]

    def cancel(self, session_id: str) -> bool:
        """End the turn that is running; tells whether there was one."""
        return self.is_running(session_id) and self._running[session_id].cancel()

    async def _turn(self, conversation: Conversation, profile: Profile, model: str | None, bounds: Bounds) -> Turn:
        row = await self._row(conversation.id)
        ref = model or profile.model or (await self._providers.default()).ref
        provider, name = self._providers.provider_for(ref)
        about = await provider.model(name)
        tools = await self._platform.tools(self.held.lease.workspace_id, profile)
        hands = Hands(
            tools=tuple(neutral(tool) for tool in tools) if about.supports_tools else (),
            safe=frozenset(tool.name for tool in tools if tool.danger is Danger.SAFE),
            take=lambda call: self.held.take(call, profile),
        )

        async def trust() -> Trust | None:
            return Trust((await self._row(conversation.id)).trust)

        bounds = replace(bounds, answers=profile.limits.turns or bounds.answers, seconds=profile.limits.loop_seconds)
        system = system_prompt(profile, Mode(row.mode), await self._notes())
        return Turn(conversation, provider, name, system, hands, trust, Budget(about.context_window), profile.name, bounds)

    async def _row(self, session_id: str) -> sessions.Session:
        row = await sessions.get(self._platform.database, self.held.lease.workspace_id, session_id)
        if row is None:
            raise NotFound("Session not found", hint="List the sessions.", session=session_id)
        return row

    async def _notes(self) -> str:
        """What the project says of itself for agents, if it does."""
        try:
            place = await resolve(self.held.mounts.named["project"], _NOTES, written=_NOTES)
            return (await read(place, max_bytes=_MAX_NOTES_BYTES)).text
        except HoldfastError:
            return ""

    def _heard(self, event: Event) -> None:
        """Pass on what happens to a call to those who watch its session."""
        conversation = self._open.get(event.call.caller.session)
        if conversation is None or not event.call.caller.agent:
            return
        told: JsonObject = {"toolId": event.call.id, "toolName": event.call.name}
        match event:
            case ApprovalAsked(_, approval):
                conversation.record_soon("chat:tool-confirm", {**told, "input": approval["input"], **_confirm(approval)})
            case ApprovalExpired(_, approval):
                conversation.record_soon("chat:tool-decided", {**told, "approvalId": approval["id"], "decision": "expired", "by": ""})
            case QuestionAsked(_, question):
                conversation.record_soon("chat:question", {**told, "questionId": question["id"], "questions": question["questions"]})
            case ToolStarted(call):
                conversation.record_soon("chat:tool-start", {**told, "input": cast("JsonObject", _input(call))})
            case ToolOutput(_, chunk):
                conversation.tell("chat:tool-delta", {"toolId": event.call.id, "chunk": chunk})
            case _:
                pass


def _metadata(message: Message) -> JsonObject | None:
    """What a message carries besides its words, in the form that clients of chat completions know."""
    match message:
        case ToolMessage():
            return {"tool_call_id": message.call_id}
        case AssistantMessage() if message.calls:
            called: list[Json] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
            ]
            return {"tool_calls": called}
        case _:
            return None


def _confirm(approval: JsonObject) -> JsonObject:
    told: dict[str, object] = {"approvalId": approval["id"], "reason": approval["reason"]}
    for ours, theirs in (("expires_at", "expiresAt"), ("effects", "effects"), ("effects_hash", "effectsHash")):
        if approval.get(ours) is not None:
            told[theirs] = approval[ours]
    return cast("JsonObject", told)


def _input(call: ToolCall) -> object:
    if not isinstance(call.arguments, str):
        return call.arguments
    import orjson

    try:
        return orjson.loads(call.arguments)
    except ValueError:
        return call.arguments
