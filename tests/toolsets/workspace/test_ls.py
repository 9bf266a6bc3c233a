"""ls, and how disk and database come together in listings."""

import shutil

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused

FIELDS = {"id", "synced", "name", "display_name", "path", "file_type", "is_virtual", "updated_at"}


@carries("WS-LS-1", "WS-LS-4", "WS-LS-5")
async def test_without_arguments_it_lists_what_is_directly_in_the_root_folders_first(desk: Desk) -> None:
    desk.write("b.txt", "b")
    desk.write("z/deep.txt", "deep")
    desk.write("a.txt", "a")
    desk.write("y/x.txt", "x")

    said = await done(desk, "ls")

    assert said["path"] == "/"
    assert [entry["path"] for entry in said["entries"]] == ["/y", "/z", "/a.txt", "/b.txt"]
    assert [entry["file_type"] for entry in said["entries"]] == ["folder", "folder", "document", "document"]
    assert all(entry.keys() == FIELDS for entry in said["entries"])


@carries("WS-LS-3")
async def test_recursive_lists_all_that_is_below_a_folder(desk: Desk) -> None:
    desk.write("docs/deep/er/a.md", "a")
    desk.write("docs/b.md", "b")
    desk.write("other.md", "c")

    said = await done(desk, "ls", path="/docs", recursive=True)

    assert said["path"] == "/docs"
    assert [entry["path"] for entry in said["entries"]] == ["/docs/deep", "/docs/deep/er", "/docs/b.md", "/docs/deep/er/a.md"]


@carries("WS-LS-1", "WS-LS-2")
@pytest.mark.parametrize(("arguments", "count", "truncated"), [({}, 50, True), ({"limit": 3}, 3, True), ({"limit": 0}, 60, False)])
async def test_the_limit_is_50_and_0_means_all(desk: Desk, arguments: dict[str, int], count: int, truncated: bool) -> None:
    for number in range(58):
        desk.write(f"{number:02}.txt", "x")
    desk.write("zz/in.txt", "x")
    await done(desk, "write", path="/stored.txt", content="x")

    said = await done(desk, "ls", **arguments)

    assert (len(said["entries"]), said["truncated"]) == (count, truncated)
    assert said["entries"][0]["path"] == "/zz"


@carries("WS-LS-6")
async def test_a_file_is_a_bad_request_and_nothing_is_not_found(desk: Desk) -> None:
    desk.write("a.txt", "a")

    said = await refused(desk, 400, "ls", path="/a.txt")
    await refused(desk, 404, "ls", path="/missing")

    assert "not a directory" in said["error"]


@carries("WS-SYNC-1", "WS-SYNC-2")
async def test_database_and_disk_are_listed_together_each_entry_once(desk: Desk) -> None:
    stored = await done(desk, "write", path="/stored.md", content="s")
    desk.write("disk.md", "d")
    gone = await done(desk, "write", path="/gone/away.md", content="g")
    shutil.rmtree(desk.root / "gone")

    entries = {entry["path"]: entry for entry in (await done(desk, "ls", recursive=True))["entries"]}

    assert entries.keys() == {"/stored.md", "/disk.md", "/gone", "/gone/away.md"}
    assert (entries["/stored.md"]["synced"], entries["/stored.md"]["id"]) == (True, stored["file_id"])
    assert (entries["/disk.md"]["synced"], entries["/disk.md"]["id"]) == (False, None)
    assert (entries["/gone/away.md"]["synced"], entries["/gone/away.md"]["id"]) == (True, gone["file_id"])


@carries("WS-SYNC-1")
async def test_what_was_removed_is_not_listed_and_is_unsynced_when_it_comes_back_by_itself(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="a")
    await done(desk, "rm", path="/a.md")
    before = (await done(desk, "ls"))["entries"]
    desk.write("a.md", "again")

    [after] = (await done(desk, "ls"))["entries"]

    assert before == []
    assert (after["synced"], after["id"]) == (False, None)


async def test_hidden_and_protected_files_are_listed(desk: Desk) -> None:
    desk.write(".hidden", "x")
    desk.write(".env", "x")

    assert [entry["path"] for entry in (await done(desk, "ls"))["entries"]] == ["/.env", "/.hidden"]
