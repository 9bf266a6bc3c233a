"""A server on somebody's own machine: no web page and no name that leads there can use it."""

from pathlib import Path

import httpx
import pytest

from tests.promises import carries
from tests.served import Served, serving

STRANGE_HOSTS = [
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "localhost:3000@evil.example",
    "localhost.",
    "0.0.0.0",
    "169.254.169.254",
    "127.0.0.2",
    "[::ffff:127.0.0.1]",
    "localhost:3000:80",
    "localhost:x",
    "localhost, evil.example",
    "",
]


@carries("AUTH-9")
@pytest.mark.parametrize("host", STRANGE_HOSTS)
def test_a_host_that_is_not_ours_is_403_with_the_best_of_tokens(client: httpx.Client, host: str) -> None:
    answers = [client.get(path, headers={"Host": host}) for path in ("/", "/healthz", "/api/v1/me", "/docs")]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(403, "FORBIDDEN")}


@carries("AUTH-9")
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:3000", "127.0.0.1", "127.0.0.1:1", "[::1]:3000", "[::1]"])
def test_a_host_that_is_ours_is_answered(client: httpx.Client, host: str) -> None:
    assert client.get("/api/v1/me", headers={"Host": host}).status_code == 200


@carries("AUTH-9")
def test_more_hosts_can_be_ours(tmp_path: Path) -> None:
    with serving(tmp_path, environ={"HOLDFAST_ALLOWED_HOSTS": "holdfast.example,Other.example:8443"}) as own:
        client = own.client()
        hosts = ("holdfast.example", "holdfast.example:9999", "other.example:8443", "other.example:1", "evil.example")

        statuses = [client.get("/api/v1/me", headers={"Host": host}).status_code for host in hosts]

    assert statuses == [200, 200, 200, 403, 403]


STRANGE_ORIGINS = ["http://evil.example", "null", "", "https://localhost:1", "http://[", "file://", "http://127.0.0.1.evil.example:{port}"]


@carries("AUTH-10")
@pytest.mark.parametrize("origin", [*STRANGE_ORIGINS, None])
@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT"])
def test_an_unsafe_request_with_a_cookie_from_another_page_is_403(
    server: Served, nobody: httpx.Client, method: str, origin: str | None
) -> None:
    headers = {"Cookie": f"access_token={server.told['token']}"}
    if origin is not None:
        headers["Origin"] = origin.replace("{port}", server.base.rpartition(":")[2])

    answer = nobody.request(method, server.tools, json={"tool": "ls", "args": {}}, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


@carries("AUTH-10")
def test_an_unsafe_request_with_a_cookie_from_our_own_page_is_taken(server: Served, nobody: httpx.Client) -> None:
    headers = {"Cookie": f"access_token={server.told['token']}", "Origin": server.base}

    assert nobody.post(server.tools, json={"tool": "ls", "args": {}}, headers=headers).status_code == 200


@carries("AUTH-10")
def test_a_bearer_token_needs_no_origin(server: Served, client: httpx.Client) -> None:
    answer = client.post(server.tools, json={"tool": "ls", "args": {}}, headers={"Origin": "http://evil.example"})

    assert answer.status_code == 200


@carries("AUTH-10")
def test_no_other_page_may_read_an_answer(client: httpx.Client) -> None:
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}

    answers = [client.get("/api/v1/me", headers=asked), client.options("/api/v1/me", headers=asked)]

    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


@carries("AUTH-11")
def test_the_one_time_token_becomes_a_cookie_once_and_leaves_the_address(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        once = own.client(None).get(own.told["url"])
        twice = own.client(None).get(own.told["url"])
        me = own.client(None).get("/api/v1/me", headers={"Cookie": once.headers["set-cookie"].partition(";")[0]})
        log = own.log.read_text()

    for answer in (once, twice):
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    flags = {flag.strip().casefold() for flag in once.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert not [flag for flag in flags if flag.startswith("domain")]
    assert "set-cookie" not in twice.headers
    assert me.status_code == 200
    assert own.told["url"].partition("token=")[2] not in log


@carries("AUTH-11")
def test_a_one_time_token_that_is_wrong_gives_nothing(nobody: httpx.Client) -> None:
    answer = nobody.get("/?token=wrong")

    assert (answer.status_code, "set-cookie" in answer.headers) == (303, False)


@carries("AUTH-3")
def test_the_token_of_a_server_is_good_only_while_that_one_runs(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        old = first.told["token"]
    with serving(tmp_path) as second:
        again = second.client(old).get("/api/v1/me")
        new = second.client().get("/api/v1/me")

    assert (again.status_code, new.status_code) == (401, 200)
    assert first.workspace_id == second.workspace_id
