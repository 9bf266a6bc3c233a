"""Our request in Anthropic's words, as the bytes that travel."""

import re
from collections.abc import Iterator
from itertools import groupby, islice
from operator import eq

from holdfast.providers.arguments import as_object
from holdfast.providers.protocol import Request
from holdfast.providers.tools import Definition, ToolWriter, WrittenTools, called_in
from holdfast.vocabulary.json import Json, JsonObject, dump
from holdfast.vocabulary.messages import (
    AssistantMessage,
    Block,
    CallBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolMessage,
    UserMessage,
)
from holdfast.vocabulary.wire_names import WireNames

_CACHE = b',"cache_control":{"type":"ephemeral"}'
_USER, _ASSISTANT, _END = b'{"role":"user","content":[', b'{"role":"assistant","content":[', b"]}"
_ROLE_AT = len(b'{"role":"')
_MAX_TOKENS = 16_384
_MAX_TOKENS_OF_OLD = 4_096
# Models that are told how many tokens they may think; those after them decide that by themselves.
_WITH_BUDGET = re.compile(r"claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)")
_BUDGETS = {"low": 2_048, "medium": 6_144, "high": 12_288}


class RequestWriter:
    """Writes requests; what was written before is not written again."""

    def __init__(self) -> None:
        self._tools = ToolWriter(_tool)

    def write(self, request: Request) -> tuple[bytes, WireNames]:
        """The body, and the names that its answer is to be read with."""
        tools = self._written(request)
        head: dict[str, Json] = {"model": request.model, "max_tokens": _max_tokens(request), "stream": True}
        if request.temperature is not None:
            head["temperature"] = request.temperature
        head |= _thinking(request)
        if tools.json and not request.tools:
            head["tool_choice"] = {"type": "none"}
        parts = [dump(head)[:-1]]
        if system := _system(request):
            parts += [b',"system":[', _cached(dump({"type": "text", "text": system})), b"]"]
        if tools.json:
            parts += [b',"tools":[', b",".join([*tools.json[:-1], _cached(tools.json[-1])]), b"]"]
        parts += [b',"messages":[', _messages(request, tools.names), b"]}"]
        return b"".join(parts), tools.names

    def _written(self, request: Request) -> WrittenTools:
        """Its tools. A conversation that has calls in it must tell of some: then those are told that were called, and none may be."""
        if request.tools or not (called := called_in(request.messages)):
            return self._tools.written(request.tools)
        schema: JsonObject = {"type": "object"}
        return WrittenTools(tuple({"name": name, "description": "No longer offered.", "inputSchema": schema} for name in called), _tool)


def _tool(tool: Definition, wire_name: str) -> Json:
    return {"name": wire_name, "description": tool["description"], "input_schema": tool["inputSchema"]}


def _max_tokens(request: Request) -> int:
    return request.max_tokens or (_MAX_TOKENS_OF_OLD if "claude-3-" in request.model else _MAX_TOKENS)


def _thinking(request: Request) -> dict[str, Json]:
    match request.thinking:
        case None:
            return {}
        case "none":
            return {"thinking": {"type": "disabled"}}
        case effort if _WITH_BUDGET.match(request.model):
            most = max(_max_tokens(request) - 1_024, 1_024)
            return {"thinking": {"type": "enabled", "budget_tokens": min(_BUDGETS[effort], most)}}
        case effort:
            return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _system(request: Request) -> str:
    every = [request.system, *[message.text for message in request.messages if message.__class__ is SystemMessage]]
    return "\n\n".join(text for text in every if text.strip())


def _messages(request: Request, names: WireNames) -> bytes:
    """Neighbours of one role are one message; the last block of all is where the cache should reach to."""
    form = f"anthropic{names.mark}"
    written = [message.wire.get(form) or _written(message, form, names) for message in request.messages]
    if b"" in written:
        written = [each for each in written if each]
    # By the first letter of the role.
    roles = [each[_ROLE_AT] for each in written]
    if any(map(eq, roles, islice(roles, 1, None))):
        written = _joined(written)
    if written and written[-1].startswith(_USER):
        written[-1] = _cached(written[-1].removesuffix(_END)) + _END
    return b",".join(written)


def _written(message: Message, form: str, names: WireNames) -> bytes:
    """The message, b"" when it has nothing in it, or stands elsewhere; what is written is kept with it."""
    blocks = b",".join(_each_block(message, names))
    written = message.wire[form] = (_ASSISTANT if message.role == "assistant" else _USER) + blocks + _END if blocks else b""
    return written


def _joined(written: list[bytes]) -> list[bytes]:
    joined: list[bytes] = []
    for role, several in groupby(written, lambda each: _ASSISTANT if each.startswith(_ASSISTANT) else _USER):
        joined.append(role + b",".join(each[len(role) : -len(_END)] for each in several) + _END)
    return joined


def _cached(block: bytes) -> bytes:
    """The block, whose last byte closes it, with the hint that all up to here may be kept."""
    return block[:-1] + _CACHE + b"}"


def _each_block(message: Message, names: WireNames) -> Iterator[bytes]:
    match message:
        case AssistantMessage():
            yield from (written for block in message.blocks if (written := _block(block, names)))
        case ToolMessage():
            told: dict[str, Json] = {"type": "tool_result", "tool_use_id": message.call_id}
            if message.text:
                told["content"] = message.text
            yield dump({**told, "is_error": True} if message.is_error else told)
        case SystemMessage():
            return
        case UserMessage():
            yield dump({"type": "text", "text": message.text if message.text.strip() else "(an empty message)"})


def _block(block: Block, names: WireNames) -> bytes:
    match block:
        case TextBlock():
            # It takes no text that has nothing in it.
            return dump({"type": "text", "text": block.text}) if block.text.strip() else b""
        case ThinkingBlock(is_redacted=True):
            return dump({"type": "redacted_thinking", "data": block.signature})
        case ThinkingBlock():
            # Thoughts that it has not signed are another model's.
            return dump({"type": "thinking", "thinking": block.text, "signature": block.signature}) if block.signature else b""
        case CallBlock():
            head = dump({"type": "tool_use", "id": block.id, "name": names.told(block.name)})
            return head[:-1] + b',"input":' + as_object(block) + b"}"
