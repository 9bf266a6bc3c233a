"""Our request as a chat completion, as the bytes that travel."""

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

    def write(self, request: Request, more: Mapping[str, Json]) -> tuple[bytes, WireNames]:
        """The body, and the names that its answer is to be read with; `more` is what one server takes and another does not."""
        tools = self._tools.written(request.tools)
        head: dict[str, Json] = {"model": request.model, "stream": True, "stream_options": {"include_usage": True}, **more}
        if request.temperature is not None:
            head["temperature"] = request.temperature
        if request.thinking is not None:
            head["reasoning_effort"] = request.thinking
        parts = [dump(head)[:-1]]
        if tools.json:
            parts += [b',"tools":[', b",".join(tools.json), b"]"]
        form = f"completions{tools.names.mark}"
        written = [message.wire.get(form) or _write(message, form, tools.names) for message in request.messages]
        if request.system.strip():
            written.insert(0, dump({"role": "system", "content": request.system}))
        parts += [b',"messages":[', b",".join(written), b"]}"]
        return b"".join(parts), tools.names


def _tool(tool: Definition, wire_name: str) -> Json:
    function: dict[str, Json] = {"name": wire_name, "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


def _write(message: Message, form: str, names: WireNames) -> bytes:
    """The message, written for the first and last time."""
    written = message.wire[form] = dump(_form(message, names))
    return written


def _form(message: Message, names: WireNames) -> dict[str, Json]:
    match message:
        case SystemMessage() | UserMessage():
            return {"role": message.role, "content": message.text}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case AssistantMessage():
            told: dict[str, Json] = {"role": "assistant", "content": message.text or None}
            if not message.calls:
                return {**told, "content": message.text}
            calls: list[Json] = [
                {"id": call.id, "type": "function", "function": {"name": names.told(call.name), "arguments": as_object(call).decode()}}
                for call in message.calls
            ]
            return {**told, "tool_calls": calls}
