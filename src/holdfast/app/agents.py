"""Agents at work in one workspace: sessions, models and the road, brought together."""

import asyncio
from typing import cast

from holdfast.agent.budget import Budget
from holdfast.agent.conversation import Conversation
from holdfast.agent.loop import Bounds, Hands, Turn
from holdfast.agent.prompts import system_prompt
from holdfast.config.settings import Settings
from holdfast.policy.trust import trust_for
from holdfast.providers.choose import Providers
from holdfast.providers.settings import ProviderSettings
from holdfast.store import sessions
from holdfast.tool.definition import neutral
from holdfast.tool.tool import Danger
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.chat import CANCELLED, EndOfTurn
from holdfast.vocabulary.errors import Busy, HoldfastError, NotFound
from holdfast.vocabulary.events import ApprovalAsked, Event, QuestionAsked, ToolOutput, ToolStarted
from holdfast.vocabulary.json import JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve

from .held import Held
from .platform import Platform

_NOTES = "AGENTS.md"
_MAX_NOTES_BYTES = 32 * 1024


def provider_settings(settings: Settings) -> ProviderSettings:
    """The settings in the words of the providers."""
    names = ("model", "anthropic_api_key", "anthropic_base_url", "openai_api_key", "openai_base_url", "ollama_host")
    given = {name: settings[name] for name in (*names, "copilot_token", "copilot_url")}
    return ProviderSettings(**given, scripts=settings.home / "scripts")


class Agents:
    """The agents of one workspace that this process holds: at most one turn at a time for each session."""

    def __init__(self, platform: Platform, held: Held, providers: Providers) -> None:
        self._platform = platform
        self._held = held
        self._providers = providers
        self._open: dict[str, Conversation] = {}
        self._running: dict[str, asyncio.Task[EndOfTurn]] = {}
        platform.watch(lambda workspace_id, event: self._heard(event) if workspace_id == held.lease.workspace_id else None)

    async def create(self, profile: Profile, *, trust: Trust | None = None, title: str = "", session_id: str | None = None) -> Conversation:
        """A new session of a profile."""
        chosen = trust_for(profile, Trust(self._platform.settings["trust"]), trust)
        row = await sessions.open_session(
            self._platform.database,
            self._held.lease,
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
        if session_id not in self._open:
            await self._row(session_id)
            self._open[session_id] = await Conversation.load(self._platform.database, self._held.lease, session_id)
        return self._open[session_id]

    async def send(self, session_id: str, content: str, profile: Profile, *, model: str | None = None) -> EndOfTurn:
        """Have the model answer, and return how the turn ended.

        Raises:
            NotFound: There is no such session.
            Busy: A turn of it is running.
            InvalidSetting: There is no such model.
        """
        conversation = await self.conversation(session_id)
        if session_id in self._running:
            raise Busy("a turn of this session is running", hint="Wait for its end, or cancel it.", session=session_id)
        turn = await self._turn(conversation, profile, model)
        task = self._running[session_id] = asyncio.create_task(turn.run(content))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            self._running.pop(session_id, None)
        return CANCELLED if task.cancelled() else task.result()

    def cancel(self, session_id: str) -> bool:
        """End the turn that is running; tells whether there was one."""
        task = self._running.get(session_id)
        return task is not None and task.cancel()

    async def _turn(self, conversation: Conversation, profile: Profile, model: str | None) -> Turn:
        row = await self._row(conversation.id)
        ref = model or profile.model or (await self._providers.default()).ref
        provider, name = self._providers.provider_for(ref)
        about = await provider.model(name)
        road = self._held.road
        await self._held.commands.sandbox()
        tools = [
            tool
            for tool in road.registry.list_for_scope(profile.scope, toolsets=profile.toolsets or None)
            if tool.category.value != "exec" or self._held.commands.is_offered
        ]
        hands = Hands(
            tools=tuple(neutral(tool) for tool in tools) if about.supports_tools else (),
            safe=frozenset(tool.name for tool in tools if tool.danger is Danger.SAFE),
            take=lambda call: self._held.take(call, profile),
        )

        async def trust() -> Trust | None:
            return Trust((await self._row(conversation.id)).trust)

        system = system_prompt(profile, Mode(row.mode), await self._notes())
        return Turn(conversation, provider, name, system, hands, trust, Budget(about.context_window), profile.name, Bounds())

    async def _row(self, session_id: str) -> sessions.Session:
        row = await sessions.get(self._platform.database, self._held.lease.workspace_id, session_id)
        if row is None:
            raise NotFound("Session not found", hint="List the sessions.", session=session_id)
        return row

    async def _notes(self) -> str:
        """What the project says of itself for agents, if it does."""
        try:
            place = await resolve(self._held.mounts.named["project"], _NOTES, written=_NOTES)
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
            case QuestionAsked(_, question):
                conversation.record_soon("chat:question", {**told, "questionId": question["id"], "questions": question["questions"]})
            case ToolStarted(call):
                conversation.record_soon("chat:tool-start", {**told, "input": cast("JsonObject", _input(call))})
            case ToolOutput(_, chunk):
                conversation.tell("chat:tool-delta", {"toolId": event.call.id, "chunk": chunk})
            case _:
                pass


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
