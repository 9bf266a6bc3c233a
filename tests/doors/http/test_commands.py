"""bash over REST: effects beside args, and keep, drop and effects as the person's tools."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest

from tests.promises import carries
from tests.served import Served


def run(server: Served, command: str, effects: str | None = None, **arguments: Any) -> httpx.Response:
    """Run a command as the local user."""
    beside = {} if effects is None else {"effects": effects}
    return server.client().post(server.tools, json={"tool": "bash", "args": {"command": command, **arguments}, **beside})


def told(answer: httpx.Response) -> dict[str, Any]:
    """The metadata of a command's answer."""
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]["metadata"]


def held(server: Served, command: str) -> dict[str, Any]:
    metadata = told(run(server, command, "hold"))
    assert metadata["effectsState"] == "held"
    return metadata


@pytest.fixture
def name(server: Served) -> Iterator[str]:
    """A name of one's own in the shared project."""
    chosen = f"made-{uuid4()}.txt"
    yield chosen
    (server.project / chosen).unlink(missing_ok=True)


@carries("BASH-13", "REST-3")
def test_a_command_answers_200_with_its_envelope(either: Served) -> None:
    answer = run(either, "echo out; echo err >&2; pwd")

    body = answer.json()
    assert (answer.status_code, set(body), body["success"], body["error"]) == (200, {"success", "result", "error"}, True, None)
    assert set(body["result"]) == {"output", "is_error", "metadata"}
    assert (body["result"]["output"], body["result"]["is_error"]) == (f"out\nerr\n{either.project}\n", False)
    assert (told(answer)["exitCode"], told(answer)["effects"], told(answer)["sandboxTier"]) == (0, [], 1)


@carries("BASH-13")
def test_an_exit_code_is_no_success_and_comes_with_the_output(server: Served) -> None:
    answer = run(server, "echo said; exit 42")

    assert (answer.status_code, answer.json()["success"], answer.json()["result"]["is_error"]) == (200, False, True)
    assert answer.json()["error"] == "the command ended with exit code 42"
    assert (answer.json()["result"]["output"], told(answer)["exitCode"]) == ("said\n", 42)


@carries("BASH-13")
def test_a_timeout_is_no_success_and_says_so(server: Served, name: str) -> None:
    answer = run(server, f"echo begun; echo x > {name}; sleep 300", timeout=1)

    assert (answer.status_code, answer.json()["success"]) == (200, False)
    assert "command timed out" in answer.json()["error"]
    assert answer.json()["result"]["output"].startswith("begun\n")
    assert (told(answer)["endedBy"], told(answer)["effectsState"]) == ("timeout", "kept")


@pytest.mark.parametrize("arguments", [{}, {"command": 7}, {"command": "true", "timeout": 0}, {"command": "true", "timeout": "soon"}])
def test_arguments_that_do_not_fit_are_400(server: Served, arguments: dict[str, Any]) -> None:
    answer = server.call("bash", **arguments)

    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")
    assert set(answer.json()["fields"]) == {"timeout" if "timeout" in arguments else "command"}


@carries("EFFECT-1")
@pytest.mark.parametrize("effects", [None, "keep"])
def test_effects_are_real_before_the_answer_and_listed(server: Served, name: str, effects: str | None) -> None:
    metadata = told(run(server, f"echo new > {name}", effects))

    assert (server.project / name).read_text() == "new\n"
    assert (metadata["effectsState"], [one["path"] for one in metadata["effects"]]) == ("kept", [f"/{name}"])
    versions = server.call("history", path=f"/{name}").json()["result"]["versions"]
    assert len(versions) == 1


@carries("EFFECT-1")
def test_effects_that_are_dropped_are_listed_and_nothing_has_changed(server: Served, name: str) -> None:
    metadata = told(run(server, f"echo new > {name}", "drop"))

    assert (metadata["effectsState"], [one["path"] for one in metadata["effects"]]) == ("dropped", [f"/{name}"])
    assert not (server.project / name).exists()


@carries("EFFECT-1", "EFFECT-2")
def test_effects_that_are_held_are_looked_at_kept_in_part_and_decided_once(either: Served) -> None:
    one, other = (f"{uuid4()}.txt" for _ in "ab")
    metadata = held(either, f"echo new > {one}; echo too > {other}")
    effects_id = metadata["effectsId"]
    assert not (either.project / one).exists()

    pending = either.call("effects").json()["result"]["pending"]
    seen = either.call("effects", effects_id=effects_id, path=f"/{one}").json()["result"]
    kept = either.call("keep", effects_id=effects_id, paths=[f"/{one}"], effects_hash=seen["effects_hash"])
    again = [either.call(tool, effects_id=effects_id) for tool in ("keep", "drop", "effects")]

    assert effects_id in pending
    assert (seen["effects_hash"], seen["count"]) == (metadata["effectsHash"], 2)
    assert seen["diff"].endswith("+new\n")
    assert (kept.status_code, kept.json()["result"]["kept"]) == (200, [f"/{one}"])
    assert ((either.project / one).read_text(), (either.project / other).exists()) == ("new\n", False)
    assert [(each.status_code, each.json()["code"]) for each in again] == [(409, "CONFLICT")] * 3


@carries("EFFECT-2")
def test_effects_that_are_dropped_later_never_come(server: Served, name: str) -> None:
    effects_id = held(server, f"echo new > {name}")["effectsId"]

    dropped = server.call("drop", effects_id=effects_id)

    assert (dropped.status_code, dropped.json()["result"]) == (200, {"effects_id": effects_id, "count": 1})
    assert not (server.project / name).exists()
    assert effects_id not in server.call("effects").json()["result"]["pending"]


@pytest.mark.parametrize("tool", ["keep", "drop", "effects"])
def test_effects_that_are_not_there_are_404_and_an_id_that_is_no_text_is_400(server: Served, tool: str) -> None:
    missing = [server.call(tool, effects_id=effects_id) for effects_id in ("0" * 16, "../../etc", "")]
    wrong = server.call(tool, effects_id=7)

    assert [(each.status_code, each.json()["code"]) for each in missing] == [(404, "NOT_FOUND")] * 3
    assert (wrong.status_code, wrong.json()["code"], set(wrong.json()["fields"])) == (400, "VALIDATION_ERROR", {"effects_id"})


@carries("EFFECT-8")
def test_a_path_that_is_none_of_the_effects_and_a_hash_of_others_change_nothing(server: Served, name: str) -> None:
    effects_id = held(server, f"echo new > {name}")["effectsId"]

    looked = server.call("effects", effects_id=effects_id, path="/other.txt")
    path = server.call("keep", effects_id=effects_id, paths=["/other.txt"])
    digest = server.call("keep", effects_id=effects_id, effects_hash="0" * 64)

    assert [each.status_code for each in (looked, path, digest)] == [404, 400, 409]
    assert set(path.json()["fields"]) == {"paths"}
    assert not (server.project / name).exists()
    assert server.call("drop", effects_id=effects_id).status_code == 200


@carries("EFFECT-3")
def test_what_has_changed_meanwhile_is_409_names_it_and_stays(server: Served, name: str) -> None:
    (server.project / name).write_text("old\n")
    effects_id = held(server, f"echo theirs > {name}")["effectsId"]
    (server.project / name).write_text("mine\n")

    answer = server.call("keep", effects_id=effects_id)

    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")
    assert f"/{name}" in answer.json()["error"]
    assert (server.project / name).read_text() == "mine\n"
    assert server.call("drop", effects_id=effects_id).status_code == 200


async def test_without_the_scope_for_dangerous_tools_nothing_runs_and_nothing_is_decided(server: Served, name: str) -> None:
    effects_id = held(server, f"echo new > {name}")["effectsId"]
    user = await server.user(f"{uuid4()}@example.org")
    stranger = await server.user(f"{uuid4()}@example.org", member=False)
    careful = server.client(server.token(user, scopes=[]))
    calls = [("bash", {"command": f"echo x > {name}"}), ("keep", {"effects_id": effects_id}), ("drop", {"effects_id": effects_id})]

    refused = [careful.post(server.tools, json={"tool": tool, "args": args}) for tool, args in calls]
    strange = [server.client(server.token(stranger)).post(server.tools, json={"tool": tool, "args": args}) for tool, args in calls]
    looked = careful.post(server.tools, json={"tool": "effects", "args": {"effects_id": effects_id}})

    assert [(each.status_code, each.json()["code"]) for each in refused + strange] == [(403, "FORBIDDEN")] * 6
    assert (looked.status_code, (server.project / name).exists()) == (200, False)
    allowed = server.client(server.token(user))
    assert allowed.post(server.tools, json={"tool": "drop", "args": {"effects_id": effects_id}}).status_code == 200


@carries("PEOPLE-8")
async def test_a_call_is_taken_back_by_those_who_may_and_what_stands_against_it_is_a_status(either: Served) -> None:
    name = f"{uuid4()}.txt"
    run(either, f"echo new > {name}")
    call_id = either.call("history", path=f"/{name}").json()["result"]["versions"][0]["call_id"]
    careful = either.client(either.token(await either.user(f"{uuid4()}@example.org"), scopes=[]))
    (either.project / name).write_text("mine\n")

    refused = careful.post(either.tools, json={"tool": "undo", "args": {"call_id": call_id}})
    conflict, missing = either.call("undo", call_id=call_id), either.call("undo", call_id="nobody's")
    unfit = either.call("undo", call_id=7)
    stays = (either.project / name).read_text()
    done = either.call("undo", call_id=call_id, force=True)

    assert [each.status_code for each in (refused, conflict, missing, unfit, done)] == [403, 409, 404, 400, 200]
    assert (f"/{name}" in conflict.json()["error"], stays) == (True, "mine\n")
    assert [one["path"] for one in done.json()["result"]["restored"]] == [f"/{name}"]
    assert not (either.project / name).exists()


@carries("BASH-8", "BASH-13")
def test_a_client_that_hangs_up_ends_the_command_and_nothing_is_kept(server: Served, name: str) -> None:
    mark = f"300.{uuid4().int}"
    body = orjson.dumps({"tool": "bash", "args": {"command": f"echo x > {name}; setsid sleep {mark} & sleep {mark}"}})
    host, port = server.base.removeprefix("http://").split(":")
    head = f"POST {server.tools} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {server.told['token']}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        _until(lambda: len(_running(mark)) >= 2)

    _until(lambda: not _running(mark))
    _until(lambda: not _layers(server))
    assert not (server.project / name).exists()


@carries("BASH-13")
def test_a_call_that_is_passed_on_to_the_server_answers_and_holds_as_there(server: Served, name: str) -> None:
    said = server.run("call", "bash", f"command=echo hi; echo new > {name}", "--hold", "--json", "--project", str(server.project))

    metadata = orjson.loads(said.stdout)["result"]["metadata"]
    assert (metadata["effectsState"], (server.project / name).exists()) == ("held", False)
    assert server.call("keep", effects_id=metadata["effectsId"]).status_code == 200
    assert (server.project / name).read_text() == "new\n"


def test_a_server_tells_its_tier_when_it_is_ready(server: Served) -> None:
    assert server.told["sandbox_tier"] == 1


def _running(mark: str) -> list[Path]:
    """The processes that have the mark among their words; a shell that only wrote it does not count."""
    found: list[Path] = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(process)
    return found


def _layers(server: Served) -> list[Path]:
    """The folders of layers that are there; those of pending effects belong to other tests of this server."""
    pending = server.call("effects").json()["result"]["pending"]
    every = (server.home / "layers").glob("*/*")
    return [path for path in every if not path.name.startswith(".") and path.name not in pending]


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
