"""The peer: npm's @modelcontextprotocol/server-filesystem, spoken to by the quickest client there can be."""

import json
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from holdfast.vocabulary.json import Json

from .bench import Bench, WrongAnswer

_PACKAGE = "@modelcontextprotocol/server-filesystem"
_VERSION = "2026.8.31"
_INSTALL_SECONDS = 120


@dataclass(frozen=True)
class NotHere:
    """Why there is no such server on this machine."""

    reason: str


class Server:
    """A running server: one line of JSON there, one line back."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._in = cast("IO[bytes]", process.stdin)
        self._out = cast("IO[bytes]", process.stdout)
        self._ids = count(1)
        about: dict[str, Json] = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name: str, /, **arguments: Json) -> str:
        """Call a tool, and give the text that it answers with."""
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise WrongAnswer(f"{name} of {_PACKAGE}: {text[:300]}")
        return text

    def _ask(self, method: str, parameters: dict[str, Json]) -> dict[str, Any]:
        number = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        while line := self._out.readline():
            answer = json.loads(line)
            if answer.get("id") == number and "method" not in answer:
                return answer["result"]
        raise WrongAnswer(f"{_PACKAGE} ended before it answered")

    def _send(self, message: dict[str, Json]) -> None:
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()


@contextmanager
def server_filesystem(bench: Bench, root: Path) -> Generator[Server | NotHere]:
    """The server on a folder, installed for this run when it is not yet there."""
    program = _installed(bench)
    if isinstance(program, NotHere):
        yield program
        return
    command = ["node", str(program), str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def _installed(bench: Bench) -> Path | NotHere:
    if shutil.which("node") is None or shutil.which("npm") is None:
        return NotHere("npm server-filesystem: there is no node here")
    prefix = bench.folder / "npm"
    program = prefix / "node_modules" / _PACKAGE / "dist" / "index.js"
    if program.exists():
        return program
    bench.say(f"  installing {_PACKAGE} {_VERSION} into a temporary folder")
    prefix.mkdir(exist_ok=True)
    # Without --ignore-scripts a package could run anything here.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        command = ["npm", "install", "--prefix", str(prefix), *quiet, f"{_PACKAGE}@{_VERSION}"]
        done = subprocess.run(command, capture_output=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return NotHere("npm server-filesystem: not installed in time")
    return program if done.returncode == 0 else NotHere("npm server-filesystem: npm could not install it")
