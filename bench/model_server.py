"""A model that always calls one tool, in either wire format, as a process of its own; and the least that one can do with it.

A model named `until-50-read` calls the tool `read` until it has had fifty
results, and then says something; any other calls `tool_1` for ever.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

import httpx

from holdfast.vocabulary.json import Json

Turns: TypeAlias = Callable[[int], Coroutine[Any, Any, None]]

RESULT = "a line of a file that a tool has read\n" * 30
SYSTEM = "You are a careful engineer. " * 20
_SCHEMA: dict[str, Json] = {"type": "object", "properties": {"path": {"type": "string", "description": "The file."}}, "required": ["path"]}
TOOLS: tuple[dict[str, Json], ...] = tuple(
    {"name": f"tool_{number}", "description": "Does one thing, and says so. " * 4, "inputSchema": _SCHEMA} for number in range(12)
)

SERVER = """
import asyncio, json, itertools, re
ids = itertools.count()
def event(data, name=""):
    return ((f"event: {name}\\n" if name else "") + f"data: {json.dumps(data)}\\n\\n").encode()
def anthropic(name, calls):
    message = {"id": "m", "model": "claude", "usage": {"input_tokens": 9, "output_tokens": 1}}
    yield event({"type": "message_start", "message": message}, "message_start")
    yield event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}, "content_block_start")
    for word in ("I ", "will ", "read ", "the ", "file."):
        yield event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}, "content_block_delta")
    yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    if calls:
        start = {"type": "tool_use", "id": f"toolu_{next(ids)}", "name": name, "input": {}}
        yield event({"type": "content_block_start", "index": 1, "content_block": start}, "content_block_start")
        for part in ('{"path"', ': "/src/', 'main.py"}'):
            delta = {"type": "input_json_delta", "partial_json": part}
            yield event({"type": "content_block_delta", "index": 1, "delta": delta}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": 1}, "content_block_stop")
    reason = "tool_use" if calls else "end_turn"
    yield event({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")
def chunk(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt", "choices": [choice]})
def completions(name, calls):
    yield chunk({"role": "assistant", "content": ""})
    for word in ("I ", "will ", "read ", "the ", "file."):
        yield chunk({"content": word})
    if calls:
        first = {"index": 0, "id": f"call_{next(ids)}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [first]})
        for part in ('{"path"', ': "/src/', 'main.py"}'):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    yield event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt", "choices": [], "usage": usage})
    yield b"data: [DONE]\\n\\n"
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\\r\\n")[0])
            body = await reader.readexactly(length)
            until = re.search(rb'"until-(\\d+)-(\\w+)"', body)
            results = body.count(b'"tool_result"') + len(re.findall(rb'"role": ?"tool"', body)) if until else 0
            name, calls = (until[2].decode(), results < int(until[1])) if until else ("tool_1", True)
            speak = anthropic if b"/messages" in head.partition(b"\\r\\n")[0] else completions
            events = speak(name, calls)
            writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n")
            writer.write(b"".join(b"%x\\r\\n%s\\r\\n" % (len(each), each) for each in events) + b"0\\r\\n\\r\\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def model_server() -> Generator[str]:
    """Its address, for as long as the block lasts."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def raw_anthropic(client: httpx.AsyncClient) -> Turns:
    """A loop of turns with nothing but httpx."""
    tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]} for tool in TOOLS]

    async def turns(count: int) -> None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Read it."}]
        for _ in range(count):
            body = {"model": "m", "max_tokens": 100, "stream": True, "system": SYSTEM, "tools": tools, "messages": messages}
            text, arguments = "", ""
            call: dict[str, Any] = {}
            async with client.stream("POST", "/v1/messages", content=json.dumps(body)) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: "):
                        continue
                    event: dict[str, Any] = json.loads(line[6:])
                    if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
                        call = event["content_block"]
                    elif event["type"] == "content_block_delta":
                        text += event["delta"].get("text", "")
                        arguments += event["delta"].get("partial_json", "")
            use = {**call, "input": json.loads(arguments)}
            messages.append({"role": "assistant", "content": [{"type": "text", "text": text}, use]})
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": RESULT}]})

    return turns


def raw_openai(client: httpx.AsyncClient) -> Turns:
    """The same in the other format."""
    tools = openai_tools()

    async def turns(count: int) -> None:
        messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Read it."}]
        for _ in range(count):
            body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "tools": tools, "messages": messages}
            text, id, name, arguments = "", "", "", ""
            async with client.stream("POST", "/chat/completions", content=json.dumps(body)) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: {"):
                        continue
                    for choice in json.loads(line[6:])["choices"]:
                        delta: dict[str, Any] = choice["delta"]
                        text += delta.get("content") or ""
                        for call in delta.get("tool_calls", ()):
                            id, name = call.get("id") or id, call["function"].get("name") or name
                            arguments += call["function"].get("arguments", "")
            json.loads(arguments)
            use = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            messages.append({"role": "assistant", "content": text, "tool_calls": [use]})
            messages.append({"role": "tool", "tool_call_id": id, "content": RESULT})

    return turns


def openai_tools() -> list[Any]:
    """The tools as OpenAI takes them."""
    return [
        {"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}}
        for tool in TOOLS
    ]
