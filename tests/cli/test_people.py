"""holdfast user, token and workspace: what an operator does beside a running server."""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.promises import carries
from tests.served import Served, environment, holdfast, serving
from tests.store.conftest import postgres_server
from tests.store.postgres import fresh_database

__all__ = ["postgres_server"]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with ExitStack() as stack:
        url = None
        if request.param == "postgres":
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgres_server")))
        yield stack.enter_context(serving(tmp_path_factory.mktemp(request.param), database_url=url))


def claims(token: str) -> dict[str, Any]:
    return json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))


@carries("SERVE-4", "AUTH-5", "AUTH-7", "AUTH-8")
def test_a_user_gets_a_token_a_workspace_and_a_member_beside_a_running_server(server: Served, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    anna, ben = f"anna-{uuid4()}@example.org", f"ben-{uuid4()}@example.org"
    for email in (anna, ben):
        assert email in server.run("user", "add", email, "--password-stdin", stdin="correct horse\n").stdout

    made = json.loads(server.run("workspace", "create", str(tmp_path / "docs"), "--name", "Docs", "--owner", anna, "--json").stdout)
    server.run("workspace", "member", "add", made["id"], ben)
    tokens = {email: server.run("token", "create", "--user", email).stdout.strip() for email in (anna, ben)}
    little = server.run("token", "create", "--user", ben, "--scope", "tools:other", "--ttl", "2h").stdout.strip()

    address = f"/api/v1/workspaces/{made['id']}/tools"
    write = {"tool": "write", "args": {"path": "/a.md", "content": "x", "overwrite": True}}
    assert [server.client(token).post(address, json=write).status_code for token in (*tokens.values(), little)] == [200, 200, 403]
    assert (made["name"], made["root"]) == ("Docs", str(tmp_path / "docs"))
    assert claims(tokens[anna])["exp"] - claims(tokens[anna])["iat"] == 15 * 60
    assert claims(little)["exp"] - claims(little)["iat"] == 2 * 3600
    assert (tmp_path / "docs" / "a.md").read_text() == "x"


@carries("SERVE-4", "SERVE-10")
def test_a_workspace_has_the_mounts_that_it_was_made_with(server: Served, tmp_path: Path) -> None:
    for name in ("docs", "fixed"):
        (tmp_path / name).mkdir()
    (tmp_path / "fixed" / "seen.txt").write_text("seen")
    mount = f"fixed={tmp_path}/fixed:ro"
    made = json.loads(server.run("workspace", "create", str(tmp_path / "docs"), "--mount", mount, "--json").stdout)
    address, client = f"/api/v1/workspaces/{made['id']}/tools", server.client()

    read = client.post(address, json={"tool": "fs.read", "args": {"path": "@fixed/seen.txt"}}).json()
    written = client.post(address, json={"tool": "fs.write", "args": {"path": "@fixed/new.txt", "content": "x"}}).json()

    assert (read["success"], written["success"]) == (True, False)


@carries("SERVE-4")
def test_what_cannot_be_done_is_told(server: Served, tmp_path: Path) -> None:
    email = f"{uuid4()}@example.org"
    server.run("user", "add", email, "--password-stdin", stdin="correct horse")
    failing = {
        ("user", "add", email.upper(), "--password-stdin"): "already a user",
        ("user", "add", "nobody", "--password-stdin"): "is not an address",
        ("token", "create", "--user", "nobody@example.org"): "there is no user nobody@example.org",
        ("token", "create", "--user", email, "--ttl", "soon"): "--ttl soon",
        ("workspace", "create", str(tmp_path / "nowhere")): "there is no folder",
        ("workspace", "create", str(tmp_path), "--owner", "nobody@example.org"): "there is no user",
        ("workspace", "member", "add", str(uuid4()), email): "there is no such workspace",
        ("workspace", "member", "add", server.workspace_id, "nobody@example.org"): "there is no user",
    }

    for words, said in failing.items():
        done = server.run(*words, stdin="correct horse", check=False)

        assert (done.returncode, said in done.stderr) == (64, True), (words, done.stderr)
        assert "Traceback" not in done.stderr


@carries("SERVE-4")
def test_a_short_password_is_told_and_never_shown(tmp_path: Path) -> None:
    done = holdfast("user", "add", "a@example.org", "--password-stdin", environ=environment(tmp_path), stdin="planted", check=False)

    assert (done.returncode, "8 to 1024 characters" in done.stderr, "planted" in done.stderr) == (64, True, False)


@carries("AUTH-8")
def test_minutes_can_be_set_and_a_short_secret_is_refused(tmp_path: Path) -> None:
    environ = environment(tmp_path, HOLDFAST_ACCESS_TOKEN_MINUTES="3")
    holdfast("user", "add", "a@example.org", "--password-stdin", environ=environ, stdin="correct horse")

    token = holdfast("token", "create", "--user", "a@example.org", environ=environ).stdout
    short = {**environ, "HOLDFAST_JWT_SECRET": "short"}
    refused = holdfast("token", "create", "--user", "a@example.org", environ=short, check=False)

    assert claims(token)["exp"] - claims(token)["iat"] == 180
    assert (refused.returncode, "too short" in refused.stderr) == (64, True)
