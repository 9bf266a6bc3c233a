"""Errors: one form for all, a status that says what to do, and nothing of what is inside."""

import json
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.promises import carries
from tests.served import Served, serving

LIMIT = 10 * 1024 * 1024


def is_standard(answer: httpx.Response) -> bool:
    """Whether an error has the one form that all have."""
    body: dict[str, Any] = answer.json()
    return body["success"] is False and isinstance(body["error"], str) and isinstance(body["code"], str) and "result" not in body


@carries("REST-6")
@pytest.mark.parametrize("path", ["/nothing", "/api/v1", "/api/v2/workspaces", "/api/v1/workspaces/x/y", "/%00", "/..%2f..%2fetc/passwd"])
def test_an_address_that_is_not_there_is_404(client: httpx.Client, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert is_standard(answer)


@carries("REST-6")
@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/healthz", "GET"), ("DELETE", "/api/v1/me", "GET"), ("PUT", "/api/v1/workspaces/x/tools", "GET, POST")],
)
def test_a_method_that_an_address_does_not_take_is_405_and_says_which_it_does(
    client: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = client.request(method, path)

    assert (answer.status_code, answer.json()["code"], answer.headers["allow"]) == (405, "METHOD_NOT_ALLOWED", allowed)
    assert is_standard(answer)


NOT_JSON = {
    "nothing": b"",
    "half": b'{"tool": "ls", "args": {',
    "malformed UTF-8": b'{"tool": "ls", "args": {"path": "\xff\xfe"}}',
    "a lone surrogate": b'{"tool": "ls", "args": {"path": "\\ud800"}}',
    "not a number": b'{"tool": "ls", "args": {"limit": NaN}}',
    "too deep": b'{"tool": "ls", "args": {"path": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "NUL": b"\x00",
    "a form": b"tool=ls&args={}",
}


@carries("REST-6", "REST-7")
@pytest.mark.parametrize("data", NOT_JSON.values(), ids=NOT_JSON)
def test_a_body_that_is_not_json_is_400_at_every_address(server: Served, client: httpx.Client, data: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    for path in (server.tools, "/api/v1/workspaces", server.tools.replace("/tools", "/sessions")):
        answer = client.post(path, content=data, headers=headers)

        assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR"), (path, answer.text)
        assert is_standard(answer)


@pytest.mark.parametrize("depth", [50, 200, 500, 900, 1000])
@pytest.mark.parametrize("tool", ["write", "fs.write", "ls"])
def test_deep_json_is_done_or_refused_but_never_a_fault(server: Served, client: httpx.Client, tool: str, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    body = f'{{"tool": "{tool}", "args": {{"path": "/deep-{depth}.json", "content": {deep}, "overwrite": true}}}}'

    answer = client.post(server.tools, content=body.encode())

    assert answer.status_code in (200, 400, 404), answer.text


@carries("REST-6")
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json; charset=\xff", "json"]
)
def test_another_content_type_is_400_or_taken_for_json(server: Served, client: httpx.Client, kind: str) -> None:
    headers = {b"Content-Type": kind.encode("latin-1")}

    made = client.post("/api/v1/workspaces", content=b'{"name": "x", "root": "/"', headers=headers)
    called = client.post(server.tools, content=b'{"tool": "ls", "args": {}}', headers=headers)

    assert made.status_code == 400
    assert is_standard(made)
    assert called.status_code == 200


@carries("REST-7")
@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "limit=-1", "limit=1e3", "limit=99999999999999999999999"])
def test_a_query_that_does_not_fit_is_400_and_names_the_field(server: Served, client: httpx.Client, query: str) -> None:
    answer = client.get(f"/api/v1/workspaces/{server.workspace_id}/sessions?{query}")

    assert (answer.status_code, set(answer.json()["fields"])) == (400, {"limit"})


@carries("REST-8")
def test_a_request_that_says_it_is_too_long_is_413(server: Served, client: httpx.Client) -> None:
    answer = client.post(server.tools, content=b"x" * (LIMIT + 1))

    assert (answer.status_code, answer.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert is_standard(answer)


@carries("REST-8")
@pytest.mark.parametrize("path", ["tools", "sessions"])
def test_a_request_that_is_sent_in_pieces_and_too_long_is_413(server: Served, client: httpx.Client, path: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(LIMIT // 2**20 + 2):
            yield b"x" * 2**20

    answer = client.post(f"/api/v1/workspaces/{server.workspace_id}/{path}", content=pieces())

    assert (answer.status_code, answer.json()["code"]) == (413, "PAYLOAD_TOO_LARGE")


@carries("REST-8")
def test_a_length_that_is_a_lie_is_answered_without_waiting_for_it(server: Served) -> None:
    host, port = server.base.removeprefix("http://").split(":")
    head = (
        f"POST {server.tools} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.told['token']}\r\nContent-Length: {10**15}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head.encode())

        answer = connection.recv(65536)

    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_request_of_just_the_longest_length_is_taken(server: Served, client: httpx.Client) -> None:
    body = json.dumps({"tool": "read", "args": {"path": ""}}).encode()
    body = body.replace(b'""', b'"' + b"x" * (LIMIT - len(body)) + b'"')

    answer = client.post(server.tools, content=body)

    assert len(body) == LIMIT
    assert answer.status_code == 400


@carries("REST-9")
def test_a_locked_database_is_503_and_works_again_when_it_is_free(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        locking = sqlite3.connect(own.home / "holdfast.db", isolation_level=None)
        locking.execute("BEGIN EXCLUSIVE")

        began = time.monotonic()
        answer = own.call("write", path="/a.md", content="x")
        ready = own.client(None).get("/readyz")
        seconds = time.monotonic() - began
        alive = own.client(None).get("/healthz")
        locking.execute("ROLLBACK")
        locking.close()
        again = own.call("write", path="/a.md", content="x")

    for busy in (answer, ready):
        assert (busy.status_code, busy.json()["code"], busy.headers["retry-after"]) == (503, "BUSY", "1")
        assert is_standard(busy)
    assert seconds < 30
    assert alive.status_code == 200
    assert again.status_code == 200, again.text
    assert not (own.project / "a.md").is_dir()


@carries("REST-11")
def test_a_fault_is_500_and_says_only_where_the_log_tells_of_it(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        client = own.client()
        breaking = sqlite3.connect(own.home / "holdfast.db")
        for table in ("approvals", "questions", "events", "sessions"):
            breaking.execute(f"DROP TABLE {table}")
        breaking.commit()
        breaking.close()

        answer = client.get(f"/api/v1/workspaces/{own.workspace_id}/sessions")

        deadline = time.monotonic() + 10
        while answer.headers["x-request-id"] not in own.log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        log = own.log.read_text()
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")
    assert is_standard(answer)
    assert not [word for word in ("sqlite", "table", "Traceback", ".py", "sessions") if word in answer.text.casefold()]
    assert answer.headers["x-request-id"] in answer.json()["error"]
    assert answer.headers["x-request-id"] in log
    assert "sessions" in log


def test_a_folder_that_is_gone_is_a_clear_error(server: Served, client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    made = client.post("/api/v1/workspaces", json={"name": "gone", "root": str(tmp_path / "gone")}).json()
    shutil.rmtree(tmp_path / "gone")

    answer = client.post(f"/api/v1/workspaces/{made['id']}/tools", json={"tool": "ls", "args": {}})

    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


def test_many_at_once_are_all_answered(server: Served) -> None:
    statuses: list[int] = []

    def work() -> None:
        with httpx.Client(base_url=server.base, headers={"Authorization": f"Bearer {server.told['token']}"}, timeout=60) as client:
            for _ in range(10):
                arguments = {"path": f"/many/{uuid4()}", "content": "x"}
                statuses.append(client.post(server.tools, json={"tool": "write", "args": arguments}).status_code)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert statuses == [200] * 80
