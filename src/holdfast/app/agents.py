"""Agents at work in one workspace: sessions, models and the road, brought together."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, cast

from holdfast.agent.conversation import Conversation
from holdfast.agent.loop import Bounds
from holdfast.agent.prompts import system_prompt
from holdfast.agent.replay import replayed
from holdfast.dispatch.approvals import Approvals
from holdfast.policy.trust import trust_for
from holdfast.providers.choose import Providers
from holdfast.store import sessions
from holdfast.store.approvals import Approval
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.chat import CANCELLED, ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import HoldfastError, NotFound
from holdfast.vocabulary.events import ApprovalAsked, ApprovalExpired, Event, QuestionAsked, ToolFinished, ToolOutput, ToolStarted
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust

from .held import Held
from .news import News
from .open_sessions import OpenSessions
from .platform import Platform
from .profiles import profile_folders
from .setting import project_notes, tell_mode
from .turns import Turns


class Agents:
    """The agents of one workspace that this process holds: at most one turn at a time for each session."""

    def __init__(self, platform: Platform, held: Held, providers: Providers) -> None:
        self._platform = platform
        self._loading: dict[str, asyncio.Task[Conversation]] = {}
        self._opening: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] | None = platform.watch(
            lambda workspace_id, event: self._heard(event) if workspace_id == held.lease.workspace_id else None
        )
        self._news = News(platform.database, held.lease.workspace_id)
        self._turns = Turns(platform, held, providers, self._news, self.conversation)
        idle_seconds = 60 * platform.settings["idle_session_minutes"]
        self._open = OpenSessions(most=platform.settings["open_sessions"], idle_seconds=idle_seconds, runs=self._turns.is_running)
        self.held = held
        self.closed = self._turns.closed
        self.approvals.waits = held.person.waits = self._turns.waits
        held.person.was_answered = lambda question: self._turns.resume_soon(question.session_id)

    async def open(self) -> None:
        """Go on with what earlier processes left, before anything else is done here; there is no harm in doing this again."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._turns.open())
        await asyncio.shield(self._opening)

    def stop(self) -> None:
        """Leave the turns that run to whoever holds the workspace next, and take no new ones; who waits for `closed` hears of it."""
        self._turns.stop()

    async def close(self) -> None:
        """The same, and wait until they have been left."""
        await self._turns.close()
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
        self._news.close()
        self._open.close()

    def watch_workspace(self, watcher: Callable[[ChatEvent], None]) -> Callable[[], None]:
        """Have `session:state` and `files:changed` told from now on; what this gives ends it."""
        return self._news.watch(watcher)

    def is_watched(self, session_id: str) -> bool:
        """Whether anybody sees what a session asks."""
        conversation = self._open.get(session_id)
        return conversation is not None and conversation.is_watched

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
        row = await sessions.open_session(
            self._platform.database,
            self.held.lease,
            session_id=session_id,
            title=title,
            mode=profile.mode.value,
            trust=self.trust_in(profile, trust).value,
            profile=profile.name,
        )
        self._news.session(row.id, state=row.state, title=row.title)
        return await self.conversation(row.id)

    def trust_in(self, profile: Profile, chosen: Trust | None = None) -> Trust:
        """How far a new session of a profile is trusted: as the person chose, as the profile says, or as is set."""
        return trust_for(profile, Trust(self._platform.settings["trust"]), chosen)

    async def conversation(self, session_id: str) -> Conversation:
        """A session as it stands.

        Raises:
            NotFound: There is none with that id.
        """
        row = await self._row(session_id)
        found = self._open.get(session_id)
        if found is None or found.is_resting:
            loading = self._loading.get(session_id)
            if loading is None:
                loading = self._loading[session_id] = asyncio.create_task(self._loaded(row))
                loading.add_done_callback(lambda _: self._loading.pop(session_id, None))
            found = await asyncio.shield(loading)
        self._open.use(found)
        return found

    async def _loaded(self, row: sessions.Session) -> Conversation:
        found = self._open.get(row.id)
        if found is not None:
            await found.wake()
            return found
        loaded = await Conversation.load(self._platform.database, self.held.lease, row.id)
        loaded.title, loaded.mode = row.title, row.mode
        self._open.use(loaded)
        return loaded

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
        self,
        session_id: str,
        content: str,
        profile: Profile,
        *,
        model: str | None = None,
        bounds: Bounds | None = None,
        client_id: str | None = None,
    ) -> asyncio.Task[EndOfTurn]:
        """Have the model begin to answer, and return when it has; the task ends with the turn. `client_id` is told with the message.

        Raises:
            NotFound: There is no such session.
            Busy: A turn of it is running, or no more are taken.
            InvalidSetting: There is no such model.
        """
        conversation = await self.conversation(session_id)
        said = {} if client_id is None else {"clientId": client_id}
        return await self._turns.start(conversation, content, profile, model, bounds or self.bounds(), said)

    def bounds(self, *, is_prompt: bool = False) -> Bounds:
        """How long a turn may go on: of `/ws/chat`, or of `/ws/prompt`, which has its own last words."""
        settings = self._platform.settings
        if not is_prompt:
            return Bounds(answers=settings["chat_turns"], path_violations=settings["path_violations"])
        most = settings["prompt_turns"]
        words = f"Stopped after {most} iterations — possible runaway loop."
        return Bounds(answers=most, path_violations=settings["path_violations"], last_words=words)

    def is_running(self, session_id: str) -> bool:
        """Whether a turn of that session is running."""
        return self._turns.is_running(session_id)

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
        if (conversation := await self._of(decided.session_id)) is not None:
            yes, no = ("approved", "denied") if decided.effects_hash is None else ("kept", "dropped")
            about = {"messageId": conversation.message_id, "toolId": decided.call_id, "toolName": decided.tool}
            told = {**about, "approvalId": decided.id, "decision": yes if approved else no}
            kept = {} if keep is None else {"kept": [*keep]}
            await conversation.record("chat:tool-decided", {**told, "by": by, **kept})
            self._turns.resume_soon(decided.session_id)
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
            said.insert(0, SystemMessage(system_prompt(profile, Mode(row.mode), await project_notes(self.held))))
        return [
            {"role": message.role, "content": message.text, "sort_order": number, "metadata": _metadata(message)}
            for number, message in enumerate(said)
        ]

    def cancel(self, session_id: str) -> bool:
        """End the turn that is running; tells whether there was one."""
        return self._turns.cancel(session_id)

    async def was_set(self, shown: Mapping[str, Any]) -> None:
        """Tell that a session was made, or set anew; it is as clients see it."""
        self._news.session(shown["id"], state=shown["state"], title=shown["title"])
        if (conversation := self._open.get(shown["id"])) is not None:
            conversation.title = shown["title"]
            await tell_mode(conversation, Mode(shown["mode"]))

    async def end(self, session_id: str) -> None:
        """End the turn that is running, if there is one, and what it asks; come back when it has ended."""
        await self._turns.end(session_id)

    async def _of(self, session_id: str) -> Conversation | None:
        """A session if it is there."""
        try:
            return await self.conversation(session_id)
        except NotFound:
            return None

    async def _row(self, session_id: str) -> sessions.Session:
        row = await sessions.get(self._platform.database, self.held.lease.workspace_id, session_id)
        if row is None:
            raise NotFound("Session not found", hint="List the sessions.", session=session_id)
        return row

    def _heard(self, event: Event) -> None:
        """Pass on what happens to a call to those who watch its session, and what it changed to those who watch the workspace."""
        if isinstance(event, ToolFinished):
            self._news.finished(event)
        conversation = self._open.get(event.call.caller.session)
        if conversation is None or not event.call.caller.agent:
            return
        told: JsonObject = {"messageId": conversation.message_id, "toolId": event.call.id, "toolName": event.call.name}
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
                piece = {"messageId": conversation.message_id, "toolId": event.call.id, "chunk": chunk}
                conversation.tell_in_order("chat:tool-delta", piece)
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
