"""POST /workspaces/{id}/tools: any tool by its name."""

import json
import threading
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.promises import carries
from tests.served import Served


@carries("REST-1")
def test_a_tool_answers_with_success_result_and_no_error(either: Served) -> None:
    path = f"/{uuid4()}.md"
    either.call("write", path=path, content="first\n")

    answer = either.call("read", path=path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"success", "result", "error"}
    assert (body["success"], body["error"], body["result"]["content"]) == (True, None, "first\n")


BAD_BODIES: list[tuple[Any, set[str]]] = [
    ({}, {"tool", "args"}),
    ({"tool": "ls"}, {"args"}),
    ({"args": {}}, {"tool"}),
    ({"tool": "ls", "args": []}, {"args"}),
    ({"tool": "ls", "args": None}, {"args"}),
    ({"tool": "ls", "args": "{}"}, {"args"}),
    ({"tool": 7, "args": {}}, {"tool"}),
    ({"tool": "ls", "args": {}, "session_id": 7}, {"session_id"}),
    ({"tool": "ls", "args": {}, "effects": "undo"}, {"effects"}),
    ({"tool": "ls", "args": {}, "effects": ["keep"]}, {"effects"}),
    ([], set()),
    ("ls", set()),
    (None, set()),
]


@carries("REST-2", "REST-7")
@pytest.mark.parametrize(("body", "fields"), BAD_BODIES, ids=lambda value: json.dumps(value) if not isinstance(value, set) else "")
def test_a_body_that_does_not_fit_is_400_and_its_fields_are_named(
    server: Served, client: httpx.Client, body: Any, fields: set[str]
) -> None:
    answer = client.post(server.tools, json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")
    assert set(answer.json().get("fields", {})) == fields


@pytest.mark.parametrize("effects", ["keep", "drop", "hold", None])
def test_effects_may_be_named(server: Served, client: httpx.Client, effects: str | None) -> None:
    assert client.post(server.tools, json={"tool": "ls", "args": {}, "session_id": None, "effects": effects}).status_code == 200


@carries("REST-3")
def test_a_tool_of_another_toolset_answers_with_its_own_envelope(server: Served, client: httpx.Client) -> None:
    (server.project / "seen.txt").write_text("seen\n")

    fs = server.call("fs.read", path="@project/seen.txt").json()
    core = server.call("file_read", path="seen.txt").json()
    simple = server.call("read_file", path="seen.txt").json()

    assert (fs["success"], fs["error"], fs["result"]["ok"]) == (True, None, True)
    assert (core["success"], core["error"]) == (True, None)
    assert (simple["success"], simple["error"]) == (True, None)
    assert all("seen" in json.dumps(answer["result"]) for answer in (fs, core, simple))


@carries("REST-3")
@pytest.mark.parametrize(
    ("tool", "path"), [("fs.read", "@project/missing.txt"), ("file_read", "missing.txt"), ("read_file", "missing.txt")]
)
def test_an_error_of_another_toolset_is_200_with_its_own_envelope_and_no_success(server: Served, tool: str, path: str) -> None:
    answer = server.call(tool, path=path)

    assert answer.status_code == 200
    assert answer.json()["success"] is False
    assert "not found" in answer.json()["error"]
    assert answer.json()["result"]


@carries("REST-4", "REST-6")
@pytest.mark.parametrize("tool", ["git_commit", "", "fs.nothing", "x" * 10_000, "read\n", "../read"])
def test_an_unknown_tool_is_404(server: Served, tool: str) -> None:
    answer = server.call(tool)

    assert (answer.status_code, answer.json()["code"], answer.json()["success"]) == (404, "NOT_FOUND", False)
    assert len(answer.text) < 5000


@carries("REST-4")
@pytest.mark.parametrize("tool", ["read", "fs.read", "file_read", "read_file"])
def test_arguments_of_the_wrong_type_are_400_whatever_the_toolset(server: Served, tool: str) -> None:
    missing, wrong = server.call(tool), server.call(tool, path={"a": 1})

    for answer in (missing, wrong):
        assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")
        assert set(answer.json()["fields"]) == {"path"}


@pytest.mark.parametrize(("tool", "path"), [("read", "/a"), ("fs.read", "@project/a"), ("file_read", "a")])
def test_a_session_that_is_not_there_is_404_whatever_the_toolset(server: Served, client: httpx.Client, tool: str, path: str) -> None:
    answer = client.post(server.tools, json={"tool": tool, "args": {"path": path}, "session_id": "nowhere"})

    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert "Session not found" in answer.json()["error"]


@carries("REST-5")
def test_definitions_are_those_of_all_that_the_caller_may_call(server: Served, client: httpx.Client) -> None:
    definitions = client.get(server.tools).json()

    named = {each["name"]: each for each in definitions}
    assert {"read", "write", "fs.read", "file_read", "read_file"} <= named.keys()
    assert named["read"]["inputSchema"]["required"] == ["path"]
    assert named["write"]["danger"] == "dangerous"


@carries("REST-12")
def test_of_two_edits_made_from_one_reading_one_is_409_and_none_is_lost(either: Served) -> None:
    path = f"/{uuid4()}.txt"
    either.call("write", path=path, content="a\nb\n")
    read = either.call("read", path=path).json()["result"]["hash"]
    answers: list[httpx.Response] = []

    def edit(old: str) -> None:
        arguments = {"path": path, "old_string": old, "new_string": old.upper(), "last_read_hash": read}
        with httpx.Client(base_url=either.base, headers={"Authorization": f"Bearer {either.told['token']}"}, timeout=60) as client:
            answers.append(client.post(either.tools, json={"tool": "edit", "args": arguments}))

    writers = [threading.Thread(target=edit, args=(letter,)) for letter in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert {answer.json().get("code") for answer in answers} == {None, "CONFLICT"}
    assert either.call("read", path=path).json()["result"]["content"] in ("A\nb\n", "a\nB\n")


def test_a_client_that_hangs_up_cancels_its_call(server: Served, client: httpx.Client) -> None:
    session = client.post(f"/api/v1/workspaces/{server.workspace_id}/sessions", json={}).json()["id"]
    question = {"name": "go", "question": "Go on?", "schema": {"type": "string"}}
    body = {"tool": "ask_user", "args": {"questions": [question]}, "session_id": session}

    with pytest.raises(httpx.ReadTimeout):
        client.post(server.tools, json=body, timeout=0.5)

    deadline = time.monotonic() + 10
    while not (logs := list((server.home / "workspaces").glob(f"*/state/{session}/logs/execution.jsonl"))) or not logs[0].read_text():
        assert time.monotonic() < deadline, "the call goes on"
        time.sleep(0.05)
    assert "cancelled" in logs[0].read_text()
