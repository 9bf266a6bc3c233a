"""A turn with a model: what it costs this process beside a raw httpx loop, and how soon the first word is passed on.

The server is another process that answers every request with one tool
call, in either wire format. Only what this process uses is counted.
"""

import json
import time
from collections.abc import AsyncGenerator
from statistics import median
from typing import Any

import httpx

from bench.agent_frameworks import frameworks
from bench.bench import Bench, WrongAnswer, require
from bench.measure import Work, interleaved
from bench.model_server import RESULT, SYSTEM, TOOLS, Turns, model_server, openai_tools, raw_anthropic, raw_openai
from bench.row import Row
from holdfast.providers.anthropic.client import Anthropic
from holdfast.providers.openai.client import OpenAI
from holdfast.providers.protocol import Provider, Request
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Text
from holdfast.vocabulary.messages import Message, ToolMessage, UserMessage
from holdfast.vocabulary.reply import Reply

_FLAT = 1.2
_GOAL = 2.0


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Both wire formats: the turn, how it grows, and the first word."""
    rounds = 3 if bench.quick else 15  # ten turns are over soon, and what they take moves about
    with model_server() as url:
        settings = ProviderSettings(anthropic_api_key="x" * 20, anthropic_base_url=url, openai_api_key="x" * 20, openai_base_url=url)
        claude, gpt = Anthropic(settings), OpenAI(settings)
        sdk_claude, sdk_gpt = _sdk_anthropic(url), _sdk_openai(url)
        limits = httpx.Timeout(60)
        async with httpx.AsyncClient(base_url=url, timeout=limits) as raw:
            subjects: list[tuple[str, Provider, Turns, str, Turns]] = [
                ("Anthropic", claude, raw_anthropic(raw), "anthropic SDK", sdk_claude),
                ("OpenAI", gpt, raw_openai(raw), "openai SDK", sdk_gpt),
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
                others, note = await frameworks(bench, url, name)
                peers = {peer: each["sdk 50"], **others}
                yield Row(f"agent turn: {name}, CPU per turn of 50", each["ours 50"], raw_name, each["raw 50"], _GOAL, peers, note=note)
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
        async for chunk in provider.stream(Request("m", messages, SYSTEM, TOOLS)):
            reply.add(chunk)
        messages.append(reply.message)
        messages.extend(ToolMessage(call.id, call.name, RESULT) for call in reply.runnable)
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
    async for chunk in provider.stream(Request("m", [UserMessage("Read it.")], SYSTEM, TOOLS)):
        if not taken and isinstance(chunk, Text):
            taken = time.perf_counter() - started
    require(taken > 0, "a first word")
    return taken


async def _raw_first_word(client: httpx.AsyncClient, name: str) -> float:
    path, tools = ("/v1/messages", TOOLS) if name == "Anthropic" else ("/chat/completions", openai_tools())
    started, taken = time.perf_counter(), 0.0
    body = {"model": "m", "stream": True, "system": SYSTEM, "tools": tools, "messages": [{"role": "user", "content": "Read it."}]}
    async with client.stream("POST", path, content=json.dumps(body)) as response:
        async for line in response.aiter_lines():
            if not taken and line.startswith("data: {") and _has_text(json.loads(line[6:])):
                taken = time.perf_counter() - started
    require(taken > 0, "a first word")
    return taken


def _has_text(event: dict[str, Any]) -> bool:
    choices: list[Any] = event.get("choices") or []
    return bool(event.get("delta", {}).get("text") or (choices and choices[0]["delta"].get("content")))


def _sdk_anthropic(url: str) -> Turns:
    """The SDK as its documentation uses it."""
    from anthropic import AsyncAnthropic

    client: Any = AsyncAnthropic(api_key="x" * 20, base_url=url, max_retries=0)
    tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]} for tool in TOOLS]

    async def turns(count: int) -> None:
        messages: list[Any] = [{"role": "user", "content": "Read it."}]
        for _ in range(count):
            text, call, arguments = "", None, ""
            answer = await client.messages.create(model="m", max_tokens=100, system=SYSTEM, tools=tools, messages=messages, stream=True)
            async for event in answer:
                if event.type == "content_block_start" and event.content_block.type == "tool_use":
                    call = event.content_block
                elif event.type == "content_block_delta":
                    text += getattr(event.delta, "text", "")
                    arguments += getattr(event.delta, "partial_json", "")
            if call is None:
                raise WrongAnswer("no call from the SDK")
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(arguments)}
            messages.append({"role": "assistant", "content": [{"type": "text", "text": text}, use]})
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": RESULT}]})

    return turns


def _sdk_openai(url: str) -> Turns:
    """The SDK as its documentation uses it."""
    from openai import AsyncOpenAI

    client: Any = AsyncOpenAI(api_key="x" * 20, base_url=url, max_retries=0)
    tools = openai_tools()

    async def turns(count: int) -> None:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Read it."}]
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
            messages.append({"role": "tool", "tool_call_id": id, "content": RESULT})

    return turns


async def _check(provider: Provider) -> None:
    reply = Reply()
    async for chunk in provider.stream(Request("m", [UserMessage("x")], SYSTEM, TOOLS)):
        reply.add(chunk)
    require([call.name for call in reply.runnable] == ["tool_1"], "the call that the server makes")
