"""One answer of a script, played."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from holdfast.providers import faults
from holdfast.providers.arguments import flaw_of
from holdfast.vocabulary.chunks import (
    Chunk,
    End,
    EndReason,
    Fault,
    Start,
    Text,
    Thinking,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from holdfast.vocabulary.errors import ProviderError
from holdfast.vocabulary.json import dump
from holdfast.vocabulary.messages import AssistantMessage, Message, ToolMessage, UserMessage

from .script import Answer, Break, Call, Count, Delay, Say, Script
from .template import Unfinished, filled, finder

_PIECES = re.compile(r"\s*\S+\s?|\s+")
_PROVIDER = "scripted"


@dataclass(frozen=True)
class Scene:
    """Where a conversation stands, as a script counts it."""

    user: str
    turn: int
    answer: int
    answers_in_all: int
    result: str | None
    size: int

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "Scene":
        """Read from the messages alone, so that a session that goes on after a restart goes on in the script too."""
        user, turn, answer, answers, size = "", 0, 0, 0, 0
        result: str | None = None
        for message in messages:
            size += len(message.text)
            match message:
                case UserMessage(is_note=True):
                    # The answer before it was cut off, and is given again.
                    answer -= 1
                case UserMessage():
                    user, turn, answer = message.text, turn + 1, 0
                case AssistantMessage():
                    answer, answers = answer + 1, answers + 1
                case ToolMessage():
                    result = message.text
                case _:
                    pass
        return cls(user, turn, answer, answers, result, size)


def answer_for(script: Script, scene: Scene) -> Answer | ProviderError:
    """What the script says here, or that it says nothing."""
    turn = next((turn for turn in script.turns if turn.fits(scene.user, scene.turn)), None)
    if turn is None:
        return _silent(f"{script.name} has no turn for message {scene.turn} of the person, '{scene.user[:60]}'")
    if scene.answer >= len(turn.answers):
        return _silent(f"{script.name}, line {turn.line}: the turn has {len(turn.answers)} answers, and one more is wanted")
    return turn.answers[scene.answer]


async def play(script: Script, scene: Scene, *, attempt: int) -> AsyncGenerator[Chunk]:
    """The chunks of an answer; `attempt` counts from 0 how often it was asked for."""
    answer = answer_for(script, scene)
    if isinstance(answer, ProviderError):
        yield Fault(answer)
        return
    started = False
    counted: Count | None = None
    said, calls = 0, 0
    find = finder(scene.user, scene.result)
    for step in answer.steps:
        if isinstance(step, Break):
            if step.times is None or attempt < step.times:
                yield Fault(_error(step))
                return
            continue
        if isinstance(step, Delay):
            await asyncio.sleep(step.seconds)
            continue
        if not started:
            started = True
            yield Start(script.name)
        if isinstance(step, Count):
            counted = step
            continue
        try:
            if isinstance(step, Say):
                text = str(filled(step.text, find))
                said += len(text)
                async for piece in _spoken(step, text, script.pace):
                    yield piece
                continue
            calls += 1
            arguments = step.raw if step.raw is not None else dump(filled(step.arguments, find)).decode()
        except Unfinished as problem:
            yield Fault(_silent(f"{script.name}, line {step.line}: {problem}"))
            return
        said += len(arguments)
        for chunk in _called(step, f"call_{scene.turn}_{scene.answers_in_all + 1}_{calls}", arguments):
            yield chunk
        if step.is_cut:
            return
    if not started:
        yield Start(script.name)
    yield Usage(counted.input_tokens, counted.output_tokens) if counted else Usage(scene.size // 4 + 1, said // 4 + 1)
    yield End(answer.reason or (EndReason.CALLS if calls else EndReason.DONE))


async def _spoken(step: Say, text: str, pace: float) -> AsyncGenerator[Chunk]:
    for piece in _PIECES.findall(text):
        yield Thinking(piece) if step.is_thought else Text(piece)
        if pace:
            await asyncio.sleep(pace)
    if step.signature:
        yield Thinking("", step.signature)


def _called(step: Call, id: str, arguments: str) -> list[Chunk]:
    start = ToolCallStart(id, step.tool)
    if step.is_cut:
        return [start, ToolCallDelta(id, arguments[: len(arguments) // 2]), Fault(faults.cut(_PROVIDER))]
    return [start, ToolCallDelta(id, arguments), ToolCallEnd(id, step.tool, arguments, flaw_of(arguments))]


def _error(step: Break) -> ProviderError:
    if step.status is not None:
        headers = {} if step.retry_after is None else {"retry-after": f"{step.retry_after:.9f}"}
        return faults.by_status(_PROVIDER, step.status, step.message or "the script says so", headers=headers)
    match step.kind:
        case "unreachable":
            return faults.unreachable(_PROVIDER, "the script", step.message)
        case "timed_out":
            return faults.timed_out(_PROVIDER, 0, before="the script")
        case "empty":
            return faults.empty(_PROVIDER)
        case "malformed":
            return faults.malformed(_PROVIDER, step.message or "the script says so")
        case _:
            return faults.cut(_PROVIDER)


def _silent(why: str) -> ProviderError:
    return ProviderError.of(why, provider=_PROVIDER, kind="script")
