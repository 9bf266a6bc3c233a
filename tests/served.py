"""A real server in a process of its own, and what tests say to it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from holdfast.accounts.tokens import Tokens
from holdfast.config.settings import load_settings
from holdfast.store import people
from holdfast.store.database import Database
from holdfast.store.opening import open_database

SECRET = "a secret for tests that is long enough to sign with"
OWN = "the server's own token"
HOLDFAST = (sys.executable, "-m", "holdfast")


@dataclass
class Served:
    """A running server: its folders, its first line, and the ways to call it."""

    process: "subprocess.Popen[bytes]"
    project: Path
    home: Path
    environ: Mapping[str, str]
    told: Mapping[str, Any]
    seconds_to_ready: float
    log: Path
    clients: list[httpx.Client] = field(default_factory=list[httpx.Client])
    _own: httpx.Client | None = None

    @property
    def base(self) -> str:
        """Where it listens."""
        return str(self.told["url"]).partition("/?")[0]

    @property
    def workspace_id(self) -> str:
        return self.told["workspace_id"]

    @property
    def tools(self) -> str:
        """The address of the tools, counted from the base."""
        return f"/api/v1/workspaces/{self.workspace_id}/tools"

    def client(self, token: str | None = OWN, **options: Any) -> httpx.Client:
        """A client with a token, by default the server's own; None sends none."""
        bearer = self.told["token"] if token is OWN else token
        headers = {"Authorization": f"Bearer {bearer}"} if bearer is not None else {}
        made = httpx.Client(base_url=self.base, headers=headers, timeout=60, **options)
        self.clients.append(made)
        return made

    def call(self, tool: str, /, **arguments: Any) -> httpx.Response:
        """Call a tool as the local user."""
        if self._own is None:
            self._own = self.client()
        return self._own.post(self.tools, json={"tool": tool, "args": arguments})

    def token(self, user_id: str, *, seconds: float = 600, scopes: Sequence[str] | None = None) -> str:
        """A good token for a user."""
        return Tokens(SECRET).issue(user_id, "somebody@example.org", seconds=seconds, scopes=scopes)

    def close(self) -> None:
        """Stop it, if it is still there."""
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self) -> int:
        """Ask it to end, wait, and give its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self.process.kill()
        self.process.wait()

    def run(self, *words: str, stdin: str = "", check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Another command on the same data folder."""
        return holdfast(*words, environ=self.environ, stdin=stdin, check=check)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Another command on the same data folder, under way."""
        return subprocess.Popen([*HOLDFAST, *words], env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    async def database(self) -> Database:
        """The server's database, for what no address does."""
        return await open_database(load_settings(environ=self.environ)["database_url"] or self.home / "holdfast.db")

    async def user(self, email: str, *, member: bool = True, role: str = "member", scopes: Sequence[str] = ("tools:dangerous",)) -> str:
        """The id of a new user, by default a member of the workspace."""
        database = await self.database()
        try:
            user = await people.add_user(database, email)
            if member:
                await people.put_member(database, self.workspace_id, user.id, role=role, scopes=scopes)
        finally:
            await database.close()
        return user.id

    async def remove(self, user_id: str) -> None:
        """Let a user be no member any more."""
        database = await self.database()
        try:
            await people.remove_member(database, self.workspace_id, user_id)
        finally:
            await database.close()


@contextmanager
def serving(
    folder: Path, *words: str, database_url: str | None = None, environ: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> Generator[Served]:
    """A server on `folder`/project for as long as the block lasts; `before` are words before the command."""
    served = started(folder, *words, database_url=database_url, environ=environ, before=before)
    try:
        yield served
    finally:
        served.close()


def started(
    folder: Path, *words: str, database_url: str | None = None, environ: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> Served:
    """A server that has said that it is ready."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True, exist_ok=True)
    chosen = environment(home, HOLDFAST_JWT_SECRET=SECRET, **({"HOLDFAST_DATABASE_URL": database_url} if database_url else {}))
    chosen.update(environ or {})
    log = folder / f"log-{time.monotonic_ns()}"
    began = time.monotonic()
    with log.open("wb") as errors:
        command = [*before, *HOLDFAST, "serve", str(project), "--port", "0", "--json", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=chosen)
    assert process.stdout is not None
    line = process.stdout.readline()
    seconds = time.monotonic() - began
    if not line:
        raise AssertionError(f"the server left with {process.wait()}: {log.read_text()}")
    return Served(process, project, home, chosen, json.loads(line), seconds, log)


def holdfast(
    *words: str, environ: Mapping[str, str], stdin: str = "", check: bool = True, cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """One command, to its end."""
    done = subprocess.run([*HOLDFAST, *words], env=environ, input=stdin, capture_output=True, text=True, check=False, timeout=120, cwd=cwd)
    assert not check or done.returncode == 0, f"{words} left with {done.returncode}: {done.stdout}{done.stderr}"
    return done


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a command: ours without Holdfast's own settings, and with this data folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    return {**kept, "HOLDFAST_HOME": str(home), **more}
