"""The turns of one workspace: begun, gone on with after a restart, ended. There is at most one at a time for each session."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from holdfast.agent.budget import Budget
from holdfast.agent.calls import Calls, Hands
from holdfast.agent.conversation import Conversation
from holdfast.agent.loop import Bounds, Turn
from holdfast.agent.usage import from_told
from holdfast.providers.choose import Providers
from holdfast.store import sessions, turns
from holdfast.store.turns import OpenTurn
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.chat import CANCELLED, ERROR, EndOfTurn
from holdfast.vocabulary.errors import Busy, HoldfastError, InvalidSetting, LostLease
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.profile import Profile

from .held import Held
from .news import News
from .platform import Platform
from .profiles import hear_profile, tell_profile
from .recalling import Recalling
from .setting import SessionSetting

AUTO = "auto"
_MOST_INTERRUPTIONS = 3
_INTERRUPTED = "This turn was interrupted three times without getting anywhere, so it is not gone on with by itself. Say how to go on."
# What runs when the process is asked to end has so long to come to its end.
_GRACE_SECONDS = 3.0

log = logging.getLogger(__name__)


class Turns:
    """The turns of one workspace that this process holds. `load` gives a session as it stands."""

    def __init__(
        self, platform: Platform, held: Held, providers: Providers, news: News, load: Callable[[str], Awaitable[Conversation]]
    ) -> None:
        self._platform = platform
        self._held = held
        self._providers = providers
        self._news = news
        self._load = load
        self._running: dict[str, asyncio.Task[EndOfTurn]] = {}
        self._turns: dict[str, Turn] = {}
        self._waiting: Counter[str] = Counter()
        self._resuming: dict[str, asyncio.Task[None]] = {}
        # Left open, and waiting for a person to say how to go on.
        self._left: set[str] = set()
        self.closed = asyncio.Event()

    async def open(self) -> None:
        """Go on with the turns that earlier processes left, if the settings say so."""
        database, lease = self._platform.database, self._held.lease
        await turns.tidy(database, lease)
        for turn in await turns.left_open(database, lease.workspace_id):
            if turn.session_id in self._running:
                continue
            if self._platform.settings["resume"] == AUTO:
                self.resume_soon(turn.session_id, by_itself=True)
            else:
                self._left.add(turn.session_id)
                turns.say_state(database, lease, turn.session_id, turns.WAITING)

    async def start(
        self, conversation: Conversation, content: str, profile: Profile, model: str | None, bounds: Bounds, said: Mapping[str, Json]
    ) -> asyncio.Task[EndOfTurn]:
        """Have the model begin to answer, and return when it has; the task ends with the turn.

        A turn that was left open, and that nobody has gone on with, is ended first.

        Raises:
            Busy: A turn of the session is running, or no more are taken.
            InvalidSetting: There is no such model.
        """
        session_id = conversation.id
        if (resuming := self._resuming.get(session_id)) is not None:
            await asyncio.wait({resuming})
        while (before := self._running.get(session_id)) is not None:
            if not conversation.has_ended:
                raise Busy("a turn of this session is running", hint="Wait for its end, or cancel it.", session=session_id)
            await asyncio.wait({before})
        begun = asyncio.Event()
        is_left, conversation.has_ended = not conversation.has_ended, False

        async def whole() -> EndOfTurn:
            try:
                ref = model or profile.model or (await self._providers.default()).ref
                turn = await self._turn(conversation, profile, ref, bounds)
            except BaseException:
                conversation.has_ended = not is_left
                raise
            if is_left:
                await self._end_left(conversation, profile)
                conversation.has_ended = False
            begun.set()
            self._news.session(session_id, state=turns.RUNNING, title=conversation.title)
            return await turn.run(content, begun_with=_begun_with(profile, ref, bounds), said=said)

        task = self._run(conversation, whole(), begun.set)
        await begun.wait()
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error
        return task

    def resume_soon(self, session_id: str, *, by_itself: bool = False) -> None:
        """Go on with a turn that was left open, if there is one that does not run."""
        self._taken_up(session_id, self._resume(session_id, by_itself=by_itself))

    def is_running(self, session_id: str) -> bool:
        """Whether a turn of that session is running."""
        return session_id in self._running and (session_id not in self._turns or not self._turns[session_id].conversation.has_ended)

    def cancel(self, session_id: str) -> bool:
        """End the turn that is running, or was left open; tells whether there was one."""
        if session_id in self._left:
            self._taken_up(session_id, self._end_soon(session_id))
            return True
        return self.is_running(session_id) and self._running[session_id].cancel()

    async def end(self, session_id: str) -> None:
        """The same, and wait until it has ended."""
        if session_id in self._left:
            await self._end_soon(session_id)
        while (task := self._running.get(session_id)) is not None:
            task.cancel()
            await asyncio.wait({task})

    def stop(self) -> None:
        """Leave the turns that run to whoever holds the workspace next, and take no new ones. Calls that run come to their end."""
        self.closed.set()
        for resuming in self._resuming.values():
            resuming.cancel()
        self._held.person.leave()
        if self._held.road.approvals is not None:
            self._held.road.approvals.leave()
        for session_id, task in self._running.items():
            if (turn := self._turns.get(session_id)) is not None:
                turn.leave(task)
            else:
                task.cancel()

    async def close(self) -> None:
        """The same, and wait until all have been left. What takes too long is cut off."""
        self.stop()
        if self._running:
            _, late = await asyncio.wait(set(self._running.values()), timeout=_GRACE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    @contextmanager
    def waits(self, call: ToolCall) -> Generator[None]:
        """A call waits for a person: its turn's clock stands still meanwhile, and its session says so."""
        session_id = call.caller.session
        turn = self._turns.get(session_id)
        if turn is None or not call.caller.agent:
            yield
            return
        with turn.clock.standing_still():
            self._waiting[session_id] += 1
            if self._waiting[session_id] == 1:
                self._say_state(turn.conversation, turns.WAITING)
            try:
                yield
            finally:
                self._waiting[session_id] -= 1
                if not self._waiting[session_id] and not turn.calls.is_leaving:
                    self._say_state(turn.conversation, turns.RUNNING)

    async def close_asked(self, conversation: Conversation, calls: Sequence[str]) -> None:
        """Nobody waits any longer for what these calls have asked a person: that is expired, and told as such."""
        if not calls:
            return
        closed = await turns.close_asked(self._platform.database, self._held.lease, conversation.id, {*calls}.__contains__)
        for call_id, tool, approval_id in closed:
            about = {"messageId": conversation.message_id, "toolId": call_id, "toolName": tool}
            told = {**about, "approvalId": approval_id, "decision": "expired", "by": ""}
            await conversation.record("chat:tool-decided", told)

    def _run(self, conversation: Conversation, whole: Coroutine[Any, Any, EndOfTurn], after: Callable[[], None]) -> asyncio.Task[EndOfTurn]:
        session_id = conversation.id
        if self.closed.is_set():
            whole.close()
            raise Busy("this process is giving the workspace back", hint="Try again in a moment.")

        def ended(task: asyncio.Task[EndOfTurn]) -> None:
            self._running.pop(session_id, None)
            self._turns.pop(session_id, None)
            self._waiting.pop(session_id, None)
            if conversation.has_ended:
                self._news.session(session_id, state=turns.IDLE, title=conversation.title)
            after()
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, HoldfastError):
                log.error("a turn of session %s broke", session_id, exc_info=error)

        self._left.discard(session_id)
        task = self._running[session_id] = asyncio.create_task(whole)
        task.add_done_callback(ended)
        return task

    def _taken_up(self, session_id: str, doing: Coroutine[Any, Any, None]) -> None:
        task = self._resuming[session_id] = asyncio.create_task(doing)
        task.add_done_callback(lambda done: self._resuming.pop(session_id) if self._resuming.get(session_id) is done else None)

    async def _end_soon(self, session_id: str) -> None:
        conversation = await self._load(session_id)
        if session_id not in self._running and not conversation.has_ended:
            self._left.discard(session_id)
            await self._end_left(conversation, None)
            self._news.session(session_id, state=turns.IDLE, title=conversation.title)

    async def _resume(self, session_id: str, *, by_itself: bool) -> None:
        database, workspace_id = self._platform.database, self._held.lease.workspace_id
        try:
            turn = await turns.of_session(database, workspace_id, session_id)
            row = await sessions.get(database, workspace_id, session_id)
            if turn is None or row is None or session_id in self._running or self.closed.is_set():
                return
            conversation = await self._load(session_id)
            if session_id in self._running or conversation.has_ended:
                return
            times = 1 if row.last_seq > turn.resumed_seq else turn.resumed + 1
            self._run(conversation, self._gone_on(conversation, turn, times if by_itself else 0), lambda: None)
        except LostLease:
            return
        except HoldfastError as error:
            log.warning("the turn of session %s that was left open could not be gone on with: %s", session_id, error)

    async def _gone_on(self, conversation: Conversation, turn: OpenTurn, times: int) -> EndOfTurn:
        database, lease = self._platform.database, self._held.lease
        if times >= _MOST_INTERRUPTIONS:
            await self._give_up(conversation, turn, times)
            return CANCELLED
        await turns.count_resumed(database, lease, conversation.id, times, seq=conversation.last_seq)
        self._say_state(conversation, turns.RUNNING)
        try:
            profile, ref, bounds = _read(turn.begun_with)
            going = await self._turn(conversation, profile, ref, bounds)
        except HoldfastError as error:
            told = {"messageId": turn.message_id, "code": error.code, "message": str(error)}
            await conversation.record("chat:error", told)
            await self._end_left(conversation, None, ERROR)
            return ERROR
        going.used = from_told(turn.used)
        return await going.go_on()

    async def _give_up(self, conversation: Conversation, turn: OpenTurn, times: int) -> None:
        if turn.resumed < _MOST_INTERRUPTIONS:
            told = {"messageId": turn.message_id, "code": "interrupted", "message": _INTERRUPTED}
            await conversation.record("chat:error", told)
        await turns.count_resumed(self._platform.database, self._held.lease, conversation.id, times, seq=conversation.last_seq)
        self._left.add(conversation.id)
        self._say_state(conversation, turns.WAITING)

    async def _end_left(self, conversation: Conversation, profile: Profile | None, reason: EndOfTurn = CANCELLED) -> None:
        """End a turn that nobody has gone on with: its calls have what is on record of them, and what they asked is expired."""
        recalling = Recalling(self._platform.database, self._held, conversation, profile)
        calls = Calls(conversation, Hands(self._never, recalling.recall, recalling.look_up))
        await self.close_asked(conversation, [call.id for call in conversation.unanswered])
        await calls.close()
        await conversation.end({"reason": reason, "usage": {}})

    async def _never(self, call: ToolCall) -> Any:
        raise AssertionError(f"{call.name} is of a turn that is over")

    async def _turn(self, conversation: Conversation, profile: Profile, ref: str, bounds: Bounds) -> Turn:
        provider, name = self._providers.provider_for(ref)
        about = await provider.model(name)
        setting = SessionSetting(self._platform, self._held, conversation, profile, offers_tools=about.supports_tools)
        limits = profile.limits
        bounds = replace(bounds, answers=limits.turns or bounds.answers, seconds=limits.loop_seconds, model_seconds=limits.model_seconds)
        recalling = Recalling(self._platform.database, self._held, conversation, profile)
        hands = Hands(lambda call: self._held.outcome_of(call, profile), recalling.recall, recalling.look_up)
        if conversation.budget is None or conversation.budget.window_tokens != about.context_window:
            conversation.budget = Budget(about.context_window)
        turn = self._turns[conversation.id] = Turn(
            conversation,
            provider,
            name,
            setting.now,
            Calls(conversation, hands, profile.name),
            conversation.budget,
            lambda calls: self.close_asked(conversation, calls),
            bounds,
        )
        return turn

    def _say_state(self, conversation: Conversation, state: str) -> None:
        kept = turns.say_state(self._platform.database, self._held.lease, conversation.id, state)
        kept.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._news.session(conversation.id, state=state, title=conversation.title)


def _begun_with(profile: Profile, ref: str, bounds: Bounds) -> JsonObject:
    return {"profile": tell_profile(profile), "model": ref, "bounds": vars(bounds)}


def _read(begun_with: Json) -> tuple[Profile, str, Bounds]:
    """What `_begun_with` tells.

    Raises:
        InvalidSetting: Another version of Holdfast has told it, or the profile is not there any more.
    """
    told = cast("Mapping[str, Any]", begun_with)
    try:
        return hear_profile(told["profile"]), str(told["model"]), Bounds(**told["bounds"])
    except (KeyError, TypeError, ValueError) as problem:
        raise InvalidSetting(f"how the turn was begun cannot be read: {problem}", hint="Say how to go on.") from problem
