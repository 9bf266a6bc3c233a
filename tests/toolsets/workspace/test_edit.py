"""edit"""

import asyncio
import json

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import add_chat, done, refused, sha256, status_now

TEXT = "fn old() {\n    let x = 1;\n}\n\nfn other() {\n    let x = 1;\n}\n"


@carries("WS-EDIT-1", "WS-VERSION-1", "WS-VERSION-3")
async def test_a_text_that_is_there_once_is_replaced_and_that_is_a_version(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/src/main.rs", content=TEXT)

    said = await done(desk, "edit", path="/src/main.rs", old_string="fn old() {", new_string="fn new() {", last_read_hash=wrote["hash"])

    after = TEXT.replace("old", "new")
    assert desk.text("src/main.rs") == after
    assert (said["path"], said["file_id"], said["hash"]) == ("/src/main.rs", wrote["file_id"], sha256(after))
    versions = (await done(desk, "history", file_id=wrote["file_id"]))["versions"]
    assert [(one["kind"], one["version_id"]) for one in versions] == [("edit", said["version_id"]), ("write", wrote["version_id"])]


@carries("WS-EDIT-2")
@pytest.mark.parametrize(
    ("line", "content", "after"),
    [
        (0, "zero", "zero\none\ntwo\n"),
        (1, "between\n", "one\nbetween\ntwo\n"),
        (2, "last", "one\ntwo\nlast\n"),
        (1, "a\nb", "one\na\nb\ntwo\n"),
        (1, "", "one\ntwo\n"),
    ],
)
async def test_lines_are_inserted_before_a_line(desk: Desk, line: int, content: str, after: str) -> None:
    await done(desk, "write", path="/a.txt", content="one\ntwo\n")

    await done(desk, "edit", path="/a.txt", insert_line=line, insert_content=content)

    assert desk.text("a.txt") == after


@carries("WS-EDIT-2")
@pytest.mark.parametrize("line", [3, -1, 10**20])
async def test_a_line_that_is_not_there_is_a_bad_request(desk: Desk, line: int) -> None:
    await done(desk, "write", path="/a.txt", content="one\ntwo\n")

    await refused(desk, 400, "edit", path="/a.txt", insert_line=line, insert_content="x")

    assert desk.text("a.txt") == "one\ntwo\n"


@carries("WS-EDIT-3")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, {"old_string", "new_string"}),
        ({"old_string": "one"}, {"new_string"}),
        ({"new_string": "one"}, {"old_string"}),
        ({"insert_line": 0}, {"insert_content"}),
        ({"insert_content": "x"}, {"insert_line"}),
        ({"old_string": "one", "insert_line": 0}, {"old_string", "insert_line"}),
        (
            {"old_string": "one", "new_string": "1", "insert_line": 0, "insert_content": "x"},
            {"old_string", "new_string", "insert_line", "insert_content"},
        ),
        ({"old_string": "one", "new_string": None}, {"new_string"}),
    ],
)
async def test_exactly_one_way_to_edit_is_needed(desk: Desk, arguments: dict[str, str | int | None], named: set[str]) -> None:
    await done(desk, "write", path="/a.txt", content="one\n")

    said = await refused(desk, 400, "edit", path="/a.txt", **arguments)

    assert said["fields"].keys() == named
    assert desk.text("a.txt") == "one\n"


@carries("WS-EDIT-4", "WS-VERSION-2")
async def test_an_absent_text_is_answered_with_what_comes_nearest(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/src/main.rs", content=TEXT)

    said = await refused(desk, 400, "edit", path="/src/main.rs", old_string="fn  old() {", new_string="x")

    assert said["details"]["count"] == 0
    assert said["details"]["nearest"][0] == {"line": 1, "expected": "fn  old() {", "found": "fn old() {"}
    assert "line 1" in said["error"]
    assert desk.text("src/main.rs") == TEXT
    assert len((await done(desk, "history", file_id=wrote["file_id"]))["versions"]) == 1


@carries("WS-EDIT-4")
async def test_a_repeated_text_is_answered_with_its_count_and_lines(desk: Desk) -> None:
    await done(desk, "write", path="/src/main.rs", content=TEXT)

    said = await refused(desk, 400, "edit", path="/src/main.rs", old_string="let x = 1;", new_string="x")

    assert (said["details"]["count"], said["details"]["lines"]) == (2, [2, 6])
    assert "2 times" in said["error"]
    assert desk.text("src/main.rs") == TEXT


@carries("WS-EDIT-4")
async def test_an_empty_text_is_a_bad_request(desk: Desk) -> None:
    await done(desk, "write", path="/a.txt", content="one\n")

    said = await refused(desk, 400, "edit", path="/a.txt", old_string="", new_string="x")

    assert said["fields"].keys() == {"old_string"}


@carries("WS-EDIT-5", "WS-VERSION-2")
@pytest.mark.parametrize("behind_our_back", [True, False])
async def test_a_stale_hash_is_a_conflict_and_nothing_changes(desk: Desk, behind_our_back: bool) -> None:
    wrote = await done(desk, "write", path="/a.txt", content="one\n")
    if behind_our_back:
        desk.write("a.txt", "two\n")
    else:
        await done(desk, "write", path="/a.txt", content="two\n", overwrite=True)

    said = await refused(desk, 409, "edit", path="/a.txt", old_string="two", new_string="three", last_read_hash=wrote["hash"])

    assert (said["code"], said["details"]["found"]) == ("CONFLICT", sha256("two\n"))
    assert desk.text("a.txt") == "two\n"


@carries("WS-EDIT-6")
async def test_a_stale_edit_is_merged_when_both_changes_go_together(desk: Desk) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    read = await done(desk, "write", path="/a.txt", content="".join(lines))
    theirs = [*lines[:2], "theirs\n", *lines[3:]]
    await done(desk, "write", path="/a.txt", content="".join(theirs), overwrite=True)

    said = await done(desk, "edit", path="/a.txt", old_string="line 15\n", new_string="ours\n", last_read_hash=read["hash"], merge=True)

    after = "".join([*theirs[:15], "ours\n", *theirs[16:]])
    assert (desk.text("a.txt"), said["hash"]) == (after, sha256(after))
    assert said["merged_lines"] == [3]


@carries("WS-EDIT-7", "WS-VERSION-2")
async def test_changes_of_the_same_lines_are_a_conflict_with_both_sides(desk: Desk) -> None:
    read = await done(desk, "write", path="/a.txt", content="one\ntwo\nthree\n")
    await done(desk, "write", path="/a.txt", content="one\ntheirs\nthree\n", overwrite=True)

    said = await refused(desk, 409, "edit", path="/a.txt", old_string="two", new_string="ours", last_read_hash=read["hash"], merge=True)

    [clash] = said["details"]["conflicts"]
    assert (clash["yours"], clash["theirs"], clash["read"], clash["line"]) == ("ours\n", "theirs\n", "two\n", 2)
    assert desk.text("a.txt") == "one\ntheirs\nthree\n"


@carries("WS-EDIT-6")
async def test_what_was_read_but_never_stored_cannot_be_merged(desk: Desk) -> None:
    desk.write("a.txt", "one\ntwo\n")
    read = await done(desk, "read", path="/a.txt")
    desk.write("a.txt", "one\ntwo\nthree\n")

    await refused(desk, 409, "edit", path="/a.txt", old_string="one", new_string="1", last_read_hash=read["hash"], merge=True)

    assert desk.text("a.txt") == "one\ntwo\nthree\n"


@carries("WS-SYNC-4", "WS-EDIT-8")
@pytest.mark.parametrize(("path", "text"), [("notes.md", "# one\n"), ("data.json", '{"one": 1}\n'), ("plain", "one"), ("w.txt", "one\r\n")])
async def test_a_file_that_is_only_on_the_disk_is_imported_and_edited(desk: Desk, path: str, text: str) -> None:
    desk.write(path, text)

    said = await done(desk, "edit", path=f"/{path}", old_string="one", new_string="two")

    assert (desk.root / path).read_bytes() == text.replace("one", "two").encode()
    assert (await done(desk, "file_info", path=f"/{path}"))["synced"] is True
    versions = (await done(desk, "history", file_id=said["file_id"]))["versions"]
    assert [one["hash"] for one in versions] == [sha256(text.replace("one", "two")), sha256(text)]


@carries("WS-EDIT-8")
async def test_json_that_was_written_as_a_value_stays_one_while_it_is_valid(desk: Desk) -> None:
    await done(desk, "write", path="/a.canvas", content={"version": 1}, file_type="canvas")

    await done(desk, "edit", path="/a.canvas", old_string='"version":1', new_string='"version":2')

    assert (await done(desk, "read", path="/a.canvas"))["content"] == {"version": 2}
    assert json.loads(desk.text("a.canvas")) == {"version": 2}


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_folder_cannot_be_edited(desk: Desk, path: str) -> None:
    await done(desk, "mkdir", path="/docs")

    await refused(desk, 400, "edit", path=path, old_string="a", new_string="b")


@carries("WS-WRITE-7")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"content": "x", "overwrite": True}),
        ("edit", {"old_string": "hello", "new_string": "x"}),
        ("edit", {"insert_line": 0, "insert_content": "x"}),
        ("rm", {}),
        ("touch", {}),
    ],
)
async def test_a_virtual_file_is_seen_and_never_changed(desk: Desk, tool: str, arguments: dict[str, object]) -> None:
    await add_chat(desk, "/chats/one.chat", "hello\n")

    await refused(desk, 400, tool, path="/chats/one.chat", **arguments)

    assert (await done(desk, "read", path="/chats/one.chat"))["content"] == "hello\n"
    assert (await done(desk, "file_info", path="/chats/one.chat"))["is_virtual"] is True


@carries("WS-WRITE-7")
@pytest.mark.parametrize(
    ("source", "destination"), [("/chats/one.chat", "/moved.chat"), ("/chats", "/moved"), ("/a.md", "/chats/one.chat")]
)
async def test_a_virtual_file_is_neither_moved_nor_moved_onto(desk: Desk, source: str, destination: str) -> None:
    await add_chat(desk, "/chats/one.chat", "hello\n")
    await done(desk, "write", path="/a.md", content="a")

    await desk.call("mv", source=source, destination=destination)

    assert status_now(desk) in (400, 409)
    assert (await done(desk, "read", path="/chats/one.chat"))["content"] == "hello\n"


@carries("WS-VERSION-4", "WS-EDIT-5")
async def test_sixteen_writers_of_one_file_lose_no_update_and_leave_no_gap(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/count.txt", content="")

    async def add(name: str) -> None:
        for number in range(3):
            done_it = False
            while not done_it:
                seen = (await desk.call("read", path="/count.txt", limit=0))["result"]["hash"]
                line = f"{name} {number}"
                said = await desk.call("edit", path="/count.txt", insert_line=0, insert_content=line, last_read_hash=seen)
                done_it = said["success"]

    await asyncio.gather(*(add(f"writer {number}") for number in range(16)))

    assert sorted(desk.text("count.txt").splitlines()) == sorted(f"writer {one} {two}" for one in range(16) for two in range(3))
    numbers = [one["number"] for one in (await done(desk, "history", file_id=wrote["file_id"]))["versions"]]
    assert numbers == list(range(49, 0, -1))
