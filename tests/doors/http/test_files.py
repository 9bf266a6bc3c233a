"""The Files API: what the store remembers of a workspace's files."""

import base64
import hashlib
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.promises import carries
from tests.served import Served


@pytest.fixture
def path() -> str:
    return f"/{uuid4()}.txt"


@pytest.fixture
def versions(either: Served, path: str) -> list[dict[str, Any]]:
    """What three writes of one file answered."""
    texts = ("one\n", "two\n", "three\n")
    return [either.call("write", path=path, content=text, overwrite=True).json()["result"] for text in texts]


def files(server: Served, rest: str = "") -> str:
    return f"/api/v1/workspaces/{server.workspace_id}/files{rest}"


@carries("REST-17")
def test_a_folder_is_listed_with_what_the_store_does_not_know(either: Served) -> None:
    folder = str(uuid4())
    either.call("write", path=f"/{folder}/known.md", content="x")
    (either.project / folder / "unknown.md").write_text("x")

    listed = either.client().get(files(either), params={"path": f"/{folder}"}).json()

    assert [(each["name"], each["synced"]) for each in listed["entries"]] == [("known.md", True), ("unknown.md", False)]


@carries("REST-17")
def test_a_file_is_described_by_its_id(either: Served, path: str, versions: list[dict[str, Any]]) -> None:
    told = either.client().get(files(either, f"/{versions[0]['file_id']}")).json()

    assert (told["id"], told["path"], told["synced"], told["size"]) == (versions[0]["file_id"], path, True, 6)


@carries("REST-17")
def test_the_bytes_of_every_version_can_be_had(either: Served, versions: list[dict[str, Any]]) -> None:
    client, file = either.client(), files(either, f"/{versions[0]['file_id']}/content")

    newest = client.get(file)
    each = [client.get(file, params={"version": version["version_id"]}).content for version in versions]

    assert (newest.status_code, newest.content, each) == (200, b"three\n", [b"one\n", b"two\n", b"three\n"])
    assert newest.headers["x-content-sha256"] == hashlib.sha256(b"three\n").hexdigest()
    assert newest.headers["content-type"] == "application/octet-stream"
    assert newest.headers["content-disposition"] == "attachment"


@carries("REST-17")
def test_versions_are_listed_the_newest_first_with_their_authors(either: Served, versions: list[dict[str, Any]]) -> None:
    client = either.client()

    listed = client.get(files(either, f"/{versions[0]['file_id']}/versions")).json()["versions"]

    assert [each["version_id"] for each in listed] == [each["version_id"] for each in reversed(versions)]
    assert {each["author"] for each in listed} == {client.get("/api/v1/me").json()["id"]}


@carries("REST-17")
def test_two_versions_are_compared(either: Served, versions: list[dict[str, Any]]) -> None:
    client, address = either.client(), files(either, f"/{versions[0]['file_id']}/diff")

    last = client.get(address).json()["diff"]
    all_of_it = client.get(address, params={"from": versions[0]["version_id"], "to": versions[2]["version_id"]}).json()["diff"]

    assert ("-two\n+three\n" in last, "-one\n+three\n" in all_of_it) == (True, True)


@carries("REST-17")
def test_an_old_version_becomes_the_newest(either: Served, path: str, versions: list[dict[str, Any]]) -> None:
    client, file = either.client(), files(either, f"/{versions[0]['file_id']}")

    restored = client.post(f"{file}/restore", json={"version_id": versions[0]["version_id"]})

    assert restored.status_code == 200
    assert (either.project / path.strip("/")).read_text() == "one\n"
    assert len(client.get(f"{file}/versions").json()["versions"]) == 4


@carries("REST-17")
def test_a_deleted_file_is_listed_and_comes_back(either: Served, path: str, versions: list[dict[str, Any]]) -> None:
    client, file_id = either.client(), versions[0]["file_id"]
    either.call("rm", path=path)
    deleted = client.get(files(either), params={"deleted": True}).json()["files"]

    undeleted = client.post(files(either, f"/{file_id}/undelete"))

    assert file_id in [each["id"] for each in deleted]
    assert undeleted.status_code == 200
    assert (either.project / path.strip("/")).read_text() == "three\n"
    assert file_id not in [each["id"] for each in client.get(files(either), params={"deleted": True}).json()["files"]]


@carries("REST-17")
def test_undeleting_onto_a_taken_path_is_409(either: Served, path: str, versions: list[dict[str, Any]]) -> None:
    either.call("rm", path=path)
    either.call("write", path=path, content="new\n")

    answer = either.client().post(files(either, f"/{versions[0]['file_id']}/undelete"))

    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")
    assert (either.project / path.strip("/")).read_text() == "new\n"


@carries("REST-17", "REST-6")
@pytest.mark.parametrize("id", ["01a1dd2f-4478-7b81-af54-16500f932c10", "x", "%00", "a b"])
def test_a_file_that_is_not_there_is_404_or_400(either: Served, id: str) -> None:
    client = either.client()
    rest = ("", "/content", "/versions", "/diff")

    answers = [client.get(files(either, f"/{id}{each}")) for each in rest] + [client.post(files(either, f"/{id}/undelete"))]

    assert {answer.status_code for answer in answers} <= {400, 404}
    assert all(answer.json()["success"] is False for answer in answers)


@carries("REST-17")
def test_a_version_of_another_file_is_404(either: Served, versions: list[dict[str, Any]]) -> None:
    other = either.call("write", path=f"/{uuid4()}", content="other").json()["result"]
    client, file = either.client(), files(either, f"/{versions[0]['file_id']}")

    read = client.get(f"{file}/content", params={"version": other["version_id"]})
    restored = client.post(f"{file}/restore", json={"version_id": other["version_id"]})

    assert (read.status_code, restored.status_code) == (404, 404)


@carries("REST-17", "AUTH-4")
def test_the_files_of_another_workspace_are_not_there(either: Served, versions: list[dict[str, Any]]) -> None:
    client = either.client()
    other = client.post("/api/v1/workspaces", json={"name": "other"}).json()["id"]

    answer = client.get(f"/api/v1/workspaces/{other}/files/{versions[0]['file_id']}/content")

    assert answer.status_code == 404


@carries("REST-17")
def test_binary_bytes_come_back_as_they_were(server: Served, client: httpx.Client) -> None:
    data, name = bytes(range(256)), f"{uuid4()}.bin"
    (server.project / name).write_bytes(data)
    made = server.call("touch", path=f"/{name}").json()["result"]
    server.call("write", path=f"/{name}", content="text", overwrite=True)

    oldest = client.get(files(server, f"/{made['file_id']}/versions")).json()["versions"][-1]
    content = client.get(files(server, f"/{made['file_id']}/content"), params={"version": oldest["version_id"]}).content

    assert base64.b64encode(content) == base64.b64encode(data)
