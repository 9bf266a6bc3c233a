"""The peers: frameworks for agents, installed for the run into a folder of their own, and asked to do the same turns.

Each runs in a process of its own, and tells what that used of the processor.
"""

import asyncio
import os
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median

from .bench import Bench

_PACKAGES = ("pydantic-ai-slim[anthropic,openai]==2.66.0", "openai-agents==0.24.0")
_INSTALL_SECONDS = 300
_TURN_SECONDS = 300
_TURNS = 50

_COMMON = """
import asyncio, json, sys, time
url, kind, count, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
model, result, system = f"until-{count}-tool_1", "a line of a file that a tool has read\\n" * 30, "You are a careful engineer. " * 20
schema = {"type": "object", "properties": {"path": {"type": "string", "description": "The file."}}, "required": ["path"]}
ran = 0
async def main():
    await turns()
    for _ in range(rounds):
        before, began = ran, time.process_time()
        await turns()
        assert ran - before == count, ran - before
        print((time.process_time() - began) / count, flush=True)
"""
_PYDANTIC_AI = (
    _COMMON
    + """
from pydantic_ai import Agent, Tool
from pydantic_ai.usage import UsageLimits
if kind == "Anthropic":
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    used = AnthropicModel(model, provider=AnthropicProvider(api_key="x" * 20, base_url=url))
else:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    used = OpenAIChatModel(model, provider=OpenAIProvider(api_key="x" * 20, base_url=url))
async def run(path):
    global ran
    ran += 1
    return result
said = "Does one thing, and says so. " * 4
agent = Agent(used, instructions=system, tools=[Tool.from_schema(run, f"tool_{number}", said, schema) for number in range(12)])
async def turns():
    async def hear(context, events):
        async for _ in events:
            pass
    await agent.run("Read it.", event_stream_handler=hear, usage_limits=UsageLimits(request_limit=None))
asyncio.run(main())
"""
)
_OPENAI_AGENTS = (
    _COMMON
    + """
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
set_tracing_disabled(True)
async def run(context, arguments):
    global ran
    ran += 1
    return result
said = "Does one thing, and says so. " * 4
tools = [FunctionTool(f"tool_{number}", said, schema, run, strict_json_schema=False) for number in range(12)]
used = OpenAIChatCompletionsModel(model, AsyncOpenAI(api_key="x" * 20, base_url=url, max_retries=0))
agent = Agent("a", instructions=system, tools=tools, model=used)
async def turns():
    streamed = Runner.run_streamed(agent, "Read it.", max_turns=count + 1)
    async for _ in streamed.stream_events():
        pass
asyncio.run(main())
"""
)


async def frameworks(bench: Bench, url: str, kind: str) -> tuple[dict[str, float], str]:
    """The processor seconds of a turn with each, against the model at `url`; and why some cannot be told of."""
    python = await asyncio.to_thread(_installed, bench)
    if python is None:
        return {}, "pydantic-ai, openai-agents: not installed here"
    scripts = {"pydantic-ai": _PYDANTIC_AI, **({"openai-agents": _OPENAI_AGENTS} if kind == "OpenAI" else {})}
    told: dict[str, float] = {}
    problems: list[str] = []
    for name, script in scripts.items():
        bench.say(f"  provider: the same turns with {name}, {kind}")
        seconds = await asyncio.to_thread(_turned, python, script, url, kind, 1 if bench.quick else 5)
        if seconds is None:
            problems.append(f"{name}: did not do the turns")
        else:
            told[name] = seconds
    return told, "; ".join(problems)


def _installed(bench: Bench) -> Path | None:
    """The Python that has them, or None when they cannot be had."""
    folder = bench.folder / "frameworks"
    python, ready = folder / "bin" / "python", folder / "ready"
    if ready.exists():
        return python
    bench.say(f"  installing {', '.join(_PACKAGES)} into a temporary folder")
    try:
        venv.create(folder, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--only-binary=:all:", *_PACKAGES]
        done = subprocess.run(command, capture_output=True, timeout=_INSTALL_SECONDS, check=False, env=_environ())
    except (subprocess.SubprocessError, OSError):
        return None
    if done.returncode:
        return None
    ready.touch()
    return python


def _turned(python: Path, script: str, url: str, kind: str, rounds: int) -> float | None:
    command = [str(python), "-c", script, url, kind, str(_TURNS), str(rounds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TURN_SECONDS, check=False, env=_environ())
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
        return None
    return median(float(line) for line in done.stdout.split())


def _environ() -> dict[str, str]:
    # What this checkout's Python has is not theirs to see.
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
