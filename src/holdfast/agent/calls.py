"""The calls of one turn: run in their order, their results on record, and what goes wrong again and again noticed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Busy, PathViolation
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.messages import CallBlock, ToolMessage
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.trust import Trust

from .conversation import Conversation
from .recall import Recalled

_SAME_FAILURES = 3
_NOT_RUN = "Not run: the turn was ended first."


class Left(Exception):
    """This process is about to end, and whoever holds the workspace next goes on from here."""


@dataclass(frozen=True)
class Hands:
    """What the loop needs of the tools: the road, and what is on record of a call that an earlier process was asked for."""

    take: Callable[[ToolCall], Awaitable[Outcome]]
    recall: Callable[[ToolCall, CallBlock], Awaitable[Recalled | None]]
    look_up: Callable[[CallBlock], Awaitable[Recalled | None]]


class _Result(NamedTuple):
    """What came of a call: for the model, and for those who watch."""

    message: ToolMessage
    event: tuple[str, JsonObject]


@dataclass
class Calls:
    """How the calls of a turn go. When it `is_leaving`, calls that wait for a person are left to the next process."""

    conversation: Conversation
    hands: Hands
    agent: str = ""
    is_leaving: bool = False
    is_running: bool = False
    from_before: frozenset[str] = frozenset()
    _failures: dict[str, int] = field(default_factory=dict[str, int])
    _violations: int = 0

    async def run(self, calls: Sequence[CallBlock], safe: frozenset[str], trust: Trust | None) -> None:
        """Run the calls in their order; those that only look, and follow one another, side by side.

        Raises:
            Left: This process is about to end.
        """
        self.is_running = True
        try:
            at = 0
            while at < len(calls):
                until = at + 1
                while until < len(calls) and all(not call.invalid and call.name in safe for call in calls[at : until + 1]):
                    until += 1
                await self._run_together(calls[at:until], trust)
                at = until
                if self.is_leaving:
                    raise Left
        finally:
            self.is_running = False

    def reason_to_stop(self, path_violations: int) -> str | None:
        """Why the turn should not go on, if it should not."""
        if self._violations >= path_violations:
            return "too many paths led outside"
        return "the same call failed again and again" if any(count > _SAME_FAILURES for count in self._failures.values()) else None

    async def close(self) -> None:
        """Give the calls that have no result, and will get none, what is on record of them."""
        for block in self.conversation.unanswered:
            known = await self.hands.look_up(block) or Recalled(_NOT_RUN, is_error=True)
            result = self._told(block, known.text, is_error=known.is_error)
            await self.conversation.add(result.message, told=(result.event,))

    async def _run_together(self, calls: Sequence[CallBlock], trust: Trust | None) -> None:
        if len(calls) == 1:
            result = await self._result(calls[0], trust)
            await self.conversation.add(result.message, told=(result.event,))
            return
        results = await asyncio.gather(*(self._told_result(call, trust) for call in calls), return_exceptions=True)
        for problem in results:
            if isinstance(problem, BaseException):
                raise problem
        await self.conversation.add(*[result for result in results if isinstance(result, ToolMessage)])

    async def _told_result(self, block: CallBlock, trust: Trust | None) -> ToolMessage:
        """The result for the model; people are told of it at once, whatever becomes of the other calls."""
        result = await self._result(block, trust)
        self.conversation.record_soon(*result.event)
        return result.message

    async def _result(self, block: CallBlock, trust: Trust | None) -> "_Result":
        if block.invalid:
            text = f"This call was not run: {block.invalid}. Write its arguments as one valid JSON object."
            return self._told(block, self._remarked(block, text), is_error=True)
        call = ToolCall(block.id, block.name, block.arguments, Caller(agent=self.agent, session=self.conversation.id), trust=trust)
        known = await self.hands.recall(call, block) if block.id in self.from_before else None
        if known is not None:
            text = self._remarked(block, known.text) if known.is_error else known.text
            return self._told(block, text, is_error=known.is_error)
        outcome = await self.hands.take(call)
        if not isinstance(outcome, Done):
            if self.is_leaving and isinstance(outcome.error, Busy):
                raise Left
            self._violations += isinstance(outcome.error, PathViolation)
        is_error = not isinstance(outcome, Done) or outcome.answer.is_error
        text = self._remarked(block, outcome.answer.text) if is_error else outcome.answer.text
        return self._told(block, text, is_error=is_error, metadata=outcome.answer.metadata)

    def _told(self, block: CallBlock, text: str, *, is_error: bool, metadata: JsonObject | None = None) -> "_Result":
        status = "error" if is_error else "success"
        told: dict[str, Json] = {"messageId": self.conversation.message_id, "toolId": block.id, "status": status, "result": text}
        event = told if metadata is None else {**told, "metadata": metadata}
        return _Result(ToolMessage(block.id, block.name, text, is_error=is_error), ("chat:tool-result", event))

    def _remarked(self, block: CallBlock, text: str) -> str:
        """The text of a failure, with a remark when the same call has failed the same way too often."""
        same = f"{block.name}\0{block.arguments}\0{text}"
        self._failures[same] = self._failures.get(same, 0) + 1
        if self._failures[same] < _SAME_FAILURES:
            return text
        return f"{text}\n[This call has failed {self._failures[same]} times in the same way. Do something else.]"
