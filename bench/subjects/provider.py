"""A turn with a model: what it costs this process beside a raw httpx loop, and how soon the first word is passed on.

The server is another process that answers every request with one tool
call, in either wire format. Only what this process uses is counted.
"""

import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import contextmanager
from statistics import median
from typing import Any, TypeAlias

import httpx

from bench.bench import Bench, require
from bench.measure import Work, interleaved
from bench.row import Row
from holdfast.providers.anthropic.client import Anthropic
from holdfast.providers.openai.client import OpenAI
from holdfast.providers.protocol import Provider, Request
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Text
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import Message, ToolMessage, UserMessage
from holdfast.vocabulary.reply import Reply

Turns: TypeAlias = Callable[[int], Coroutine[Any, Any, None]]

_RESULT = "a line of a file that a tool has read\n" * 30
_SYSTEM = "You are a careful engineer. " * 20
_SCHEMA: dict[str, Json] = {"type": "object", "properties": {"path": {"type": "string", "description": "The file."}}, "required": ["path"]}
_TOOLS: tuple[dict[str, Json], ...] = tuple(
    {"name": f"tool_{number}", "description": "Does one thing, and says so. " * 4, "inputSchema": _SCHEMA} for number in range(12)
)
_FLAT = 1.2
_GOAL = 2.0

SERVER = """
import asyncio, json, itertools
ids = itertools.count()
def event(data, name=""):
    return ((f"event: {name}\\n" if name else "") + f"data: {json.dumps(data)}\\n\\n").encode()
def anthropic():
    message = {"id": "m", "model": "claude", "usage": {"input_tokens": 9, "output_tokens": 1}}
    yield event({"type": "message_start", "message": message}, "message_start")
    yield event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}, "content_block_start")
    for word in ("I ", "will ", "read ", "the ", "file."):
        yield event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}, "content_block_delta")
    yield event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    start = {"type": "tool_use", "id": f"toolu_{next(ids)}", "name": "tool_1", "input": {}}
    yield event({"type": "content_block_start", "index": 1, "content_block": start}, "content_block_start")
    for part in ('{"path"', ': "src/', 'main.py"}'):
        delta = {"type": "input_json_delta", "partial_json": part}
        yield event({"type": "content_block_delta", "index": 1, "delta": delta}, "content_block_delta")
    yield event({"type": "content_block_stop", "index": 1}, "content_block_stop")
    yield event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")
def chunk(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt", "choices": [choice]})
def completions():
    yield chunk({"role": "assistant", "content": ""})
    for word in ("I ", "will ", "read ", "the ", "file."):
        yield chunk({"content": word})
    first = {"index": 0, "id": f"call_{next(ids)}", "type": "function", "function": {"name": "tool_1", "arguments": ""}}
    yield chunk({"tool_calls": [first]})
    for part in ('{"path"', ': "src/', 'main.py"}'):
        yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls")
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    yield event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt", "choices": [], "usage": usage})
    yield b"data: [DONE]\\n\\n"
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\\r\\n")[0])
            await reader.readexactly(length)
            events = anthropic() if b"/messages" in head.partition(b"\\r\\n")[0] else completions()
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


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Both wire formats: the turn, how it grows, and the first word."""
    rounds = 3 if bench.quick else 7
    with _server() as url:
        settings = ProviderSettings(anthropic_api_key="x" * 20, anthropic_base_url=url, openai_api_key="x" * 20, openai_base_url=url)
        claude, gpt = Anthropic(settings), OpenAI(settings)
        sdk_claude, sdk_gpt = _sdk_anthropic(url), _sdk_openai(url)
        limits = httpx.Timeout(60)
        async with httpx.AsyncClient(base_url=url, timeout=limits) as raw:
            subjects: list[tuple[str, Provider, Turns, str, Turns]] = [
                ("Anthropic", claude, _raw_anthropic(raw), "anthropic SDK", sdk_claude),
                ("OpenAI", gpt, _raw_openai(raw), "openai SDK", sdk_gpt),
            ]
            for name, provider, floor, peer, sdk in subjects:
                await _check(provider)
                bench.say(f"  provider: turns of one tool call, {name}")
                contenders: dict[str, Work] = {
                    "ours 10": lambda provider=provider: _turns(provider, 10),
                    "ours 50": lambda provider=provider: _turns(provider, 50),
                    "ours 100": lambda provider=provider: _turns(provider, 100),
                    "raw 50": lambda floor=floor: floor(50),
                    "raw 100": lambda floor=floor: floor(100),
                    "sdk 50": lambda sdk=sdk: sdk(50),
                }
                cpu = await interleaved(contenders, rounds=rounds, times=1, clock=time.process_time)
                each = {what: seconds / int(what.split()[1]) for what, seconds in cpu.items()}
                raw_name = "raw httpx loop"
                yield Row(
                    f"agent turn: {name}, CPU per turn of 50", each["ours 50"], raw_name, each["raw 50"], _GOAL, {peer: each["sdk 50"]}
                )
                yield Row(f"agent turn: {name}, CPU per turn of 100", each["ours 100"], raw_name, each["raw 100"], _GOAL)
                yield Row(f"agent turn: {name}, how 100 grow", each["ours 100"], "ours, per turn of 10", each["ours 10"], _FLAT)
                bench.say(f"  provider: first word, {name}")
                first = await _first_words(provider, raw, name, 20 if bench.quick else 400)
                yield Row(f"first word relayed: {name}", first["ours"], "raw httpx", first["raw"], _GOAL)
        await claude.close()
        await gpt.close()


async def _turns(provider: Provider, count: int) -> None:
    messages: list[Message] = [UserMessage("Read it.")]
    for _ in range(count):
        reply = Reply()
        async for chunk in provider.stream(Request("m", messages, _SYSTEM, _TOOLS)):
            reply.add(chunk)
        messages.append(reply.message)
        messages.extend(ToolMessage(call.id, call.name, _RESULT) for call in reply.runnable)
    require(len(messages) == 1 + 2 * count, "a call for every turn")


async def _first_words(provider: Provider, client: httpx.AsyncClient, name: str, count: int) -> dict[str, float]:
    """The median seconds from the question to the first word of the answer; the rest is read too, and not counted."""
    taken: dict[str, list[float]] = {"ours": [], "raw": []}
    for _ in range(count):
        taken["ours"].append(await _first_word(provider))
        taken["raw"].append(await _raw_first_word(client, name))
    return {who: median(seconds) for who, seconds in taken.items()}


async def _first_word(provider: Provider) -> float:
    started, taken = time.perf_counter(), 0.0
    async for chunk in provider.stream(Request("m", [UserMessage("Read it.")], _SYSTEM, _TOOLS)):
        if not taken and isinstance(chunk, Text):
            taken = time.perf_counter() - started
    require(taken > 0, "a first word")
    return taken


async def _raw_first_word(client: httpx.AsyncClient, name: str) -> float:
    path, tools = ("/v1/messages", _TOOLS) if name == "Anthropic" else ("/chat/completions", _openai_tools())
    started, taken = time.perf_counter(), 0.0
    body = {"model": "m", "stream": True, "system": _SYSTEM, "tools": tools, "messages": [{"role": "user", "content": "Read it."}]}
    async with client.stream("POST", path, content=json.dumps(body)) as response:
        async for line in response.aiter_lines():
            if not taken and line.startswith("data: {") and _has_text(json.loads(line[6:])):
                taken = time.perf_counter() - started
    require(taken > 0, "a first word")
    return taken


def _has_text(event: dict[str, Any]) -> bool:
    choices: list[Any] = event.get("choices") or []
    return bool(event.get("delta", {}).get("text") or (choices and choices[0]["delta"].get("content")))


def _raw_anthropic(client: httpx.AsyncClient) -> Turns:
    tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]} for tool in _TOOLS]

    async def turns(count: int) -> None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Read it."}]
        for _ in range(count):
            body = {"model": "m", "max_tokens": 100, "stream": True, "system": _SYSTEM, "tools": tools, "messages": messages}
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
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": _RESULT}]})

    return turns


def _raw_openai(client: httpx.AsyncClient) -> Turns:
    tools = _openai_tools()

    async def turns(count: int) -> None:
        messages: list[dict[str, Any]] = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": "Read it."}]
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
            messages.append({"role": "tool", "tool_call_id": id, "content": _RESULT})

    return turns


def _openai_tools() -> list[Any]:
    return [
        {"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}}
        for tool in _TOOLS
    ]


def _sdk_anthropic(url: str) -> Turns:
    """The SDK as its documentation uses it."""
    from anthropic import AsyncAnthropic

    client: Any = AsyncAnthropic(api_key="x" * 20, base_url=url, max_retries=0)
    tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]} for tool in _TOOLS]

    async def turns(count: int) -> None:
        messages: list[Any] = [{"role": "user", "content": "Read it."}]
        for _ in range(count):
            text, call, arguments = "", None, ""
            answer = await client.messages.create(model="m", max_tokens=100, system=_SYSTEM, tools=tools, messages=messages, stream=True)
            async for event in answer:
                if event.type == "content_block_start" and event.content_block.type == "tool_use":
                    call = event.content_block
                elif event.type == "content_block_delta":
                    text += getattr(event.delta, "text", "")
                    arguments += getattr(event.delta, "partial_json", "")
            require(call is not None, "a call from the SDK")
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(arguments)}  # pyright: ignore[reportOptionalMemberAccess]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": text}, use]})
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": _RESULT}]})

    return turns


def _sdk_openai(url: str) -> Turns:
    """The SDK as its documentation uses it."""
    from openai import AsyncOpenAI

    client: Any = AsyncOpenAI(api_key="x" * 20, base_url=url, max_retries=0)
    tools = _openai_tools()

    async def turns(count: int) -> None:
        messages: list[Any] = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": "Read it."}]
        for _ in range(count):
            text, id, name, arguments = "", "", "", ""
            async for event in await client.chat.completions.create(model="m", tools=tools, messages=messages, stream=True):
                for choice in event.choices:
                    text += choice.delta.content or ""
                    for call in choice.delta.tool_calls or ():
                        id, name = call.id or id, call.function.name or name
                        arguments += call.function.arguments or ""
            use = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            messages.append({"role": "assistant", "content": text, "tool_calls": [use]})
            messages.append({"role": "tool", "tool_call_id": id, "content": _RESULT})

    return turns


async def _check(provider: Provider) -> None:
    reply = Reply()
    async for chunk in provider.stream(Request("m", [UserMessage("x")], _SYSTEM, _TOOLS)):
        reply.add(chunk)
    require([call.name for call in reply.runnable] == ["tool_1"], "the call that the server makes")


@contextmanager
def _server() -> Generator[str]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()
