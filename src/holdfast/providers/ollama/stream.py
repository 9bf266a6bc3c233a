"""Ollama's stream in our words: one JSON object per line, calls whole and already parsed."""

from collections.abc import Iterator
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
from holdfast.vocabulary.wire_names import WireNames

_REASONS = {"stop": EndReason.DONE, "length": EndReason.LENGTH}


class StreamReader:
    """Reads the lines of one answer."""

    provider = "ollama"

    def __init__(self, names: WireNames, model: str, secrets: tuple[str, ...] = ()) -> None:
        self.model = model
        self.has_begun = self.is_done = self.is_whole = False
        self._names = names
        self._secrets = secrets
        self._ids: set[str] = set()
        self._reason = EndReason.OTHER
        self._usage: Usage | None = None

    def read(self, piece: bytes) -> Iterator[Chunk]:
        """What one line says.

        Raises:
            ProviderError: It is an error, or cannot be understood.
        """
        try:
            line: Any = orjson.loads(piece)
            if line.get("error"):
                raise faults.by_status(self.provider, 500, str(line["error"]), secrets=self._secrets)
            yield from self._read(line, piece)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise faults.malformed(self.provider, "a line of its stream is not what it should be") from None

    def end(self) -> Iterator[Chunk]:
        """Usage, and why it ended."""
        if self._usage is not None:
            yield self._usage
        yield End(EndReason.CALLS if self._ids and self._reason is EndReason.DONE else self._reason)

    def _read(self, line: Any, piece: bytes) -> Iterator[Chunk]:
        message: dict[str, Any] = line.get("message") or {}
        if not self.has_begun:
            self.has_begun = True
            yield Start(line.get("model") or self.model)
        if thought := message.get("thinking"):
            yield Thinking(str(thought))
        if said := message.get("content"):
            yield Text(str(said))
        calls: list[Any] = message.get("tool_calls") or []
        # A parsed object no longer shows that a key was there twice.
        flaw = _ambiguity(piece) if calls else ""
        for call in calls:
            yield from self._call(call, flaw)
        if line.get("done"):
            self._reason = _REASONS.get(line.get("done_reason") or "stop", EndReason.OTHER)
            self._usage = Usage(line.get("prompt_eval_count") or 0, line.get("eval_count") or 0)
            self.is_done = self.is_whole = True

    def _call(self, told: Any, flaw: str) -> Iterator[Chunk]:
        function = told["function"]
        name, arguments = self._names.from_wire(function["name"]), function.get("arguments")
        # It has no ids, or only newer ones have: those are taken, but never twice.
        id = told.get("id") or ""
        if not isinstance(id, str) or not id or id in self._ids:
            id = f"call_{uuid4().hex}"
        self._ids.add(id)
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments if arguments is not None else {}).decode()
        yield ToolCallStart(id, name)
        yield ToolCallDelta(id, text)
        yield ToolCallEnd(id, name, text, flaw or flaw_of(text))


def _ambiguity(piece: bytes) -> str:
    flaw = flaw_of(piece.decode())
    return flaw if "more than once" in flaw else ""
