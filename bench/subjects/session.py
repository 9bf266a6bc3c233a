"""Sessions: what a whole turn of an agent costs, with its log, its road and its tool; and what an idle session keeps of the memory."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.agent_frameworks import frameworks
from bench.bench import Bench, require
from bench.measure import Work, interleaved
from bench.model_server import RESULT, model_server, raw_anthropic, raw_openai
from bench.row import Row
from holdfast import Holdfast
from holdfast.app.agents import Agents
from holdfast.providers.choose import Providers
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.trust import Trust

_GOAL = 2.0
_LIMIT_BYTES = 100 * 1024
_HOLDFAST = (sys.executable, "-c", "from holdfast.cli import main; raise SystemExit(main())")
_SCRIPT = {"turns": [{"answers": [[{"say": "Looking. "}, {"call": "read", "with": {"path": "/src/main.py"}}], [{"say": "It is known."}]]}]}


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Whole turns in both wire formats, then the memory."""
    project = bench.folder / "session-project"
    (project / "src").mkdir(parents=True, exist_ok=True)
    (project / "src" / "main.py").write_text(RESULT, encoding="utf-8")
    with model_server() as url:
        async with Holdfast.open(project, home=bench.folder / "session-home") as holdfast:
            for name, provider in (("Anthropic", "anthropic"), ("OpenAI", "openai")):
                yield await _turns(bench, holdfast, url, name, provider)
    yield await _memory(bench, project)


async def _turns(bench: Bench, holdfast: Holdfast, url: str, name: str, provider: str) -> Row:
    settings = ProviderSettings(anthropic_api_key="x" * 20, anthropic_base_url=url, openai_api_key="x" * 20, openai_base_url=url)
    providers = Providers(settings)
    held = await holdfast.platform.hold(holdfast.workspace_id)
    agents = Agents(holdfast.platform, held, providers)

    async def ours(count: int) -> None:
        conversation = await agents.create(SHIPPED["coder"], trust=Trust.AUTONOMOUS)
        reason = await agents.send(conversation.id, "Read it.", SHIPPED["coder"], model=f"{provider}/until-{count}-read")
        require((reason, len(conversation.messages)) == ("done", 2 + 2 * count), "a whole session")

    bench.say(f"  session: whole turns of one tool call, {name}")
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        raw = (raw_anthropic if name == "Anthropic" else raw_openai)(client)
        contenders: dict[str, Work] = {"ours 10": lambda: ours(10), "ours 50": lambda: ours(50), "raw 50": lambda: raw(50)}
        cpu = await interleaved(contenders, rounds=3 if bench.quick else 7, times=1, clock=time.process_time)
    await agents.close()
    await providers.close()
    each = {what: seconds / int(what.split()[1]) for what, seconds in cpu.items()}
    peers, note = await frameworks(bench, url, name)
    parts = {"of 10": each["ours 10"]}
    what = f"agent turn: {name}, whole session of 50, CPU per turn"
    return Row(what, each["ours 50"], "raw httpx loop, nothing kept", each["raw 50"], _GOAL, peers, parts, note)


@dataclass(frozen=True)
class _Server:
    pid: int
    url: str
    token: str

    def private_bytes(self) -> int:
        """The memory that is this process's alone."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


async def _memory(bench: Bench, project: Path) -> Row:
    """What each of many sessions keeps after a turn, with a socket that watches it, and without."""
    count = 100 if bench.quick else 1_000
    bench.say(f"  session: memory of {count} that are idle")
    with _serving(project, bench.folder / "memory-home") as server:
        async with AsyncExitStack() as first:
            # What is there once, however many sessions there are.
            await _sessions(server, 50, first)
        before = server.private_bytes()
        async with AsyncExitStack() as sockets:
            await _sessions(server, count, sockets)
            watched = server.private_bytes()
        left = await _settled(server)
    figures = [max(amount - before, 1) / count for amount in (watched, left)]
    return Row("session: memory of an idle one, watched", figures[0], "limit", _LIMIT_BYTES, 1.0, parts={"unwatched": figures[1]}, unit="B")


async def _sessions(server: _Server, count: int, stack: AsyncExitStack) -> None:
    """So many more, each with a socket and one turn behind it."""
    for _ in range(count):
        head = {"Authorization": f"Bearer {server.token}"}
        connection = await stack.enter_async_context(connect(server.url, additional_headers=head, proxy=None))
        await connection.send(json.dumps({"type": "chat:send", "payload": {"content": "Read it.", "trustLevel": "autonomous"}}))
        require(await _ended(connection) == "done", "a turn of a session")


async def _ended(connection: ClientConnection) -> str:
    while True:
        frame: dict[str, Any] = json.loads(await connection.recv())
        if frame["type"] == "chat:stream-end":
            return frame["payload"]["reason"]


async def _settled(server: _Server) -> int:
    """The memory once the sockets are gone."""
    for _ in range(20):
        await asyncio.sleep(0.1)
    return server.private_bytes()


@contextmanager
def _serving(project: Path, home: Path) -> Generator[_Server]:
    (home / "scripts").mkdir(parents=True, exist_ok=True)
    (home / "scripts" / "idle.yaml").write_text(json.dumps(_SCRIPT), encoding="utf-8")
    environ = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_MODEL": "scripted/idle"}
    words = [*_HOLDFAST, "serve", str(project), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        base = told["url"].partition("/?")[0].replace("http", "ws", 1)
        try:
            yield _Server(process.pid, f"{base}/ws/chat?workspace={told['workspace_id']}", told["token"])
        finally:
            process.terminate()
