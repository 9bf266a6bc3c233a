"""The providers that speak over HTTP, each with its wire format as its documentation writes it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.providers.anthropic.client import Anthropic
from holdfast.providers.anthropic.stream import StreamReader as AnthropicReader
from holdfast.providers.completions.stream import StreamReader as CompletionsReader
from holdfast.providers.copilot.client import Copilot
from holdfast.providers.lines import Events, Lines, Splitter
from holdfast.providers.ollama.client import Ollama
from holdfast.providers.ollama.stream import StreamReader as OllamaReader
from holdfast.providers.openai.client import OpenAI
from holdfast.providers.protocol import Provider
from holdfast.providers.relay import Reader
from holdfast.providers.settings import Patience, ProviderSettings, Retries
from holdfast.vocabulary.wire_names import WireNames
from tests.providers.server import Play, Server

KEY = "sk-test-0123456789abcdef"
QUICK = ProviderSettings(
    anthropic_api_key=KEY,
    openai_api_key=KEY,
    copilot_token=KEY,
    patience=Patience(connect_seconds=2, first_seconds=5, between_seconds=5, look_seconds=2),
    retries=Retries(first_seconds=0.001, longest_seconds=1),
)
# For what is to run into it.
HASTY = replace(QUICK, patience=Patience(connect_seconds=2, first_seconds=0.15, between_seconds=0.15, look_seconds=2))


@dataclass(frozen=True)
class Told:
    """What an answer is to hold, whoever gives it. `calls` are (id, name on the wire, arguments as text)."""

    text: str = ""
    thinking: str = ""
    signature: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    end: str = "done"


@dataclass(frozen=True)
class Speaker:
    """One provider: how it is made, and how it speaks. `say` gives an answer as its events."""

    name: str
    make: Callable[[ProviderSettings], Provider]
    settings: Callable[[ProviderSettings, str], ProviderSettings]
    say: Callable[[Told], list[bytes]]
    reader: Callable[[WireNames], Reader]
    splitter: Callable[[], Splitter]
    garbage: bytes
    path: str
    fixed: dict[str, Play] = field(default_factory=dict[str, Play])

    def to(self, server: Server, settings: ProviderSettings = QUICK) -> Provider:
        """The provider, with the server as its own."""
        server.fixed.update(self.fixed)
        return self.at(server.url, settings)

    def at(self, url: str, settings: ProviderSettings = QUICK) -> Provider:
        """The provider, with its own at an address."""
        return self.make(self.settings(settings, url))

    def play(self, told: Told) -> Play:
        """The answer as a server gives it."""
        return Play(tuple(self.say(told)))


def _event(data: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _pieces(text: str) -> Sequence[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def anthropic_events(told: Told) -> list[bytes]:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
    message: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "usage": usage,
    }
    events = [_event({"type": "message_start", "message": message}, "message_start"), _event({"type": "ping"}, "ping")]
    index = -1

    def block(start: dict[str, object], deltas: list[dict[str, object]]) -> None:
        nonlocal index
        index += 1
        events.append(_event({"type": "content_block_start", "index": index, "content_block": start}, "content_block_start"))
        events.extend(_event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta") for delta in deltas)
        events.append(_event({"type": "content_block_stop", "index": index}, "content_block_stop"))

    if told.thinking:
        thoughts: list[dict[str, object]] = [{"type": "thinking_delta", "thinking": each} for each in _pieces(told.thinking)]
        signed: list[dict[str, object]] = [{"type": "signature_delta", "signature": told.signature}]
        block({"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, *signed])
    if told.text:
        block({"type": "text", "text": ""}, [{"type": "text_delta", "text": each} for each in _pieces(told.text)])
    for id, name, arguments in told.calls:
        start: dict[str, object] = {"type": "tool_use", "id": id, "name": name, "input": {}}
        block(start, [{"type": "input_json_delta", "partial_json": each} for each in ("", *_pieces(arguments))])
    reason = {"length": "max_tokens"}.get(told.end) or ("tool_use" if told.calls else "end_turn")
    delta = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 9}}
    return [*events, _event(delta, "message_delta"), _event({"type": "message_stop"}, "message_stop")]


def completions_events(told: Told) -> list[bytes]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5.5", "choices": [choice]})

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"reasoning_content": each}) for each in _pieces(told.thinking)]
    events += [chunk({"content": each}) for each in _pieces(told.text)]
    for index, (id, name, arguments) in enumerate(told.calls):
        first = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        events.append(chunk({"tool_calls": [first]}))
        events += [chunk({"tool_calls": [{"index": index, "function": {"arguments": each}}]}) for each in _pieces(arguments)]
    reason = {"length": "length"}.get(told.end) or ("tool_calls" if told.calls else "stop")
    usage = {"prompt_tokens": 28, "completion_tokens": 9, "total_tokens": 37, "prompt_tokens_details": {"cached_tokens": 5}}
    events.append(chunk({}, reason))
    events.append(_event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5.5", "choices": [], "usage": usage}))
    return [*events, b"data: [DONE]\n\n"]


def ollama_lines(told: Told) -> list[bytes]:
    def line(message: dict[str, Any], **more: object) -> bytes:
        said = {"model": "llama3.1", "created_at": "2026-11-15T00:00:00Z", "message": {"role": "assistant", **message}, "done": False}
        return (json.dumps({**said, **more}, ensure_ascii=False) + "\n").encode()

    lines = [line({"content": "", "thinking": each}) for each in _pieces(told.thinking)]
    lines += [line({"content": each}) for each in _pieces(told.text)]
    for _, name, arguments in told.calls:
        # The arguments are an object; what is not valid there makes the whole line so.
        whole = line({"content": "", "tool_calls": [{"function": {"name": name, "arguments": "HERE"}}]})
        lines.append(whole.replace(b'"HERE"', arguments.encode()))
    reason = "length" if told.end == "length" else "stop"
    return [*lines, line({"content": ""}, done=True, done_reason=reason, prompt_eval_count=28, eval_count=9)]


SHOWN = Play.json(
    {"model_info": {"general.architecture": "llama", "llama.context_length": 131072}, "capabilities": ["completion", "tools", "thinking"]}
)

ANTHROPIC = Speaker(
    "anthropic",
    Anthropic,
    lambda settings, url: replace(settings, anthropic_base_url=url),
    anthropic_events,
    lambda names: AnthropicReader(names, "m"),
    Events,
    b'data: {"type": "content_block_delta", "index": 0, "del\n\n',
    "/v1/messages",
)
OPENAI = Speaker(
    "openai",
    OpenAI,
    lambda settings, url: replace(settings, openai_base_url=url),
    completions_events,
    lambda names: CompletionsReader("openai", names, "m"),
    Events,
    b'data: {"choices": [{"index": 0, "delta": {"content": }]}\n\n',
    "/chat/completions",
)
COPILOT = Speaker(
    "github-copilot",
    Copilot,
    lambda settings, url: replace(settings, copilot_url=url),
    completions_events,
    lambda names: CompletionsReader("github-copilot", names, "m"),
    Events,
    b'data: {"choices": 7}\n\n',
    "/chat/completions",
)
OLLAMA = Speaker(
    "ollama",
    Ollama,
    lambda settings, url: replace(settings, ollama_host=url),
    ollama_lines,
    lambda names: OllamaReader(names, "m"),
    Lines,
    b'{"message": {"content": "x"\n',
    "/api/chat",
    {"/api/show": SHOWN},
)
SPEAKERS = (ANTHROPIC, OPENAI, COPILOT, OLLAMA)
