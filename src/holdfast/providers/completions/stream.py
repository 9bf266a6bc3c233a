"""The stream of a chat completion in our words."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from holdfast.providers import faults
from holdfast.providers.arguments import flaw_of
from holdfast.vocabulary.chunks import (
    Chunk,
    End,
    EndReason,
    Start,
    Text,
    Thinking,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from holdfast.vocabulary.errors import ProviderError
from holdfast.vocabulary.wire_names import WireNames

_REASONS = {
    "stop": EndReason.DONE,
    "tool_calls": EndReason.CALLS,
    "function_call": EndReason.CALLS,
    "length": EndReason.LENGTH,
    "content_filter": EndReason.REFUSED,
}
_CUT_SHORT = (EndReason.LENGTH, EndReason.REFUSED)
# Where servers put what their models think.
_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_text")


@dataclass
class _Call:
    id: str
    name: str
    given_id: str
    pieces: list[str] = field(default_factory=list[str])

    def end(self, *, is_cut: bool) -> ToolCallEnd:
        text = "".join(self.pieces)
        text = text if text.strip() else "{}"
        return ToolCallEnd(self.id, self.name, text, "the answer ended in the middle of this call" if is_cut else flaw_of(text))


class StreamReader:
    """Reads the events of one answer. Calls end with it: before that nothing says that one is whole."""

    def __init__(self, provider: str, names: WireNames, model: str, secrets: tuple[str, ...] = ()) -> None:
        self.provider = provider
        self.model = model
        self.has_begun = self.is_done = self.is_whole = False
        self._names = names
        self._secrets = secrets
        self._calls: list[_Call] = []
        self._current: dict[int, _Call] = {}
        self._reason = EndReason.OTHER
        self._usage: Usage | None = None

    def read(self, piece: bytes) -> Iterator[Chunk]:
        """What one event says.

        Raises:
            ProviderError: It is an error, or cannot be understood.
        """
        if not piece:
            return
        if piece.startswith(b"[DONE]"):
            if not self.is_whole:
                raise faults.cut(self.provider) if self.has_begun else faults.empty(self.provider)
            self.is_done = True
            return
        try:
            event: Any = orjson.loads(piece)
            yield from self._read(event)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            raise faults.malformed(self.provider, "an event of its stream is not what it should be") from None

    def end(self) -> Iterator[Chunk]:
        """Usage, and why it ended."""
        if self._usage is not None:
            yield self._usage
        yield End(self._reason)

    def _read(self, event: Any) -> Iterator[Chunk]:
        if event.get("error"):
            raise self._error(event["error"])
        choices: list[Any] = event.get("choices") or []
        if choices and not self.has_begun:
            self.has_begun = True
            yield Start(event.get("model") or self.model, event.get("id") or "")
        if event.get("usage"):
            self._usage = _usage(event["usage"])
        for choice in choices:
            if choice.get("index", 0) == 0:
                yield from self._choice(choice)

    def _choice(self, choice: Any) -> Iterator[Chunk]:
        delta: dict[str, Any] = choice.get("delta") or {}
        calls: list[Any] = delta.get("tool_calls") or []
        if self.is_whole:
            if delta.get("content") or calls:
                raise faults.malformed(self.provider, "it goes on after its end")
            return
        for name in _THOUGHTS:
            if isinstance(thought := delta.get(name), str) and thought:
                yield Thinking(thought)
                break
        for said in (delta.get("content"), delta.get("refusal")):
            if isinstance(said, str) and said:
                yield Text(said)
        for number, call in enumerate(calls):
            yield from self._call(call, number)
        reason = choice.get("finish_reason")
        if reason is not None:
            self._reason = _REASONS.get(reason, EndReason.OTHER)
            self.is_whole = True
            for call in self._calls:
                yield call.end(is_cut=call is self._calls[-1] and self._reason in _CUT_SHORT)

    def _call(self, told: Any, number: int) -> Iterator[Chunk]:
        function: Any = told.get("function") or {}
        index: int = told.get("index", number)
        call = self._current.get(index)
        given_id = told.get("id") or ""
        # Some servers number every call 0, and tell them apart by their ids alone.
        if call is None or (given_id and given_id != call.given_id):
            call = self._begin(index, given_id, function.get("name"))
            yield ToolCallStart(call.id, call.name)
        if piece := function.get("arguments"):
            text = piece if isinstance(piece, str) else orjson.dumps(piece).decode()
            call.pieces.append(text)
            yield ToolCallDelta(call.id, text)

    def _begin(self, index: int, given_id: object, name: object) -> _Call:
        if not isinstance(name, str) or not name or not isinstance(given_id, str):
            raise ValueError
        if given_id and any(given_id == other.given_id for other in self._calls):
            raise faults.malformed(self.provider, "two calls in it have the same id")
        call = _Call(given_id or f"call_{uuid4().hex}", self._names.from_wire(name), given_id)
        self._calls.append(call)
        self._current[index] = call
        return call

    def _error(self, error: Any) -> ProviderError:
        if isinstance(error, str):
            return faults.by_status(self.provider, 500, error, secrets=self._secrets)
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else 429 if error.get("type") == "rate_limit_error" else 500
        return faults.by_status(self.provider, status, str(error.get("message") or ""), secrets=self._secrets)


def _usage(counted: Any) -> Usage:
    details: dict[str, Any] = counted.get("prompt_tokens_details") or {}
    cached, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    return Usage(counted.get("prompt_tokens") or 0, counted.get("completion_tokens") or 0, cached, written)
