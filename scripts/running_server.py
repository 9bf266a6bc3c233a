"""A real server in a process of its own, for scripts that treat it badly."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOLDFAST = (sys.executable, "-c", "from holdfast.cli import main; raise SystemExit(main())")


@dataclass
class Server:
    """A running server, and how to call it."""

    process: "subprocess.Popen[str]"
    port: int
    token: str
    workspace_id: str
    seconds_to_ready: float

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, and wait."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class Client:
    """One connection that stays open."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def call(self, tool: str, **arguments: Any) -> tuple[int, Any]:
        """Call a tool; what is raised means that nobody knows what became of it."""
        address = f"/api/v1/workspaces/{self._server.workspace_id}/tools"
        return self.ask("POST", address, {"tool": tool, "args": arguments})

    def ask(self, method: str, address: str, body: object = None) -> tuple[int, Any]:
        """Send one request."""
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}
        self._connection.request(method, address, None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        data = answer.read()
        return answer.status, json.loads(data) if data else None


def environment(home: Path, database_url: str | None) -> dict[str, str]:
    """The environment of a process that is to work on this data folder."""
    environ = {**os.environ, "HOLDFAST_HOME": str(home)}
    # Without compiled files every start would compile everything anew.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if database_url:
        environ["HOLDFAST_DATABASE_URL"] = database_url
    return environ


def start(project: Path, home: Path, database_url: str | None = None) -> Server:
    """Start a server, and wait until it is ready."""
    environ = environment(home, database_url)
    began = time.monotonic()
    words = [*HOLDFAST, "serve", str(project), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"the server did not start: exit code {process.wait()}")
    told = json.loads(line)
    port = int(told["url"].split("/?")[0].rpartition(":")[2])
    return Server(process, port, told["token"], told["workspace_id"], time.monotonic() - began)


@contextmanager
def running(project: Path, home: Path, database_url: str | None = None) -> Generator[Server]:
    """A server for as long as the block lasts."""
    server = start(project, home, database_url)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


@contextmanager
def database(kind: str) -> Generator[str | None]:
    """The address of a new database of a kind; None is the server's own SQLite."""
    if kind == "sqlite":
        yield None
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.store.postgres import fresh_database, running_server

    with running_server() as address, fresh_database(address) as url:
        yield url
