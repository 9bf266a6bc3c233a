"""An authenticated call over REST: what one request costs the server's processor, with sixteen connections at once."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.bench import Bench, require
from bench.data import make_tree, tree_paths
from bench.row import Row

CONNECTIONS = 16
HOLDFAST = (sys.executable, "-c", "from holdfast.cli import main; raise SystemExit(main())")
_TICKS = os.sysconf("SC_CLK_TCK")

STATIC = """
import sys, uvicorn
async def app(scope, receive, send):
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})
"""
FASTAPI = """
import sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
app = FastAPI()
class Body(BaseModel):
    tool: str
    args: dict[str, object]
@app.post("/{rest:path}")
async def call(rest: str, body: Body) -> dict[str, str]:
    return {"tool": body.tool}
"""
RUN = 'print(sys.argv[1], flush=True)\nuvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error", lifespan="off")'


@dataclass(frozen=True)
class Target:
    """A server that runs, and the request that it gets."""

    pid: int
    port: int
    request: bytes

    def processor_seconds(self) -> float:
        """What it has used of the processor so far."""
        used = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / _TICKS


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Ours beside a static answer, and beside a framework that does nothing."""
    few = make_tree(bench.folder / "few-rest", 50)
    path = f"/{next(tree_paths(few, 50)).relative_to(few)}"
    each = 100 if bench.quick else 400
    with ExitStack() as running:
        ours = running.enter_context(_holdfast(few, bench.folder / "rest-home", {"tool": "read", "args": {"path": path}}))
        door = Target(ours.pid, ours.port, ours.request.replace(b'"args"', b'"arks"'))
        static = running.enter_context(_python(STATIC, ours.request))
        fastapi = running.enter_context(_python(FASTAPI, ours.request))
        require((await _ask(ours)).startswith(b"HTTP/1.1 200"), "what the server answers")
        require((await _ask(door)).startswith(b"HTTP/1.1 400"), "what the door answers")
        bench.say("  REST: processor time per request, 16 connections")
        seconds = await _interleaved({"ours": ours, "door": door, "static": static, "fastapi": fastapi}, each)
    floor, peers = seconds["static"], {"FastAPI, doing nothing": seconds["fastapi"]}
    yield Row("REST: read of 4 KB, server CPU per request", seconds["ours"], "static ASGI", floor, 6, peers)
    yield Row("REST: the door alone, server CPU per request", seconds["door"], "static ASGI", floor, 2, peers)


async def _interleaved(targets: dict[str, Target], each: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in targets}
    for number in range(6):
        for name, target in targets.items():
            before = target.processor_seconds()
            await asyncio.gather(*(_requests(target, each) for _ in range(CONNECTIONS)))
            if number:
                taken[name].append((target.processor_seconds() - before) / (each * CONNECTIONS))
    return {name: median(every) for name, every in taken.items()}


async def _requests(target: Target, count: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    answer = b""
    for _ in range(count):
        writer.write(target.request)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    return answer


async def _ask(target: Target) -> bytes:
    return await _requests(target, 1)


@contextmanager
def _holdfast(project: Path, home: Path, body: object) -> Generator[Target]:
    words = [*HOLDFAST, "serve", str(project), "--port", "0", "--json"]
    environ = {**os.environ, "HOLDFAST_HOME": str(home)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        port = int(told["url"].partition("/?")[0].rpartition(":")[2])
        request = _request(f"/api/v1/workspaces/{told['workspace_id']}/tools", told["token"], json.dumps(body).encode())
        try:
            yield Target(process.pid, port, request)
        finally:
            process.terminate()


@contextmanager
def _python(app: str, request: bytes) -> Generator[Target]:
    port = _free_port()
    with subprocess.Popen([sys.executable, "-c", app + RUN, str(port)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        _wait_for(port)
        try:
            yield Target(process.pid, port, request)
        finally:
            process.terminate()


def _request(address: str, token: str, body: bytes) -> bytes:
    head = f"POST {address} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def _free_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    import socket
    import time

    for _ in range(600):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("a server of the benchmark did not start")
