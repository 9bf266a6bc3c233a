"""undo"""

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.store import sessions
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.json import Json
from tests.desk import Desk, open_desk
from tests.promises import carries
from tests.workspace.keeping import everything

EVERYTHING = """
echo more >> changed1; echo more >> changed2; rm gone1 gone2; rm -r d; mv moved1 new1; mv moved2 new2
chmod 755 mode1; chmod 640 mode2; echo a > added; mkdir -p e/f; ln -s ../added e/link; ln -sf elsewhere link; printf '\\0\\377' > binary
"""


async def take(desk: Desk, call: str, name: str, /, *, session: str = "", effects: Wish = Wish.KEEP, **arguments: Json) -> Any:
    caller = Caller(session=session) if session else Caller(run=desk.holdfast.run)
    desk.last = await desk.holdfast.take(ToolCall(call, name, arguments, caller, effects))
    return desk.last.answer.body


async def fill(desk: Desk) -> None:
    """Files that Holdfast knows, with a 1 in their names, and files that it does not."""
    for name in ("changed", "gone", "moved", "mode"):
        await take(desk, f"made-{name}", "write", path=f"/{name}1", content=f"{name} one\n")
        desk.write(f"{name}2", f"{name} two\n").chmod(0o604)
    desk.write("d/deep/x", b"\0\xfe").chmod(0o751)
    (desk.root / "d/deep").chmod(0o750)
    (desk.root / "link").symlink_to("changed1")


@carries("EFFECT-6", "PEOPLE-8")
async def test_a_command_that_did_everything_is_taken_back_to_the_last_byte_and_mode_and_that_too(desk: Desk) -> None:
    await fill(desk)
    before = everything(desk.root)
    said = await take(desk, "command", "bash", command=EVERYTHING)
    after = everything(desk.root)
    assert (said["metadata"]["effectsState"], before == after) == ("kept", False)

    undone = (await take(desk, "first", "undo"))["result"]

    assert everything(desk.root) == before
    assert (undone["call_id"], undone["undo_call_id"], undone["left_out"]) == ("command", "first", [])
    assert {"path": "/added", "kind": "deleted", "type": "file"} in undone["restored"]
    assert undone["count"] == len(undone["restored"])

    await take(desk, "second", "undo", call_id="first")

    assert everything(desk.root) == after


@carries("EFFECT-6", "PEOPLE-8")
async def test_effects_that_were_held_and_kept_in_part_are_taken_back_too(desk: Desk) -> None:
    desk.write("a", "one\n")
    held = await take(desk, "command", "bash", effects=Wish.HOLD, command="echo two > a; echo b > b; echo c > c")
    await take(desk, "decision", "keep", effects_id=held["metadata"]["effectsId"], paths=["/a", "/b"])
    assert (desk.text("a"), desk.text("b")) == ("two\n", "b\n")

    undone = (await take(desk, "undo", "undo"))["result"]

    assert (undone["call_id"], desk.text("a"), os.listdir(desk.root)) == ("decision", "one\n", ["a"])


@carries("PEOPLE-8")
async def test_calls_of_file_tools_are_taken_back_one_after_the_other(desk: Desk) -> None:
    desk.write("unsynced", "mine\n")
    states: list[Any] = []
    calls: list[tuple[str, dict[str, Any]]] = [
        ("write", {"path": "/new/a", "content": "a\n"}),
        ("edit", {"path": "/new/a", "old_string": "a", "new_string": "b"}),
        ("file_write", {"path": "unsynced", "content": "theirs\n"}),
        ("mv", {"source": "/new/a", "destination": "/a"}),
        ("rm", {"path": "/unsynced"}),
        ("mkdir", {"path": "/empty"}),
    ]
    for number, (name, arguments) in enumerate(calls):
        states.append(everything(desk.root))
        await take(desk, f"call-{number}", name, **arguments)
        assert desk.last_code is None

    for number in range(len(states)):
        undone = await take(desk, f"undo-{number}", "undo")

        assert undone["result"]["call_id"] == f"call-{len(states) - 1 - number}"
        assert everything(desk.root) == states[-1 - number]

    await take(desk, "one-more", "undo")
    assert desk.last_code == "not_found"


@carries("EFFECT-3", "PEOPLE-8")
async def test_what_was_changed_since_is_named_and_nothing_is_done_unless_it_is_forced(desk: Desk) -> None:
    desk.write("a", "one\n")
    await take(desk, "command", "bash", command="echo two > a; echo b > b")
    desk.write("a", "mine\n")

    refused = await take(desk, "first", "undo")

    assert (refused["success"], desk.last_code) == (False, "conflict")
    assert "/a" in refused["error"]
    assert (desk.text("a"), desk.text("b")) == ("mine\n", "b\n")

    await take(desk, "second", "undo", call_id="command", force=True)

    assert (desk.text("a"), (desk.root / "b").exists()) == ("one\n", False)

    await take(desk, "third", "undo", call_id="second")

    assert (desk.text("a"), desk.text("b")) == ("mine\n", "b\n")


@carries("PEOPLE-8")
async def test_the_last_call_is_that_of_a_session_when_one_is_named_and_else_of_all(desk: Desk) -> None:
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    opened = await sessions.open_session(desk.holdfast.platform.database, held.lease, mode="build", trust="guided", profile="coder")
    await take(desk, "theirs", "write", session=opened.id, path="/theirs", content="x")
    await take(desk, "mine", "write", path="/mine", content="x")

    by_session = await take(desk, "undo-1", "undo", session_id=opened.id)
    of_all = await take(desk, "undo-2", "undo")
    nothing = await take(desk, "undo-3", "undo", session_id="another")

    assert (by_session["result"]["call_id"], of_all["result"]["call_id"]) == ("theirs", "mine")
    assert (nothing["success"], desk.last_code, os.listdir(desk.root)) == (False, "not_found", [])


@pytest.mark.parametrize("call_id", ["nobody's", "x" * 5000, "looked"])
async def test_a_call_that_changed_nothing_is_not_found(desk: Desk, call_id: str) -> None:
    await take(desk, "looked", "ls", path="/")

    await take(desk, "undo", "undo", call_id=call_id)

    assert desk.last_code == "not_found"


@carries("PEOPLE-8")
async def test_a_call_is_taken_back_by_another_process_and_in_every_mount(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await take(desk, "command", "bash", command="echo x > a; mkdir b")
        await take(desk, "central", "fs.write", path="@central/plan.md", content="plan\n")
    async with open_desk(tmp_path) as desk:
        central = await take(desk, "undo-1", "undo")
        project = await take(desk, "undo-2", "undo")

        assert central["result"]["restored"] == [{"path": "@central/plan.md", "kind": "deleted", "type": "file"}]
        assert (project["result"]["call_id"], os.listdir(desk.root)) == ("command", [])
