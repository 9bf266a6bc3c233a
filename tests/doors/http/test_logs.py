"""What every answer has in its head, what every request leaves in the log, and whether the server is well."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast.accounts.tokens import Tokens
from tests.promises import carries
from tests.served import HOLDFAST, SECRET, Served, environment, serving


def lines(server: Served) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]


def line_of(server: Served, answer: httpx.Response) -> dict[str, Any]:
    """What the log tells of a request, once it has been written."""
    deadline = time.monotonic() + 10
    while not (found := [each for each in lines(server) if each.get("request_id") == answer.headers["x-request-id"]]):
        assert time.monotonic() < deadline, "nothing was logged"
        time.sleep(0.02)
    assert len(found) == 1
    return found[0]


@carries("REST-13")
@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/api/v1/me", "/api/v1/openapi.json", "/nothing", "/api/v1/workspaces/x/tools"])
def test_every_answer_has_the_security_headers_and_an_id(client: httpx.Client, path: str) -> None:
    first, second = client.get(path), client.get(path)

    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["x-frame-options"] == "DENY"
    assert first.headers["referrer-policy"] == "no-referrer"
    assert first.headers["cache-control"] == "no-store"
    assert "default-src 'self'" in first.headers["content-security-policy"]
    assert "server" not in first.headers
    assert len(first.headers["x-request-id"]) == 16
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


@carries("REST-14")
def test_every_request_leaves_one_json_line(server: Served, client: httpx.Client) -> None:
    good, bad = client.post(server.tools, json={"tool": "ls", "args": {}}), client.get("/nothing?x=1")

    told, refused = line_of(server, good), line_of(server, bad)

    assert (told["event"], told["method"], told["path"], told["status"], told["level"]) == ("request", "POST", server.tools, 200, "info")
    assert (refused["path"], refused["status"]) == ("/nothing", 404)
    assert 0 < told["milliseconds"] < 60_000
    assert told["timestamp"].endswith("Z")


@carries("REST-14")
def test_no_secret_that_was_sent_is_in_the_log(tmp_path: Path) -> None:
    planted = "planted-0123456789"
    jwt = Tokens(SECRET).issue(planted, planted, seconds=60)
    with serving(tmp_path) as own:
        nobody = own.client(None)
        nobody.get(f"/?token={planted}")
        nobody.get(f"/nothing/token={planted}")
        nobody.get("/api/v1/me", headers={"Authorization": f"Bearer {planted}", "Cookie": f"access_token={planted}"})
        nobody.get(f"/nothing/{jwt}", headers={"Authorization": f"Bearer {jwt}"})
        own.call("write", path="/a", content=planted)
        own.call("read", path=planted, token=planted, password=planted)
        last = own.client().get("/api/v1/me")
        line_of(own, last)
        log = own.log.read_text()

    assert planted not in log
    assert jwt not in log
    assert own.told["token"] not in log
    assert SECRET not in log


@carries("REST-14")
def test_a_log_that_nobody_reads_does_not_stop_the_server(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    read, write = os.pipe()
    command = [*HOLDFAST, "serve", str(tmp_path / "project"), "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=write, env=environment(tmp_path / "home"))
    os.close(write)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    base = told["url"].partition("/?")[0]

    with httpx.Client(base_url=base, timeout=30) as client:
        # A pipe takes 64 KiB: these would be over 100.
        statuses = {client.get(f"/{'x' * 1000}").status_code for _ in range(100)}
    process.terminate()

    assert statuses == {404}
    assert process.wait(30) == 0
    os.close(read)
    process.stdout.close()


@carries("REST-15")
def test_health_needs_no_token(nobody: httpx.Client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = nobody.get(path)

        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@carries("REST-15")
def test_readiness_is_that_of_postgresql_too(postgres: Served) -> None:
    assert postgres.client(None).get("/readyz").status_code == 200
