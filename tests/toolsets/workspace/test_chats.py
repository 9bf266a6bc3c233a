"""Sessions, which are files of /chats that nobody can change."""

import re
from typing import Any

from holdfast.store import sessions
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import UserMessage
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256
from tests.toolsets.chatting import say, talked

TEXT = """[1] TIME user
Fix the needle in main.py, please.
It is broken.

[3] TIME assistant
I look at it.
calls read {"path": "/main.py"}

[5] TIME tool read
the needle's code XXX … [5018 characters in all]

[7] TIME assistant
calls rm { (not run: the JSON is cut)

[9] TIME tool rm, which failed
It was not run.

[11] TIME assistant
Done.\N{REPLACEMENT CHARACTER}

"""


def without_times(text: str) -> str:
    return re.sub("x{1000,}", "XXX", re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text))


async def paths(desk: Desk, tool: str, /, **arguments: Json) -> list[str]:
    said = await done(desk, tool, **arguments)
    return [each["path"] for each in said["entries" if tool == "ls" else "matches"]]


@carries("WS-CHAT-1")
async def test_a_session_is_a_file_that_every_listing_shows_as_virtual(desk: Desk) -> None:
    desk.write("main.py", "needle\n")
    assert await paths(desk, "ls") == ["/main.py"]
    path = await talked(desk, "one", title="The needle")

    assert await paths(desk, "ls") == ["/chats", "/main.py"]
    [entry] = (await done(desk, "ls", path="/chats"))["entries"]
    expected = ("one", True, True, "chat", "one.chat", "The needle")
    assert tuple(entry[name] for name in ("id", "synced", "is_virtual", "file_type", "name", "display_name")) == expected
    assert await paths(desk, "ls", recursive=True) == ["/chats", path, "/main.py"]
    assert await paths(desk, "glob", pattern="**/*.chat") == await paths(desk, "glob", pattern="*.chat", path="/chats") == [path]
    assert await paths(desk, "glob", pattern="*") == ["/chats", "/main.py"]
    assert await paths(desk, "glob", pattern="**/*.py") == ["/main.py"]
    assert await paths(desk, "find", file_type="chat") == await paths(desk, "find", name="one*") == [path]
    assert await paths(desk, "find", recursive=False) == ["/chats", "/main.py"]
    assert await paths(desk, "find", path="/chats", max_size=100) == []
    info = await done(desk, "file_info", path=path)
    [found] = (await done(desk, "find", file_type="chat"))["matches"]
    assert (found["size"], found["is_virtual"], found["synced"]) == (info["size"], True, True)
    folder = await done(desk, "file_info", path="/chats")
    assert (folder["file_type"], folder["is_virtual"], folder["size"], folder["updated_at"]) == ("folder", True, None, info["updated_at"])
    assert (await done(desk, "describe_file", file_id="one"))["path"] == path
    assert not (desk.root / "chats").exists()


@carries("WS-CHAT-2")
async def test_a_chat_is_read_as_text_with_who_said_what_and_the_calls_in_short(desk: Desk) -> None:
    path = await talked(desk, "one")

    whole = await done(desk, "read", path=path)

    text = whole["content"]
    assert without_times(text) == TEXT
    about = await done(desk, "file_info", path=path)
    assert whole["hash"] == about["hash"] == sha256(text)
    assert (about["size"], about["line_count"], whole["total_lines"]) == (len(text.encode()), text.count("\n"), text.count("\n"))
    assert (about["file_type"], about["is_virtual"], about["synced"], whole["synced"]) == ("chat", True, True, True)
    lines = text.splitlines(keepends=True)
    for offset, limit in ((0, 3), (5, 4), (-4, 2), (-1, 0), (100, 5), (len(lines), 1)):
        part = await done(desk, "read", path=path, offset=offset, limit=limit)
        start = offset if offset >= 0 else len(lines) + offset
        wanted = lines[start:][: limit or None]
        assert (part["content"], part["truncated"]) == ("".join(wanted), start + len(wanted) < len(lines))
    shown = await done(desk, "cat", paths=[path, "/nothing"], limit=1)
    assert (without_times(shown["content"]), shown["files"][0]["line_count"]) == ("[1] TIME user\n", 1)
    [many] = (await done(desk, "read_multiple_files", paths=[path]))["files"]
    assert (many["content"], many["hash"]) == (text, whole["hash"])


@carries("WS-CHAT-2")
async def test_a_chat_grows_with_its_session_and_any_window_of_a_long_one_is_found(desk: Desk) -> None:
    path = await talked(desk, "one", [UserMessage(f"line {number}") for number in range(150)])
    before = await done(desk, "read", path=path, offset=-2, limit=1)

    await say(desk, "one", [UserMessage("the last word")])
    after = await done(desk, "read", path=path, limit=0)

    assert (before["content"], before["total_lines"]) == ("line 149\n", 450)
    lines = after["content"].splitlines(keepends=True)
    assert (after["total_lines"], lines[-2], after["hash"]) == (453, "the last word\n", sha256(after["content"]))
    for offset in (0, 299, 300, 301, 449, 450, -3):
        part = await done(desk, "read", path=path, offset=offset, limit=2)
        assert part["content"] == "".join(lines[offset:][:2])
    assert (await done(desk, "file_info", path=path))["size"] == len(after["content"])


@carries("WS-CHAT-3", "WS-GREP-7")
async def test_chats_are_searched_as_text_but_for_the_one_that_asks(desk: Desk) -> None:
    desk.write("main.py", "needle\n")
    path = await talked(desk, "one")
    other = await talked(desk, "two", [UserMessage("a Needle too")])

    found = (await done(desk, "grep", pattern="needle", after_context=1))["matches"]

    seen = [(match["path"], match["line_number"], match["line_text"][:20]) for match in found]
    said = [(path, 2, "Fix the needle in ma"), (path, 10, "the needle's code xx")]
    assert seen == [*said, (other, 2, "a Needle too"), ("/main.py", 1, "needle")]
    assert found[0]["after"] == ["It is broken."]
    assert [match["path"] for match in (await done(desk, "grep", pattern="needle", path="/chats", limit=2))["matches"]] == [path, path]
    assert [match["path"] for match in (await done(desk, "grep", pattern="needle", path=other))["matches"]] == [other]
    assert (await done(desk, "grep", pattern="needle", path_pattern="*.py"))["matches"][0]["path"] == "/main.py"
    await say(desk, "two", [UserMessage("one more needle", is_note=True)])
    assert [match["line_number"] for match in (await done(desk, "grep", pattern="needle", path=other))["matches"]] == [2, 5]
    assert without_times((await done(desk, "read", path=other, offset=3, limit=1))["content"]) == "[3] TIME note\n"
    call = ToolCall("c9", "grep", {"pattern": "needle"}, Caller(agent="coder", session="one"))
    body: Any = (await desk.holdfast.take(call)).answer.body
    assert [match["path"] for match in body["result"]["matches"]] == [other, other, "/main.py"]


CHANGES: list[tuple[str, dict[str, Json]]] = [
    ("write", {"path": "/chats/one.chat", "content": "x"}),
    ("write", {"path": "/chats/one.chat", "content": "x", "overwrite": True, "file_type": "chat"}),
    ("write", {"path": "/chats/one.chat/x", "content": "x"}),
    ("write", {"path": "/chats", "content": "x", "overwrite": True}),
    ("edit", {"path": "/chats/one.chat", "old_string": "Fix", "new_string": "x"}),
    ("edit", {"path": "/chats/one.chat", "insert_line": 0, "insert_content": "x"}),
    ("rm", {"path": "/chats/one.chat"}),
    ("mv", {"source": "/chats/one.chat", "destination": "/x"}),
    ("mv", {"source": "/chats", "destination": "/x"}),
    ("mv", {"source": "/main.py", "destination": "/chats/one.chat"}),
    ("touch", {"path": "/chats/one.chat"}),
    ("touch", {"path": "/chats"}),
    ("mkdir", {"path": "/chats/one.chat"}),
    ("mkdir", {"path": "/chats/one.chat/x"}),
]


@carries("WS-CHAT-4", "WS-WRITE-7")
async def test_whatever_would_change_a_chat_is_400_and_changes_nothing(desk: Desk) -> None:
    desk.write("main.py", "needle\n")
    path = await talked(desk, "one")

    for tool, arguments in CHANGES:
        body = await refused(desk, 400, tool, **arguments)
        assert "the chat of a session" in body["error"] or "/chats" in arguments.values(), (tool, arguments)

    assert without_times((await done(desk, "read", path=path))["content"]) == TEXT
    assert (desk.text("main.py"), [entry.name for entry in desk.root.iterdir()]) == ("needle\n", ["main.py"])


@carries("WS-CHAT-4")
async def test_other_toolsets_and_commands_see_no_chat_and_make_none(desk: Desk) -> None:
    await talked(desk, "one")
    desk.write("main.py", "needle\n")

    assert (await desk.call("file_read", path="chats/one.chat"))["is_error"]
    assert "chats" not in str(await desk.call("fs.list", path="@project"))
    assert "chats" not in (await desk.call("list_directory", path="."))["output"]
    assert "chats" not in str(await desk.call("bash", command="ls"))
    assert (await desk.call("file_write", path="chats/one.chat", content="x"))["is_error"]
    await desk.call("bash", command="mkdir chats; echo x > chats/one.chat")
    assert not (desk.root / "chats").exists()


@carries("WS-CHAT-5")
async def test_a_folder_of_the_same_name_shows_its_own_files_and_the_chats(desk: Desk) -> None:
    desk.write("chats/mine.chat", "my needle\n")
    desk.write("chats/one.chat", "hidden needle\n")
    path = await talked(desk, "one", [UserMessage("a needle")])
    await done(desk, "write", path="/chats/more.md", content="more", file_type="chat")

    assert await paths(desk, "ls", path="/chats") == ["/chats/mine.chat", "/chats/more.md", path]
    [folder] = (await done(desk, "ls"))["entries"]
    assert (folder["path"], folder["is_virtual"]) == ("/chats", False)
    assert (await done(desk, "read", path=path, offset=1))["content"] == "a needle\n\n"
    found = (await done(desk, "grep", pattern="needle"))["matches"]
    assert [(match["path"], match["line_text"]) for match in found] == [("/chats/mine.chat", "my needle"), (path, "a needle")]
    assert await paths(desk, "glob", pattern="chats/*.chat") == ["/chats/mine.chat", path]
    await refused(desk, 409, "rm", path="/chats")
    await done(desk, "edit", path="/chats/mine.chat", old_string="my", new_string="your")
    assert (desk.text("chats/mine.chat"), desk.text("chats/one.chat")) == ("your needle\n", "hidden needle\n")


@carries("WS-CHAT-5")
async def test_the_folder_of_chats_can_be_made_real_and_gets_files_of_its_own(desk: Desk) -> None:
    path = await talked(desk, "one")
    desk.write("a.md", "a")

    await refused(desk, 409, "rm", path="/chats")
    await done(desk, "mv", source="/a.md", destination="/chats/")
    await done(desk, "mkdir", path="/chats")

    assert await paths(desk, "ls", path="/chats") == ["/chats/a.md", path]
    assert (desk.root / "chats/a.md").exists()


@carries("WS-CHAT-5")
async def test_a_deleted_session_or_one_whose_id_is_no_name_has_no_file(desk: Desk) -> None:
    await talked(desk, "a/b")
    await talked(desk, "n" * 300)
    path = await talked(desk, "two")
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)

    await sessions.delete(desk.holdfast.platform.database, held.lease, "two")

    assert await paths(desk, "glob", pattern="**/*.chat") == []
    await refused(desk, 404, "read", path=path)
    await done(desk, "write", path=path, content="mine", file_type="chat")
    assert (await done(desk, "file_info", path=path))["is_virtual"] is False


@carries("WS-CHAT-5")
async def test_something_else_called_chats_hides_them_from_listings(desk: Desk) -> None:
    await talked(desk, "one")
    desk.write("chats", "a file\n")

    assert await paths(desk, "glob", pattern="**") == ["/chats"]
    assert (await done(desk, "read", path="/chats"))["content"] == "a file\n"
    assert [match["path"] for match in (await done(desk, "grep", pattern="file|needle"))["matches"]] == ["/chats"]
