"""The loop: ask the model, run the calls, append what came of them, again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from holdfast.providers.protocol import Provider, Request
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.chat import BUDGET, CANCELLED, DONE, ERROR, LIMIT, EndOfTurn
from holdfast.vocabulary.chunks import Usage
from holdfast.vocabulary.errors import HoldfastError, PathViolation
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, Message, TextBlock, ToolMessage, UserMessage
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.reply import Reply
from holdfast.vocabulary.trust import Trust

from .answer import answered
from .budget import Budget
from .conversation import Conversation

_SAME_FAILURES = 3
_ENDED = "The turn was ended before this call was done. Look at the files before you repeat it."


@dataclass(frozen=True)
class Hands:
    """What the loop needs of the tools: their definitions, which of them only look, and the road."""

    tools: tuple[JsonObject, ...]
    safe: frozenset[str]
    take: Callable[[ToolCall], Awaitable[Outcome]]


@dataclass(frozen=True)
class Bounds:
    """How long a turn may go on. With `last_words` the model is not asked once more at the limit: they are said in its place."""

    answers: int = 200
    seconds: float = 30 * 60
    path_violations: int = 3
    last_words: str = ""


@dataclass
class Turn:
    """One turn of a session: from what the person said to the model's last word."""

    conversation: Conversation
    provider: Provider
    model: str
    system: str
    hands: Hands
    trust: Callable[[], Awaitable[Trust | None]]
    budget: Budget
    agent: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    _failures: dict[str, int] = field(default_factory=dict[str, int])
    _violations: int = 0

    async def run(self, content: str) -> EndOfTurn:
        """Go on until the model is done, or something ends it; that is on record and told, and the session can be continued."""
        message_id = str(uuid4())
        conversation = self.conversation
        await conversation.add(UserMessage(content))
        await conversation.record("chat:message", {"messageId": str(uuid4()), "role": "user", "content": content})
        await conversation.record("chat:stream-start", {"messageId": message_id, "model": f"{self.provider.name}/{self.model}"})
        reason, used = ERROR, Usage(0, 0)
        try:
            async with asyncio.timeout(self.bounds.seconds):
                reason, used = await self._until_done(message_id)
        except TimeoutError:
            reason = LIMIT
        except asyncio.CancelledError:
            reason = CANCELLED
            raise
        except HoldfastError as error:
            await asyncio.shield(self._told_error(message_id, error))
        finally:
            await asyncio.shield(conversation.answer_calls(_ENDED))
            ended = {"messageId": message_id, "reason": reason, "usage": _shown(used)}
            await asyncio.shield(conversation.record("chat:stream-end", ended))
        return reason

    async def _until_done(self, message_id: str) -> tuple[EndOfTurn, Usage]:
        total = Usage(0, 0)
        for number in range(self.bounds.answers + 1):
            if number == self.bounds.answers and self.bounds.last_words:
                await self._said(message_id, self.bounds.last_words)
                break
            has_room = self.budget.has_room_for_tools(self.conversation.messages)
            # At the limit the model is asked once more, and can only speak.
            tools = self.hands.tools if has_room and number < self.bounds.answers else ()
            reply, calls = await self._asked(message_id, tools)
            total = _sum(total, reply.usage)
            if reply.error is not None:
                await self._told_error(message_id, reply.error)
                return ERROR, total
            if not calls:
                return (DONE if tools or not self.hands.tools else BUDGET if not has_room else LIMIT), total
            await self._run(message_id, calls)
            if (why := self._reason_to_stop()) is not None:
                await self._told_error(message_id, HoldfastError(f"{why}, so the turn was ended", hint="Say how to go on."))
                return ERROR, total
        return LIMIT, total

    async def _said(self, message_id: str, text: str) -> None:
        self.conversation.tell("chat:text-delta", {"messageId": message_id, "content": text, "index": 0})
        await self.conversation.add(AssistantMessage((TextBlock(text),)))

    def _reason_to_stop(self) -> str | None:
        if self._violations >= self.bounds.path_violations:
            return "too many paths led outside"
        return "the same call failed again and again" if any(count > _SAME_FAILURES for count in self._failures.values()) else None

    async def _asked(self, message_id: str, tools: tuple[JsonObject, ...]) -> tuple[Reply, tuple[CallBlock, ...]]:
        conversation = self.conversation
        sent = self.budget.fitting(conversation.messages)
        request = Request(self.model, sent, self.system, tools, cache_key=conversation.id)
        reply = await answered(self.provider, request, conversation, message_id)
        answer = conversation.with_new_ids(reply.message)
        if answer.blocks:
            await conversation.add(answer)
        if reply.usage is not None:
            self.budget.count(reply.usage, len(conversation.messages))
        window: JsonObject = {"usedTokens": self.budget.used(conversation.messages), "windowTokens": self.budget.window_tokens}
        conversation.tell("chat:context", window)
        return reply, answer.calls

    async def _run(self, message_id: str, calls: Sequence[CallBlock]) -> None:
        """Run the calls in their order; those that only look, and follow one another, side by side."""
        trust = await self.trust()
        at = 0
        while at < len(calls):
            until = at + 1
            if self._only_looks(calls[at]):
                while until < len(calls) and self._only_looks(calls[until]):
                    until += 1
            results = await asyncio.gather(*(self._result(message_id, call, trust) for call in calls[at:until]))
            await self.conversation.add(*results)
            at = until

    def _only_looks(self, call: CallBlock) -> bool:
        return not call.invalid and call.name in self.hands.safe

    async def _result(self, message_id: str, block: CallBlock, trust: Trust | None) -> Message:
        if block.invalid:
            outcome, text, is_error = None, f"This call was not run: {block.invalid}. Write its arguments as one valid JSON object.", True
        else:
            caller = Caller(agent=self.agent, session=self.conversation.id)
            outcome = await self.hands.take(ToolCall(block.id, block.name, block.arguments, caller, trust=trust))
            text, is_error = outcome.answer.text, not isinstance(outcome, Done) or outcome.answer.is_error
        if outcome is not None and not isinstance(outcome, Done) and isinstance(outcome.error, PathViolation):
            self._violations += 1
        if is_error:
            text = self._remarked(block, text)
        told: dict[str, Json] = {"messageId": message_id, "toolId": block.id, "status": "error" if is_error else "success", "result": text}
        if outcome is not None and outcome.answer.metadata is not None:
            told["metadata"] = outcome.answer.metadata
        await self.conversation.record("chat:tool-result", told)
        return ToolMessage(block.id, block.name, text, is_error=is_error)

    def _remarked(self, block: CallBlock, text: str) -> str:
        """The text of a failure, with a remark when the same call has failed the same way too often."""
        same = f"{block.name}\0{block.arguments}\0{text}"
        self._failures[same] = self._failures.get(same, 0) + 1
        if self._failures[same] < _SAME_FAILURES:
            return text
        return f"{text}\n[This call has failed {self._failures[same]} times in the same way. Do something else.]"

    async def _told_error(self, message_id: str, error: HoldfastError) -> None:
        await self.conversation.record("chat:error", {"messageId": message_id, "code": error.code, "message": str(error)})


def _sum(total: Usage, more: Usage | None) -> Usage:
    if more is None:
        return total
    cost = None if total.cost is None and more.cost is None else (total.cost or 0) + (more.cost or 0)
    return Usage(
        total.input_tokens + more.input_tokens,
        total.output_tokens + more.output_tokens,
        total.cached_tokens + more.cached_tokens,
        total.cache_write_tokens + more.cache_write_tokens,
        cost,
    )


def _shown(usage: Usage) -> JsonObject:
    told: dict[str, Json] = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "cachedTokens": usage.cached_tokens}
    return told if usage.cost is None else {**told, "cost": usage.cost}
