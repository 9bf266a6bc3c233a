"""file_info and read_multiple_files"""

import os

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import add_chat, done, refused, sha256

INFO = {"path", "file_type", "size", "line_count", "synced", "created_at", "updated_at", "hash"}


@carries("WS-INFO-1", "WS-VERSION-3")
async def test_a_file_is_described_by_what_is_on_the_disk(desk: Desk) -> None:
    await done(desk, "write", path="/config.json", content="{\n}\n")
    desk.write("config.json", "{\n  1\n}\n")

    said = await done(desk, "file_info", path="/config.json")

    assert said.keys() >= INFO
    assert (said["path"], said["file_type"], said["size"], said["line_count"]) == ("/config.json", "document", 8, 3)
    assert (said["synced"], said["hash"], said["created_at"] <= said["updated_at"]) == (True, sha256("{\n  1\n}\n"), True)


@carries("WS-INFO-2", "WS-SYNC-1")
@pytest.mark.parametrize(("content", "lines"), [("", 0), ("one", 1), ("one\ntwo\n", 2), (b"\0binary\n", None), ("x" * 200_000 + "\ny", 2)])
async def test_a_file_that_is_only_on_the_disk_is_described_too(desk: Desk, content: str | bytes, lines: int | None) -> None:
    desk.write("a.x", content)

    said = await done(desk, "file_info", path="/a.x")

    assert (said["synced"], said["size"], said["line_count"], said["hash"]) == (False, len(content), lines, sha256(content))


@carries("WS-INFO-2")
async def test_json_that_was_written_as_such_has_no_lines(desk: Desk) -> None:
    await done(desk, "write", path="/a.canvas", content={"a": "b\n"}, file_type="canvas")

    said = await done(desk, "file_info", path="/a.canvas")

    assert (said["line_count"], said["size"], said["file_type"]) == (None, len('{"a":"b\\n"}'), "canvas")


@carries("WS-INFO-2")
async def test_a_file_larger_than_could_ever_be_shown_is_described(desk: Desk) -> None:
    desk.write("large.bin", b"\0")
    os.truncate(desk.root / "large.bin", 40 * 1024 * 1024)

    said = await done(desk, "file_info", path="/large.bin")
    await refused(desk, 400, "read", path="/large.bin")

    assert (said["size"], len(said["hash"])) == (40 * 1024 * 1024, 64)


@carries("WS-INFO-2")
@pytest.mark.parametrize("is_synced", [True, False])
async def test_a_folder_has_no_size_lines_or_hash(desk: Desk, is_synced: bool) -> None:
    if is_synced:
        await done(desk, "mkdir", path="/docs")
    else:
        (desk.root / "docs").mkdir()

    said = await done(desk, "file_info", path="/docs")

    assert (said["file_type"], said["size"], said["line_count"], said["hash"]) == ("folder", None, None, None)
    assert said["synced"] is is_synced


@carries("WS-INFO-2", "WS-SYNC-3")
async def test_what_is_nowhere_is_not_found_and_what_only_the_database_has_is(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="one\ntwo\n")
    (desk.root / "a.md").unlink()

    said = await done(desk, "file_info", path="/a.md")
    await refused(desk, 404, "file_info", path="/b.md")

    assert (said["synced"], said["size"], said["line_count"], said["hash"]) == (True, 8, 2, sha256("one\ntwo\n"))


async def test_a_virtual_file_is_described(desk: Desk) -> None:
    await add_chat(desk, "/chats/one.chat", "hello\n")

    said = await done(desk, "file_info", path="/chats/one.chat")

    assert (said["file_type"], said["line_count"], said["hash"]) == ("chat", 1, sha256("hello\n"))


@carries("WS-MANY-1", "WS-VERSION-3")
async def test_many_files_are_read_at_once(desk: Desk) -> None:
    desk.write("README.md", "".join(f"{number}\n" for number in range(600)))
    await done(desk, "write", path="/config.json", content='{\n  "key": "value"\n}')

    said = await done(desk, "read_multiple_files", paths=["/config.json", "/README.md"])

    first, second = said["files"]
    assert first == {
        "path": "/config.json",
        "success": True,
        "content": '{\n  "key": "value"\n}',
        "hash": sha256('{\n  "key": "value"\n}'),
        "synced": True,
        "error": None,
        "total_lines": 3,
        "truncated": False,
    }
    assert (second["total_lines"], second["truncated"], second["content"].count("\n"), second["synced"]) == (600, True, 500, False)


@carries("WS-MANY-2", "WS-SYNC-3")
async def test_a_file_that_fails_does_not_keep_the_others_from_being_read(desk: Desk) -> None:
    desk.write("a.txt", "one\n")

    said = await done(desk, "read_multiple_files", paths=["/nonexistent.txt", "/a.txt", "@central/x"])

    failed, read, outside = said["files"]
    assert failed["error"].startswith("File not found: /nonexistent.txt")
    assert {name: failed[name] for name in ("success", "content", "hash", "total_lines", "truncated")} == {
        "success": False,
        "content": None,
        "hash": None,
        "total_lines": None,
        "truncated": None,
    }
    assert (read["success"], read["content"]) == (True, "one\n")
    assert (outside["path"], outside["success"]) == ("@central/x", False)


@carries("WS-MANY-3")
@pytest.mark.parametrize(("limit", "lines", "truncated"), [(2, 2, True), (0, 600, False), (600, 600, False)])
async def test_the_limit_holds_for_each_file(desk: Desk, limit: int, lines: int, truncated: bool) -> None:
    desk.write("a.txt", "x\n" * 600)

    said = await done(desk, "read_multiple_files", paths=["/a.txt", "/a.txt"], limit=limit)

    assert [(file["content"].count("\n"), file["truncated"]) for file in said["files"]] == [(lines, truncated)] * 2


@carries("WS-MANY-3")
@pytest.mark.parametrize(("count", "status"), [(0, 400), (50, 200), (51, 400)])
async def test_at_most_50_files_are_read(desk: Desk, count: int, status: int) -> None:
    desk.write("a.txt", "x\n")

    if status == 400:
        await refused(desk, 400, "read_multiple_files", paths=["/a.txt"] * count)
    else:
        assert len((await done(desk, "read_multiple_files", paths=["/a.txt"] * count))["files"]) == count


async def test_many_files_keep_their_kinds(desk: Desk) -> None:
    await done(desk, "write", path="/a.canvas", content=[1, None], file_type="canvas")
    desk.write("b.bin", b"\0\1")

    [value, binary] = (await done(desk, "read_multiple_files", paths=["/a.canvas", "/b.bin"]))["files"]

    assert (value["content"], value["total_lines"], value["truncated"]) == ([1, None], None, None)
    assert (binary["content"], binary["encoding"]) == ("AAE=", "base64")


async def test_a_path_with_half_a_character_has_an_error_that_can_be_said(desk: Desk) -> None:
    said = await done(desk, "read_multiple_files", paths=["\ud800"])

    [file] = said["files"]
    assert (file["success"], file["path"].encode()) == (False, b"?")
