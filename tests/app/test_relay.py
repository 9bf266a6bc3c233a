"""Processes that share a workspace: calls are passed on to the one that holds it."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import Holdfast
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.outcome import Done
from holdfast.vocabulary.trust import Trust
from tests.cli.typing import typing
from tests.promises import carries
from tests.served import Served, environment, holdfast, serving, started
from tests.store.conftest import postgres_server, postgres_url
from tests.store.postgres import fresh_database
from tests.untested import needs

__all__ = ["postgres_server", "postgres_url"]

QUESTION = {"name": "go", "question": "Go on?", "schema": {"type": "string"}}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that the tests share, on either database."""
    with ExitStack() as stack:
        url = None
        if request.param == "postgres":
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgres_server")))
        yield stack.enter_context(serving(tmp_path_factory.mktemp(request.param), database_url=url))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A server of the test's own, on either database."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    with serving(tmp_path, database_url=url) as served:
        yield served


def call(server: Served, tool: str, /, **arguments: Any) -> "subprocess.CompletedProcess[str]":
    return server.run("call", tool, "--project", str(server.project), "--json", "--args", json.dumps(arguments), check=False)


def waiting_call(server: Served) -> tuple[str, "subprocess.Popen[str]"]:
    """The id of a session, and a command that waits for the person's answer in it."""
    session = server.client().post(f"/api/v1/workspaces/{server.workspace_id}/sessions", json={}).json()["id"]
    code = (
        "import asyncio, sys\n"
        "from holdfast.app import Holdfast\n"
        "from holdfast.vocabulary.call import Caller, ToolCall\n"
        "async def main() -> None:\n"
        "    async with Holdfast.open(sys.argv[1]) as opened:\n"
        f"        asked = ToolCall('waiting', 'ask_user', {{'questions': [{QUESTION!r}]}}, Caller(session=sys.argv[2]))\n"
        "        print('calling', flush=True)\n"
        "        outcome = await opened.take(asked)\n"
        "        print(outcome.answer.text, flush=True)\n"
        # Whoever runs the tests in the background has them inherit that this signal is ignored.
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "asyncio.run(main())\n"
    )
    command = [PYTHON, "-c", code, str(server.project), session]
    process = subprocess.Popen(command, env=server.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    client = server.client()
    deadline = time.monotonic() + 60
    while not client.get(f"/api/v1/workspaces/{server.workspace_id}/questions").json():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return session, process


PYTHON = sys.executable


@carries("SERVE-5")
def test_a_call_beside_a_running_server_is_passed_on_to_it(server: Served) -> None:
    done = call(server, "write", path="/a.md", content="by the command line\n")

    assert done.returncode == 0, done.stderr
    assert server.call("read", path="/a.md").json()["result"]["content"] == "by the command line\n"
    assert server.call("read", path="/a.md").json()["result"]["synced"] is True


@carries("SERVE-5")
def test_an_error_and_a_refusal_are_passed_back_as_they_are(server: Served) -> None:
    failed, refused, wrong = call(server, "read", path="/missing"), call(server, "nothing"), call(server, "read", path=7)

    assert (failed.returncode, json.loads(failed.stdout)["code"]) == (1, "not_found")
    assert (refused.returncode, json.loads(refused.stdout)["code"]) == (2, "unknown_tool")
    assert (wrong.returncode, json.loads(wrong.stdout)["code"]) == (2, "invalid_arguments")
    assert json.loads(wrong.stdout)["result"]["fields"].keys() == {"path"}


@needs("bubblewrap", "a command runs inside it")
def test_what_a_call_prints_beside_a_running_server_is_seen_as_it_comes(server: Served) -> None:
    with typing(server.project, "call", "bash", "command=echo one; sleep 60", "--keep", **server.environ) as typist:
        typist.until("one")


@carries("SERVE-5")
def test_ctrl_c_cancels_the_call_where_it_runs(server: Served) -> None:
    session, waiting = waiting_call(server)

    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=60)

    deadline = time.monotonic() + 20
    while not (logs := list((server.home / "workspaces").glob(f"*/state/{session}/logs/execution.jsonl"))) or not logs[0].read_text():
        assert time.monotonic() < deadline, "the call goes on"
        time.sleep(0.05)
    assert "cancelled" in logs[0].read_text()


@carries("SERVE-5")
def test_a_server_that_dies_in_the_middle_of_a_call_is_a_clear_error(tmp_path: Path) -> None:
    own = started(tmp_path)
    _, waiting = waiting_call(own)

    own.kill()
    own.close()
    _, said = waiting.communicate(timeout=60)

    assert waiting.returncode != 0
    assert "went away in the middle of the call" in said


@carries("SERVE-8")
def test_after_a_kill_the_next_process_goes_on_at_once_and_nothing_is_lost(own: Served, tmp_path: Path) -> None:
    own.call("write", path="/a.md", content="acknowledged\n")
    own.kill()

    began = time.monotonic()
    done = call(own, "read", path="/a.md")
    by_hand = time.monotonic() - began
    again = started(tmp_path, database_url=own.environ.get("HOLDFAST_DATABASE_URL"))
    try:
        # Ready is not enough: the first change must be taken here.
        written = again.call("write", path="/b.md", content="x")
    finally:
        again.close()

    assert done.returncode == 0, done.stderr
    assert "acknowledged" in done.stdout
    assert written.status_code == 200
    assert "passed on" not in again.log.read_text()
    # A busy machine takes a while to start Python; the deadline that the killed one has left behind is 15 s.
    assert max(by_hand, again.seconds_to_ready) < own.seconds_to_ready + 8


@carries("SERVE-7")
def test_a_second_server_passes_calls_on_and_takes_over_when_the_first_has_gone(own: Served, tmp_path: Path) -> None:
    second = started(tmp_path, database_url=own.environ.get("HOLDFAST_DATABASE_URL"))
    try:
        by_second = second.call("write", path="/a.md", content="x")
        seen = own.call("read", path="/a.md")
        wrong = second.call("file_read", path=7)
        busy = second.client().get(f"/api/v1/workspaces/{second.workspace_id}/sessions")
        own.stop()
        after = second.call("write", path="/b.md", content="x")
        theirs = second.client().get(f"/api/v1/workspaces/{second.workspace_id}/sessions")
    finally:
        second.close()

    assert (by_second.status_code, seen.status_code, after.status_code) == (200, 200, 200)
    assert (wrong.status_code, wrong.json()["fields"].keys()) == (400, {"path"})
    assert (busy.status_code, busy.headers["retry-after"], theirs.status_code) == (503, "1", 200)
    assert second.workspace_id == own.workspace_id
    assert "calls are passed on to it" in second.log.read_text()


@carries("SERVE-7", "SERVE-10")
def test_a_second_server_with_mounts_of_its_own_is_refused(server: Served, tmp_path: Path) -> None:
    done = server.run("serve", str(server.project), "--port", "0", "--mount", f"more={tmp_path}", check=False)

    assert done.returncode != 0
    assert "another process holds the workspace" in done.stderr


@carries("SERVE-6")
def test_two_calls_at_once_both_succeed_without_a_server(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    environ = environment(tmp_path / "home")
    words = ("call", "write", "--project", str(tmp_path / "project"))
    holdfast(*words, "path=/first", "content=x", environ=environ)

    both = [Calling(environ, *words, f"path=/{name}", "content=x") for name in ("a", "b", "c")]
    codes = [each.wait() for each in both]

    assert codes == [0, 0, 0]
    assert sorted(file.name for file in (tmp_path / "project").iterdir()) == ["a", "b", "c", "first"]


class Calling:
    """A command that is under way."""

    def __init__(self, environ: dict[str, str], *words: str) -> None:
        command = [PYTHON, "-m", "holdfast", *words]
        self._process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait(self) -> int:
        said, _ = self._process.communicate(timeout=120)
        assert self._process.returncode == 0, said
        return self._process.returncode


@carries("SERVE-5", "RUN-3")
async def test_how_far_a_caller_is_trusted_is_passed_on_too(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    if "HOLDFAST_DATABASE_URL" in server.environ:
        monkeypatch.setenv("HOLDFAST_DATABASE_URL", server.environ["HOLDFAST_DATABASE_URL"])
    client, base = server.client(), f"/api/v1/workspaces/{server.workspace_id}"
    session = client.post(f"{base}/sessions", json={}).json()["id"]
    caller = Caller(agent="x", session=session)
    asked = ToolCall("trusted", "write", {"path": "/trusted.md", "content": "x"}, caller, trust=Trust.SUPERVISED)
    async with Holdfast.open(server.project, home=server.home) as beside:
        taking = asyncio.create_task(beside.take(asked))
        while not (pending := client.get(f"{base}/approvals").json()) and not taking.done():
            await asyncio.wait({taking}, timeout=0.02)
        before = (server.project / "trusted.md").exists()
        for each in pending:
            client.post(f"{base}/approvals/{each['id']}", json={"approved": True})
        outcome = await taking

    assert (before, (server.project / "trusted.md").exists(), isinstance(outcome, Done)) == (False, True, True)
