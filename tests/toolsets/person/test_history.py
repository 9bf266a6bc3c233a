"""history, diff, restore, undelete, and the rest of what a person does with the memory of files"""

import base64

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256

VERSION = {
    *("version_id", "number", "kind", "state", "path", "content_kind", "hash", "size", "author", "session_id", "call_id", "created_at"),
}
PERSONS = {"history", "diff", "restore", "undelete", "list_deleted", "describe_file", "version_content"}


async def three_versions(desk: Desk) -> tuple[str, list[str]]:
    """A file, and the ids of its versions, the oldest first."""
    first = await done(desk, "write", path="/a.md", content="one\n")
    second = await done(desk, "edit", path="/a.md", old_string="one", new_string="two")
    third = await done(desk, "write", path="/a.md", content="three\n", overwrite=True)
    return first["file_id"], [one["version_id"] for one in (first, second, third)]


@carries("PERSON-1")
async def test_versions_are_listed_with_the_newest_first(desk: Desk) -> None:
    file_id, ids = await three_versions(desk)

    said = await done(desk, "history", file_id=file_id)

    assert (said["file_id"], said["path"]) == (file_id, "/a.md")
    assert all(version.keys() == VERSION for version in said["versions"])
    assert [(one["version_id"], one["number"], one["kind"], one["hash"], one["size"]) for one in said["versions"]] == [
        (ids[2], 3, "write", sha256("three\n"), 6),
        (ids[1], 2, "edit", sha256("two\n"), 4),
        (ids[0], 1, "write", sha256("one\n"), 4),
    ]


@carries("PERSON-2")
async def test_two_versions_are_compared(desk: Desk) -> None:
    file_id, ids = await three_versions(desk)

    latest = await done(desk, "diff", file_id=file_id)
    chosen = await done(desk, "diff", file_id=file_id, from_version=ids[0], to_version=ids[1])
    before = await done(desk, "diff", file_id=file_id, to_version=ids[1])
    first = await done(desk, "diff", file_id=file_id, to_version=ids[0])

    assert (latest["from"], latest["to"]) == (ids[1], ids[2])
    assert "-two\n+three\n" in latest["diff"]
    assert "-one\n+two\n" in chosen["diff"]
    assert before == chosen
    assert first["diff"] == ""


@carries("PERSON-3")
async def test_an_old_version_becomes_the_newest_and_nothing_is_taken_away(desk: Desk) -> None:
    file_id, ids = await three_versions(desk)

    said = await done(desk, "restore", file_id=file_id, version_id=ids[0])

    assert (said["path"], said["file_id"], said["hash"]) == ("/a.md", file_id, sha256("one\n"))
    assert desk.text("a.md") == "one\n"
    versions = (await done(desk, "history", file_id=file_id))["versions"]
    assert [one["version_id"] for one in versions] == [said["version_id"], *reversed(ids)]


@carries("PERSON-3")
async def test_what_somebody_else_wrote_is_kept_when_an_old_version_is_restored(desk: Desk) -> None:
    file_id, ids = await three_versions(desk)
    desk.write("a.md", "theirs\n")

    await done(desk, "restore", file_id=file_id, version_id=ids[1])

    hashes = [one["hash"] for one in (await done(desk, "history", file_id=file_id))["versions"]]
    assert hashes[:2] == [sha256("two\n"), sha256("theirs\n")]


@carries("PERSON-3")
async def test_json_is_json_again_when_it_is_restored(desk: Desk) -> None:
    first = await done(desk, "write", path="/a.canvas", content={"a": 1}, file_type="canvas")
    await done(desk, "write", path="/a.canvas", content="text", overwrite=True)

    await done(desk, "restore", file_id=first["file_id"], version_id=first["version_id"])

    assert (await done(desk, "read", path="/a.canvas"))["content"] == {"a": 1}


@carries("PERSON-4")
async def test_a_removed_file_comes_back_with_its_id_and_versions(desk: Desk) -> None:
    file_id, _ = await three_versions(desk)
    await done(desk, "rm", path="/a.md")

    said = await done(desk, "undelete", file_id=file_id)

    assert (said["path"], said["file_id"], desk.text("a.md")) == ("/a.md", file_id, "three\n")
    assert (await done(desk, "file_info", path="/a.md"))["synced"] is True
    assert len((await done(desk, "history", file_id=file_id))["versions"]) == 5


@carries("PERSON-4")
async def test_a_removed_folder_comes_back(desk: Desk) -> None:
    made = await done(desk, "mkdir", path="/docs")
    await done(desk, "rm", path="/docs")

    await done(desk, "undelete", file_id=made["file_id"])

    assert (desk.root / "docs").is_dir()


@carries("PERSON-4")
@pytest.mark.parametrize("is_synced", [True, False])
async def test_onto_a_taken_path_nothing_comes_back(desk: Desk, is_synced: bool) -> None:
    file_id, _ = await three_versions(desk)
    await done(desk, "rm", path="/a.md")
    if is_synced:
        await done(desk, "write", path="/a.md", content="new")
    else:
        desk.write("a.md", "new")

    await refused(desk, 409, "undelete", file_id=file_id)

    assert desk.text("a.md") == "new"


@carries("PERSON-4")
async def test_what_is_not_deleted_cannot_be_undeleted_and_what_is_cannot_be_restored(desk: Desk) -> None:
    file_id, ids = await three_versions(desk)

    await refused(desk, 409, "undelete", file_id=file_id)
    await done(desk, "rm", path="/a.md")
    await refused(desk, 404, "restore", file_id=file_id, version_id=ids[0])


@carries("PERSON-5")
async def test_unknown_files_and_versions_are_not_found(desk: Desk) -> None:
    file_id, _ = await three_versions(desk)
    other = await done(desk, "write", path="/b.md", content="b")
    foreign = other["version_id"]

    for tool in ("history", "diff", "undelete", "describe_file", "version_content"):
        await refused(desk, 404, tool, file_id="01940000-0000-7000-8000-000000000000")
        await refused(desk, 404, tool, file_id="nonsense")
    await refused(desk, 404, "restore", file_id=file_id, version_id=foreign)
    await refused(desk, 404, "version_content", file_id=file_id, version_id=foreign)
    await refused(desk, 404, "diff", file_id=file_id, from_version=foreign)
    await refused(desk, 404, "diff", file_id=file_id, to_version=foreign)

    assert desk.text("a.md") == "three\n"


@carries("PERSON-6")
async def test_no_model_sees_these_tools(desk: Desk) -> None:
    names = set(desk.holdfast.platform.registry.names())

    assert names >= PERSONS
    assert not {tool.name for tool in desk.holdfast.tools()} & PERSONS


@carries("PERSON-7")
async def test_deleted_files_are_listed_with_the_latest_first(desk: Desk) -> None:
    ids = [(await done(desk, "write", path=f"/{name}.md", content=name))["file_id"] for name in ("a", "b", "c")]
    for name in ("b", "a"):
        await done(desk, "rm", path=f"/{name}.md")

    said = await done(desk, "list_deleted")

    assert [(file["id"], file["path"], file["synced"]) for file in said["files"]] == [(ids[0], "/a.md", False), (ids[1], "/b.md", False)]


@carries("PERSON-7")
async def test_a_file_is_described_by_its_id_wherever_it_went(desk: Desk) -> None:
    file_id, _ = await three_versions(desk)
    await done(desk, "mkdir", path="/docs")
    await done(desk, "mv", source="/a.md", destination="/docs/")

    said = await done(desk, "describe_file", file_id=file_id)

    assert (said["id"], said["path"], said["synced"], said["size"], said["file_type"]) == (file_id, "/docs/a.md", True, 6, "document")


@carries("PERSON-7")
async def test_the_bytes_of_a_version_are_exact(desk: Desk) -> None:
    data = bytes(range(256))
    desk.write("a.bin", data)
    touched = await done(desk, "touch", path="/a.bin")
    file_id, ids = await three_versions(desk)

    binary = await done(desk, "version_content", file_id=touched["file_id"])
    first = await done(desk, "version_content", file_id=file_id, version_id=ids[0])
    newest = await done(desk, "version_content", file_id=file_id)

    assert (base64.b64decode(binary["base64"]), binary["hash"]) == (data, sha256(data))
    assert [base64.b64decode(one["base64"]) for one in (first, newest)] == [b"one\n", b"three\n"]
    assert (newest["version_id"], newest["path"]) == (ids[2], "/a.md")
