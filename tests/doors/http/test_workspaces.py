"""Workspaces by their addresses, and who one is."""

from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.promises import carries
from tests.served import Served


@carries("REST-20")
def test_the_local_user_is_told_who_they_are(either: Served) -> None:
    assert either.client().get("/api/v1/me").json()["email"] == "local@localhost"


@carries("REST-20")
def test_a_workspace_is_made_used_renamed_and_removed(either: Served) -> None:
    client = either.client()
    made = client.post("/api/v1/workspaces", json={"name": "Mine"})
    address = f"/api/v1/workspaces/{made.json()['id']}"

    written = client.post(f"{address}/tools", json={"tool": "write", "args": {"path": "/a.md", "content": "x"}})
    renamed = client.patch(address, json={"name": "Ours"}).json()
    listed = [each["name"] for each in client.get("/api/v1/workspaces").json()]
    removed = client.delete(address)
    after = [client.get(address), client.post(f"{address}/tools", json={"tool": "ls", "args": {}}), client.delete(address)]

    assert (made.status_code, made.json()["name"], written.status_code) == (201, "Mine", 200)
    assert (renamed["id"], renamed["name"], "Ours" in listed) == (made.json()["id"], "Ours", True)
    assert (removed.status_code, [answer.status_code for answer in after]) == (204, [403, 403, 403])
    assert (Path(made.json()["root"]) / "a.md").read_text() == "x"


@carries("REST-20")
def test_the_local_user_may_choose_the_folder(server: Served, client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "seen.md").write_text("seen")

    made = client.post("/api/v1/workspaces", json={"name": "chosen", "root": str(tmp_path)}).json()
    read = client.post(f"/api/v1/workspaces/{made['id']}/tools", json={"tool": "read", "args": {"path": "/seen.md"}})

    assert read.json()["result"]["content"] == "seen"


@carries("REST-20")
@pytest.mark.parametrize("root", ["/etc", "relative", "", "/nowhere/at/all", "/dev/null"])
async def test_nobody_else_may_choose_a_folder(server: Served, root: str) -> None:
    other = server.client(server.token(await server.user(f"{uuid4()}@example.org", member=False)))

    answer = other.post("/api/v1/workspaces", json={"name": "x", "root": root})

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


@carries("REST-20")
@pytest.mark.parametrize("root", ["relative", "", "/nowhere/at/all", "/dev/null", "/\0"])
def test_what_is_no_folder_is_400(client: httpx.Client, root: str) -> None:
    answer = client.post("/api/v1/workspaces", json={"name": "x", "root": root})

    assert (answer.status_code, set(answer.json()["fields"])) == (400, {"root"})


@carries("REST-20")
async def test_a_member_may_look_but_not_rename_or_remove(server: Served) -> None:
    member = server.client(server.token(await server.user(f"{uuid4()}@example.org")))
    address = f"/api/v1/workspaces/{server.workspace_id}"

    answers = [member.get(address), member.patch(address, json={"name": "x"}), member.delete(address)]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert server.call("ls").status_code == 200


@carries("REST-20", "REST-7")
@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "x" * 201}, {"name": 7}, {"name": "x", "colour": "red"}])
def test_a_workspace_that_does_not_fit_is_400(client: httpx.Client, body: dict[str, object]) -> None:
    answer = client.post("/api/v1/workspaces", json=body)

    assert (answer.status_code, len(answer.json()["fields"])) == (400, 1)


@carries("REST-20")
def test_names_may_have_any_characters(either: Served) -> None:
    for name in ("ü 漢字 🎉", "a\0b", "<script>", "'; DROP TABLE users; --"):
        answer = either.client().post("/api/v1/workspaces", json={"name": name})

        assert answer.status_code == 201
        assert answer.json()["name"] == name.replace("\0", "\N{REPLACEMENT CHARACTER}")
