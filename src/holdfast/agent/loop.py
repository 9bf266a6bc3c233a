"""The loop: ask the model, run the calls, append what came of them, again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from holdfast.providers.protocol import Provider, Request
from holdfast.store.events import Event
from holdfast.vocabulary.chat import BUDGET, CANCELLED, DONE, ERROR, LIMIT, EndOfTurn
from holdfast.vocabulary.chunks import Usage
from holdfast.vocabulary.errors import HoldfastError, LostLease, ProviderError
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, TextBlock, UserMessage
from holdfast.vocabulary.reply import Reply
from holdfast.vocabulary.trust import Trust

from .answer import answered, without_loose_ends
from .budget import Budget
from .calls import Calls, Left
from .clock import Clock
from .conversation import Conversation
from .usage import NOTHING, as_told, sum_of


@dataclass(frozen=True)
class Setting:
    """How a session is set just now: what the model is told first, its tools, which of them only look, and how far it is trusted."""

    system: str
    tools: tuple[JsonObject, ...]
    safe: frozenset[str]
    trust: Trust | None


@dataclass(frozen=True)
class Bounds:
    """How long a turn may go on. With `last_words` the model is not asked once more at the limit: they are said in its place."""

    answers: int = 200
    seconds: float = 30 * 60
    path_violations: int = 3
    last_words: str = ""
    model_seconds: float = 120


@dataclass
class Turn:
    """One turn of a session: from what the person said to the model's last word.

    `setting` is asked for before every answer and before its calls, and
    `close` is told of its calls when it ends, since nobody waits any
    longer for what they asked a person.
    """

    conversation: Conversation
    provider: Provider
    model: str
    setting: Callable[[], Awaitable[Setting]]
    calls: Calls
    budget: Budget
    close: Callable[[Sequence[str]], Awaitable[None]]
    bounds: Bounds = field(default_factory=Bounds)
    used: Usage = NOTHING

    def __post_init__(self) -> None:
        self.clock = Clock(self.bounds.seconds)
        self._answer: asyncio.Future[list[Event]] | None = None

    async def run(self, content: str, *, begun_with: JsonObject, said: Mapping[str, Json]) -> EndOfTurn:
        """Take what the person says, and answer it; `said` is more to be told about it."""
        about = {"messageId": str(uuid4()), **said}
        model = f"{self.provider.name}/{self.model}"
        begun = asyncio.ensure_future(self.conversation.begin(str(uuid4()), content, model=model, begun_with=begun_with, said=about))
        try:
            await asyncio.shield(begun)
        except asyncio.CancelledError:
            # What has begun is on record, so its end must be.
            await asyncio.wait({begun})
            if not self.calls.is_leaving:
                await asyncio.shield(self._end(CANCELLED))
            raise
        return await self.go_on()

    async def go_on(self) -> EndOfTurn:
        """Go on until the model is done, or something ends it; that is on record and told, and the session can be continued.

        A turn that this process only leaves stays open.
        """
        try:
            async with self.clock:
                reason = await self._until_done()
        except (Left, LostLease):
            raise asyncio.CancelledError from None
        except asyncio.CancelledError:
            if not self.calls.is_leaving:
                await asyncio.shield(self._end(CANCELLED))
            raise
        except HoldfastError as error:
            await asyncio.shield(self._told_error(error))
            reason = ERROR
        except Exception as problem:
            if not isinstance(problem, TimeoutError) or not self.clock.has_run_out:
                await asyncio.shield(self._end(ERROR))
                raise
            reason = LIMIT
        await asyncio.shield(self._end(reason))
        return reason

    def leave(self, task: "asyncio.Task[EndOfTurn]") -> None:
        """Stop, and stay open: calls that run come to their end, and an answer that is being given is cut off."""
        self.calls.is_leaving = True
        if not self.calls.is_running:
            task.cancel()

    async def _until_done(self) -> EndOfTurn:
        if left := self.conversation.unanswered:
            self.calls.from_before = frozenset(call.id for call in left)
            await self._run(left)
        elif isinstance(self.conversation.messages[-1], AssistantMessage):
            return DONE
        for number in range(_answers_so_far(self.conversation), self.bounds.answers + 1):
            if (why := self.calls.reason_to_stop(self.bounds.path_violations)) is not None:
                await self._told_error(HoldfastError(f"{why}, so the turn was ended", hint="Say how to go on."))
                return ERROR
            if number == self.bounds.answers and self.bounds.last_words:
                await self._said(self.bounds.last_words)
                break
            setting = await self.setting()
            has_room = self.budget.has_room_for_tools(self.conversation.messages)
            # At the limit the model is asked once more, and can only speak.
            tools = setting.tools if has_room and number < self.bounds.answers else ()
            reply, calls = await self._asked(setting.system, tools, setting.safe)
            if reply.error is not None:
                await self._told_error(reply.error)
                return ERROR
            # A call of a tool that was not offered is not run.
            if not calls or not tools:
                return DONE if tools or not setting.tools else BUDGET if not has_room else LIMIT
            await self._run(calls)
        return LIMIT

    async def _run(self, calls: Sequence[CallBlock]) -> None:
        setting = await self.setting()
        await self.calls.run(calls, setting.safe, setting.trust)
        if self._answer is not None:
            await asyncio.shield(self._answer)
            self._answer = None

    async def _asked(self, system: str, tools: tuple[JsonObject, ...], safe: frozenset[str]) -> tuple[Reply, tuple[CallBlock, ...]]:
        conversation, reply = self.conversation, Reply()
        request = Request(self.model, self.budget.fitting(conversation.messages), system, tools, cache_key=conversation.id)
        deadline = asyncio.timeout(self.bounds.model_seconds)
        try:
            async with deadline:
                await answered(self.provider, request, conversation, reply)
        except TimeoutError:
            if not deadline.expired():
                raise
            reply.error = _too_slow(self.provider.name, self.bounds.model_seconds)
        except BaseException:
            await asyncio.shield(self._cut_off(reply))
            raise
        answer = conversation.with_new_ids(reply.message if reply.error is None else without_loose_ends(reply.message))
        self.used = sum_of(self.used, reply.usage)
        if reply.usage is not None:
            self.budget.count(reply.usage, len(conversation.messages) + bool(answer.blocks))
        if tools and answer.calls and all(call.name in safe for call in answer.calls):
            # Calls that only look need not wait for it: what comes of them is put on record after it.
            self._answer = conversation.add_soon(answer, used=as_told(self.used))
        elif answer.blocks:
            await conversation.add(answer, used=as_told(self.used))
        window: JsonObject = {"usedTokens": self.budget.used(conversation.messages), "windowTokens": self.budget.window_tokens}
        conversation.tell("chat:context", window)
        return reply, answer.calls

    async def _cut_off(self, reply: Reply) -> None:
        """Keep what was said: for whoever goes on with this turn, or as the model's message."""
        if self.calls.is_leaving:
            await self.conversation.check_point()
        elif (said := without_loose_ends(reply.message)).blocks:
            await self.conversation.add(said, used=as_told(self.used))

    async def _said(self, text: str) -> None:
        self.conversation.tell_piece("chat:text-delta", text, 0)
        await self.conversation.add(AssistantMessage((TextBlock(text),)), used=as_told(self.used))

    async def _end(self, reason: EndOfTurn) -> None:
        await self.conversation.settled()
        left = [call.id for call in self.conversation.unanswered]
        await self.close(left)
        await self.calls.close()
        await self.conversation.end({"reason": reason, "usage": as_told(self.used)})

    async def _told_error(self, error: HoldfastError) -> None:
        told = {"messageId": self.conversation.message_id, "code": error.code, "message": str(error)}
        await self.conversation.record("chat:error", told)


def _answers_so_far(conversation: Conversation) -> int:
    """How often the model was asked in this turn already."""
    answers = 0
    for message in reversed(conversation.messages):
        if isinstance(message, UserMessage) and not message.is_note:
            return answers
        answers += isinstance(message, AssistantMessage)
    return answers


def _too_slow(provider: str, seconds: float) -> ProviderError:
    hint = "Say how to go on, or give it more time (limits: model_time in the profile)."
    return ProviderError.of(f"the answer was not whole after {seconds:g} s", provider=provider, kind="timed_out", hint=hint)
