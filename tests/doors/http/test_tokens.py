"""Who somebody is, and what they may do where."""

import base64
import json
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from holdfast.store import people
from tests.promises import carries
from tests.served import SECRET, Served

FORBIDDEN = {"success": False, "error": "Access forbidden: User is not a member of this workspace", "code": "FORBIDDEN"}
Encoder: Any = jwt.PyJWT()


def signed(claims: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the secret is short for this algorithm
        return Encoder.encode(claims, secret, algorithm=algorithm)


def good(server: Served) -> dict[str, Any]:
    """The claims of the server's own token, for every server."""
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(server.told["token"].split(".")[1] + "=="))
    return {name: value for name, value in claims.items() if name != "server"}


def unsigned(claims: dict[str, Any], algorithm: str) -> str:
    head, body = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": algorithm}, claims))
    return f"{head}.{body}."


def test_the_claims_that_the_bad_tokens_are_made_of_are_good(server: Served) -> None:
    assert server.client(signed(good(server))).get("/api/v1/me").status_code == 200


BAD: dict[str, Callable[[dict[str, Any]], str]] = {
    "another secret": lambda claims: signed(claims, "another secret that is long enough to sign with"),
    "expired": lambda claims: signed({**claims, "exp": int(time.time()) - 1}),
    "no expiry": lambda claims: signed({name: value for name, value in claims.items() if name != "exp"}),
    "no subject": lambda claims: signed({name: value for name, value in claims.items() if name != "sub"}),
    "not yet": lambda claims: signed({**claims, "nbf": int(time.time()) + 600}),
    "an expiry that is no number": lambda claims: signed({**claims, "exp": "soon"}),
    "an endless expiry": lambda claims: signed({**claims, "exp": float("inf")}),
    "another algorithm": lambda claims: signed(claims, algorithm="HS512"),
    "alg none": lambda claims: unsigned(claims, "none"),
    "alg None": lambda claims: unsigned(claims, "None"),
    "no signature": lambda claims: signed(claims).rpartition(".")[0] + ".",
    "another body": lambda claims: ".".join(
        (signed(claims).split(".")[0], signed({**claims, "sub": "x"}).split(".")[1], signed(claims).split(".")[2])
    ),
    "another server": lambda claims: signed({**claims, "server": "0" * 32}),
    "a user who is not there": lambda claims: signed({**claims, "sub": str(uuid4())}),
    "a user with NUL": lambda claims: signed({**claims, "sub": "a\0b"}),
    "garbage": lambda _: "garbage",
    "dots": lambda _: "..",
    "very long": lambda _: "e" * 7000,
}


@carries("AUTH-2", "AUTH-3")
@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_a_token_that_is_not_good_is_401_everywhere(either: Served, make: Callable[[dict[str, Any]], str]) -> None:
    client = either.client(make(good(either)))
    here = f"/api/v1/workspaces/{either.workspace_id}"

    answers = [
        client.post(f"{here}/tools", json={"tool": "ls", "args": {}}),
        client.get("/api/v1/me"),
        client.get("/api/v1/workspaces"),
        client.post("/api/v1/workspaces", json={"name": "x"}),
        client.get(here),
        client.get(f"{here}/tools"),
        client.get(f"{here}/files"),
        client.get(f"{here}/sessions"),
        client.get(f"{here}/questions"),
        client.delete(here),
    ]

    assert [answer.status_code for answer in answers] == [401] * len(answers)
    assert {answer.json()["code"] for answer in answers} == {"INVALID_TOKEN"}
    assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)


@carries("AUTH-2")
def test_no_token_is_401(server: Served, nobody: httpx.Client) -> None:
    answer = nobody.post(server.tools, json={"tool": "ls", "args": {}})

    assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_TOKEN")
    assert answer.json()["error"].startswith("No valid token found in Authorization header or cookie")


@carries("AUTH-2")
def test_a_token_that_was_good_is_refused_when_its_time_is_over(server: Served) -> None:
    client = server.client(signed({**good(server), "exp": int(time.time()) + 2}))

    first = client.get("/api/v1/me")
    time.sleep(2.1)
    second = client.get("/api/v1/me")

    assert (first.status_code, second.status_code) == (200, 401)


@carries("AUTH-1")
def test_the_cookie_is_good_where_there_is_no_header(server: Served, nobody: httpx.Client) -> None:
    answer = nobody.get("/api/v1/me", headers={"Cookie": f"theme=dark; access_token={server.told['token']}"})

    assert answer.status_code == 200


@carries("AUTH-1")
@pytest.mark.parametrize("header", ["Bearer garbage", "Bearer", "Basic dXNlcjpwYXNz", "garbage", ""])
def test_a_bad_header_is_401_even_beside_a_good_cookie(server: Served, nobody: httpx.Client, header: str) -> None:
    headers = {"Authorization": header, "Cookie": f"access_token={server.told['token']}"}

    answer = nobody.get("/api/v1/me", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_TOKEN")


@carries("AUTH-1")
def test_the_header_goes_before_the_cookie(server: Served, nobody: httpx.Client) -> None:
    headers = {"Authorization": f"bearer {server.told['token']}", "Cookie": "access_token=garbage"}

    assert nobody.get("/api/v1/me", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "cookie", [b"access_token=\xff", b"access_token", b"=;=;", b'access_token="', b"a=b; access_token=x; access_token=y"]
)
def test_a_cookie_that_cannot_be_read_is_401(nobody: httpx.Client, cookie: bytes) -> None:
    assert nobody.get("/api/v1/me", headers={b"Cookie": cookie}).status_code == 401


def everywhere(client: httpx.Client, workspace_id: str) -> list[httpx.Response]:
    here = f"/api/v1/workspaces/{workspace_id}"
    return [
        client.post(f"{here}/tools", json={"tool": "ls", "args": {}}),
        client.post(f"{here}/tools", json={"tool": "no such tool", "args": {}}),
        client.post(f"{here}/tools", content=b"no json"),
        client.get(here),
        client.patch(here, json={"name": "x"}),
        client.delete(here),
        client.get(f"{here}/tools"),
        client.get(f"{here}/files"),
        client.get(f"{here}/files/{uuid4()}"),
        client.get(f"{here}/files/{uuid4()}/content"),
        client.post(f"{here}/files/{uuid4()}/undelete"),
        client.get(f"{here}/sessions"),
        client.post(f"{here}/sessions", json={}),
        client.get(f"{here}/sessions/x/events"),
        client.get(f"{here}/questions"),
        client.post(f"{here}/questions/x/answer", json={"answers": {}}),
    ]


@carries("AUTH-4", "REST-4")
async def test_a_workspace_of_others_and_one_that_is_not_there_are_the_same_403(either: Served) -> None:
    stranger = either.client(either.token(await either.user(f"{uuid4()}@example.org", member=False)))

    foreign = everywhere(stranger, either.workspace_id)
    missing = [each for id in (str(uuid4()), "x", "%00", "%0a", "'--") for each in everywhere(stranger, id)]

    assert {(answer.status_code, json.dumps(answer.json())) for answer in (*foreign, *missing)} == {(403, json.dumps(FORBIDDEN))}


@carries("AUTH-4")
async def test_the_workspaces_of_others_are_not_listed(server: Served) -> None:
    stranger = server.client(server.token(await server.user(f"{uuid4()}@example.org", member=False)))

    assert stranger.get("/api/v1/workspaces").json() == []


@carries("AUTH-4")
async def test_a_member_who_was_removed_is_refused_at_once(either: Served) -> None:
    user = await either.user(f"{uuid4()}@example.org")
    client = either.client(either.token(user))
    before = client.post(either.tools, json={"tool": "ls", "args": {}})
    database = await either.database()
    await people.remove_member(database, either.workspace_id, user)
    await database.close()

    after = client.post(either.tools, json={"tool": "ls", "args": {}})

    assert (before.status_code, after.status_code, after.json()) == (200, 403, FORBIDDEN)


@carries("AUTH-6")
async def test_a_user_who_was_shut_out_is_401_at_once_and_everywhere(either: Served) -> None:
    user = await either.user(f"{uuid4()}@example.org", role="owner")
    client = either.client(either.token(user))
    before = client.post(either.tools, json={"tool": "ls", "args": {}})
    database = await either.database()
    await people.set_disabled(database, user, disabled=True)
    await database.close()

    after = [*everywhere(client, either.workspace_id), client.get("/api/v1/me"), client.get("/api/v1/workspaces")]
    after.append(client.post("/api/v1/workspaces", json={"name": "x"}))

    assert before.status_code == 200
    assert {(answer.status_code, answer.json()["code"]) for answer in after} == {(401, "INVALID_TOKEN")}


CASES: list[tuple[str, Sequence[str], Sequence[str] | None, bool]] = [
    ("member", ["tools:dangerous"], None, True),
    ("member", ["tools:dangerous"], ["tools:dangerous"], True),
    ("member", ["tools:dangerous"], [], False),
    ("member", ["tools:dangerous"], ["tools:other"], False),
    ("member", [], None, False),
    ("member", [], ["tools:dangerous"], False),
    ("owner", [], None, True),
    ("owner", [], [], False),
]


@carries("AUTH-5", "AUTH-7", "REST-4", "REST-5")
@pytest.mark.parametrize(("role", "theirs", "tokens", "may"), CASES)
async def test_dangerous_tools_need_the_scope_of_the_token_and_of_the_member(
    server: Served, role: str, theirs: Sequence[str], tokens: Sequence[str] | None, may: bool
) -> None:
    user = await server.user(f"{uuid4()}@example.org", role=role, scopes=theirs)
    client = server.client(server.token(user, scopes=tokens))
    path = f"{uuid4()}.md"

    safe = client.post(server.tools, json={"tool": "ls", "args": {}})
    calls = {"write": f"/{path}", "fs.write": f"@project/fs-{path}", "file_write": f"core-{path}"}
    dangerous = [client.post(server.tools, json={"tool": tool, "args": {"path": at, "content": "x"}}) for tool, at in calls.items()]
    offered = {each["name"] for each in client.get(server.tools).json()}

    assert safe.status_code == 200
    assert [answer.status_code for answer in dangerous] == [200 if may else 403] * 3
    assert may or {answer.json()["code"] for answer in dangerous} == {"FORBIDDEN"}
    assert [(server.project / name).exists() for name in (path, f"fs-{path}", f"core-{path}")] == [may] * 3
    assert "ls" in offered
    assert ("write" in offered) is may


@carries("AUTH-7")
async def test_restoring_needs_the_scope_too(server: Served) -> None:
    path = f"/{uuid4()}.md"
    made = server.call("write", path=path, content="x").json()["result"]
    server.call("rm", path=path)
    client = server.client(server.token(await server.user(f"{uuid4()}@example.org", scopes=[])))
    here = f"/api/v1/workspaces/{server.workspace_id}/files/{made['file_id']}"

    answers = [client.post(f"{here}/restore", json={"version_id": made["version_id"]}), client.post(f"{here}/undelete")]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert not (server.project / path.strip("/")).exists()
