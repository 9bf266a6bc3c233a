"""Our request in Ollama's words, as the bytes that travel."""

from collections.abc import Mapping

from holdfast.providers.arguments import as_object
from holdfast.providers.protocol import Request
from holdfast.providers.tools import Definition, ToolWriter
from holdfast.vocabulary.json import Json, dump
from holdfast.vocabulary.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from holdfast.vocabulary.wire_names import WireNames


class RequestWriter:
    """Writes requests; what was written before is not written again."""

    def __init__(self) -> None:
        self._tools = ToolWriter(_tool)

    def write(self, request: Request, *, context_tokens: int | None, think: bool, tools: bool) -> tuple[bytes, WireNames]:
        """The body, and the names that its answer is to be read with; `think` and `tools` are what the model can do."""
        written_tools = self._tools.written(request.tools)
        # Without a number it takes a small one, and forgets the rest of a conversation without a word.
        options: dict[str, Json] = {} if context_tokens is None else {"num_ctx": context_tokens}
        if request.max_tokens is not None:
            options["num_predict"] = request.max_tokens
        if request.temperature is not None:
            options["temperature"] = request.temperature
        head: dict[str, Json] = {"model": request.model, "stream": True, "options": options}
        if think and request.thinking is not None:
            head["think"] = _think(request)
        parts = [dump(head)[:-1]]
        if tools and written_tools.json:
            parts += [b',"tools":[', b",".join(written_tools.json), b"]"]
        form = f"ollama{written_tools.names.mark}"
        written = [message.wire.get(form) or _write(message, form, written_tools.names) for message in request.messages]
        if request.system.strip():
            written.insert(0, dump({"role": "system", "content": request.system}))
        parts += [b',"messages":[', b",".join(written), b"]}"]
        return b"".join(parts), written_tools.names


def _tool(tool: Definition, wire_name: str) -> Json:
    function: dict[str, Json] = {"name": wire_name, "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


def _think(request: Request) -> Json:
    """Most models think or do not; this family takes a measure."""
    if request.thinking == "none":
        return False
    return request.thinking if "gpt-oss" in request.model else True


def _write(message: Message, form: str, names: WireNames) -> bytes:
    """The message, written for the first and last time."""
    written = message.wire[form] = _form(message, names)
    return written


def _form(message: Message, names: WireNames) -> bytes:
    match message:
        case SystemMessage() | UserMessage():
            return dump({"role": message.role, "content": message.text})
        case ToolMessage():
            return dump({"role": "tool", "tool_name": names.told(message.name), "tool_call_id": message.call_id, "content": message.text})
        case AssistantMessage():
            told: Mapping[str, Json] = {"role": "assistant", "content": message.text}
            if message.thinking:
                told = {**told, "thinking": message.thinking}
            if not message.calls:
                return dump(told)
            calls = (
                b'{"id":%s,"function":{"name":%s,"arguments":%s}}' % (dump(call.id), dump(names.told(call.name)), as_object(call))
                for call in message.calls
            )
            return dump(told)[:-1] + b',"tool_calls":[' + b",".join(calls) + b"]}"
