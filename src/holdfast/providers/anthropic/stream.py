"""Anthropic's stream in our words."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
    "end_turn": EndReason.DONE,
    "stop_sequence": EndReason.DONE,
    "tool_use": EndReason.CALLS,
    "max_tokens": EndReason.LENGTH,
    "model_context_window_exceeded": EndReason.LENGTH,
    "refusal": EndReason.REFUSED,
}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@dataclass
class _Call:
    id: str
    name: str
    given: str = ""
    pieces: list[str] = field(default_factory=list[str])

    def end(self, *, is_cut: bool = False) -> ToolCallEnd:
        text = "".join(self.pieces) or self.given or "{}"
        return ToolCallEnd(self.id, self.name, text, "the answer ended in the middle of this call" if is_cut else flaw_of(text))


class StreamReader:
    """Reads the events of one answer.

    The end of the last call is held back until the answer says why it
    ends: a call that a limit of tokens cut looks whole.
    """

    provider = "anthropic"

    def __init__(self, names: WireNames, model: str, secrets: tuple[str, ...] = ()) -> None:
        self.model = model
        self.has_begun = self.is_done = self.is_whole = False
        self._names = names
        self._secrets = secrets
        self._blocks: dict[int, _Call | str] = {}
        self._ids: set[str] = set()
        self._open: int | None = None
        self._held: _Call | None = None
        self._reason: str | None = None
        self._usage: dict[str, int] = {}

    def read(self, piece: bytes) -> Iterator[Chunk]:
        """What one event says.

        Raises:
            ProviderError: It is an error, or cannot be understood.
        """
        if not piece:
            return
        try:
            event: Any = orjson.loads(piece)
            yield from self._read(event)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise faults.malformed(self.provider, "an event of its stream is not what it should be") from None

    def end(self) -> Iterator[Chunk]:
        """Usage, and why it ended."""
        counted = self._usage
        cached, written = counted.get("cache_read_input_tokens", 0), counted.get("cache_creation_input_tokens", 0)
        if counted:
            yield Usage(counted.get("input_tokens", 0) + cached + written, counted.get("output_tokens", 0), cached, written)
        yield End(_REASONS.get(self._reason or "", EndReason.OTHER))

    def _read(self, event: Any) -> Iterator[Chunk]:
        match event["type"]:
            case "content_block_delta":
                yield from self._delta(event["index"], event["delta"])
            case "content_block_start":
                yield from self._begin(event["index"], event["content_block"])
            case "content_block_stop":
                self._stop(event["index"])
            case "message_start":
                yield self._start(event["message"])
            case "message_delta":
                yield from self._message_delta(event)
            case "message_stop":
                if self._reason is None or self._open is not None:
                    raise faults.malformed(self.provider, "it ends without saying why")
                self.is_done = self.is_whole = True
            case "error":
                raise self._error(event["error"])
            case _:
                return

    def _start(self, message: Any) -> Start:
        if self.has_begun:
            raise faults.malformed(self.provider, "it begins twice")
        self.has_begun = True
        self._count(message.get("usage"))
        return Start(message.get("model") or self.model, message.get("id") or "")

    def _begin(self, index: int, block: Any) -> Iterator[Chunk]:
        if not self.has_begun or self._reason is not None or index in self._blocks or self._open is not None:
            raise faults.malformed(self.provider, "a block of it begins where none can")
        yield from self._release(is_cut=False)
        kind: str = block["type"]
        self._blocks[index] = kind
        self._open = index
        match kind:
            case "text" if block.get("text"):
                yield Text(block["text"])
            case "thinking" if block.get("thinking"):
                yield Thinking(block["thinking"])
            case "redacted_thinking":
                yield Thinking("", block["data"], is_redacted=True)
            case "tool_use":
                given = block.get("input")
                call = _Call(_some(block["id"]), self._names.from_wire(_some(block["name"])), orjson.dumps(given).decode() if given else "")
                if call.id in self._ids:
                    raise faults.malformed(self.provider, "two calls in it have the same id")
                self._ids.add(call.id)
                self._blocks[index] = call
                yield ToolCallStart(call.id, call.name)
            case _:
                return

    def _delta(self, index: int, delta: Any) -> Iterator[Chunk]:
        if index != self._open:
            raise faults.malformed(self.provider, "a piece of it belongs to no block")
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta" if delta["text"]:
                yield Text(_some(delta["text"]))
            case "thinking_delta" if delta["thinking"]:
                yield Thinking(_some(delta["thinking"]))
            case "signature_delta" if delta["signature"]:
                yield Thinking("", _some(delta["signature"]))
            case "input_json_delta" if isinstance(block, _Call) and delta["partial_json"]:
                block.pieces.append(_some(delta["partial_json"]))
                yield ToolCallDelta(block.id, delta["partial_json"])
            case _:
                return

    def _stop(self, index: int) -> None:
        if index != self._open:
            raise faults.malformed(self.provider, "a block of it ends that has not begun")
        self._open = None
        block = self._blocks[index]
        if isinstance(block, _Call):
            self._held = block

    def _message_delta(self, event: Any) -> Iterator[Chunk]:
        self._count(event.get("usage"))
        reason = event["delta"].get("stop_reason")
        if reason is not None and self._reason is None:
            if self._open is not None:
                raise faults.malformed(self.provider, "it ends in the middle of a block")
            self._reason = str(reason)
            yield from self._release(is_cut=_REASONS.get(self._reason) in (EndReason.LENGTH, EndReason.REFUSED))

    def _release(self, *, is_cut: bool) -> Iterator[Chunk]:
        if self._held is not None:
            held, self._held = self._held, None
            yield held.end(is_cut=is_cut)

    def _count(self, usage: Any) -> None:
        counted: dict[str, object] = usage or {}
        self._usage |= {name: number for name, number in counted.items() if isinstance(number, int)}

    def _error(self, error: Any) -> ProviderError:
        status = _STATUSES.get(error.get("type"), 500)
        return faults.by_status(self.provider, status, str(error.get("message") or error.get("type") or ""), secrets=self._secrets)


def _some(text: object) -> str:
    if not isinstance(text, str) or not text:
        raise ValueError
    return text
