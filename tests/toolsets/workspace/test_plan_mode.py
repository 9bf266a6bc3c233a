"""exit_plan_mode, and what may change before it"""

import asyncio
from typing import Any

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import Conversation, done, refused, status_now

ACCEPT: Any = {
    "name": "approval",
    "question": "Ready to proceed to Build Mode?",
    "schema": {"type": "string", "enum": ["Accept", "Reject", "accept"]},
    "buttons": [{"label": "Accept", "value": "Accept"}, {"label": "Reject", "value": "Reject"}],
}


@carries("WS-MODE-1", "WS-MODE-2")
async def test_without_a_session_the_plan_is_checked(desk: Desk) -> None:
    wrote = await done(desk, "plan_write", title="T", content="# Plan")

    said = await done(desk, "exit_plan_mode", plan_file_path=wrote["path"], allowedPrompts=[], pushToRemote=True)

    assert said == {"mode": "build", "plan_file": wrote["path"]}


@carries("WS-MODE-1")
async def test_a_plan_made_by_write_is_one(desk: Desk) -> None:
    await done(desk, "write", path="/plans/fearless-ember-invention.plan", content="# Plan", file_type="plan")

    assert (await done(desk, "exit_plan_mode", plan_file_path="/plans/fearless-ember-invention.plan"))["mode"] == "build"


@carries("WS-MODE-1")
@pytest.mark.parametrize("path", ["/plans/document.plan", "/plans/disk.plan", "/plans/empty.plan", "/plans/only-front.plan", "/plans/a.md"])
async def test_what_is_no_plan_with_content_is_a_bad_request(desk: Desk, path: str) -> None:
    await done(desk, "write", path="/plans/document.plan", content="# Plan")
    desk.write("plans/disk.plan", "# Plan")
    await done(desk, "write", path="/plans/empty.plan", content=" \n", file_type="plan")
    await done(desk, "plan_write", path="/plans/only-front.plan", title="T", content="\n")
    await done(desk, "write", path="/plans/a.md", content="# Plan", file_type="plan")

    said = await refused(desk, 400, "exit_plan_mode", plan_file_path=path)

    assert said["fields"].keys() == {"plan_file_path"}


@carries("WS-MODE-1")
async def test_a_plan_that_is_not_there_is_not_found_and_none_is_required(desk: Desk) -> None:
    await refused(desk, 404, "exit_plan_mode", plan_file_path="/plans/missing.plan")
    said = await refused(desk, 400, "exit_plan_mode")

    assert said["fields"] == {"plan_file_path": "is required"}


@carries("WS-MODE-3", "WS-ASK-5", "PLAN-3")
async def test_accept_by_the_button_turns_the_session_to_building(desk: Desk) -> None:
    talk = await Conversation.begun(desk, mode="plan")
    plan = (await talk.call("plan_write", title="T", content="# Plan"))["result"]["path"]

    asking = asyncio.create_task(talk.call("ask_user", questions=[ACCEPT]))
    await talk.answer(approval="Accept")
    answered = await asking
    said = await talk.call("exit_plan_mode", plan_file_path=plan)

    assert answered == {"success": True, "result": {"approval": "Accept"}, "error": None}
    assert said["result"] == {"mode": "build", "plan_file": plan}
    assert await talk.mode() == "build"
    assert (await talk.call("write", path="/built.md", content="x"))["success"] is True


@carries("WS-MODE-3")
@pytest.mark.parametrize("answer", ["Reject", "accept"])
async def test_any_other_answer_leaves_the_session_planning(desk: Desk, answer: str) -> None:
    talk = await Conversation.begun(desk, mode="plan")
    plan = (await talk.call("plan_write", title="T", content="# Plan"))["result"]["path"]
    asking = asyncio.create_task(talk.call("ask_user", questions=[ACCEPT]))
    await talk.answer(approval=answer)
    await asking

    said = await talk.call("exit_plan_mode", plan_file_path=plan)

    assert (status_now(desk), said["code"], await talk.mode()) == (403, "FORBIDDEN", "plan")


@carries("WS-MODE-3")
async def test_an_accept_that_was_typed_is_none(desk: Desk) -> None:
    talk = await Conversation.begun(desk, mode="plan")
    plan = (await talk.call("plan_write", title="T", content="# Plan"))["result"]["path"]
    typed = {name: value for name, value in ACCEPT.items() if name != "buttons"}
    asking = asyncio.create_task(talk.call("ask_user", questions=[typed]))
    await talk.answer(approval="Accept")
    await asking

    await talk.call("exit_plan_mode", plan_file_path=plan)

    assert (status_now(desk), await talk.mode()) == (403, "plan")


@carries("WS-MODE-3", "PLAN-3")
async def test_nobody_asked_is_nobody_accepted(desk: Desk) -> None:
    talk = await Conversation.begun(desk, mode="plan")
    plan = (await talk.call("plan_write", title="T", content="# Plan"))["result"]["path"]

    await talk.call("exit_plan_mode", plan_file_path=plan)

    assert (status_now(desk), await talk.mode()) == (403, "plan")


@carries("WS-MODE-4")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("plan_write", {"title": "T", "content": "c"}),
        ("plan_write", {"title": "T", "content": "c", "path": "/docs/own.plan"}),
        ("plan_edit", {"path": "/plans/known.plan", "old_string": "body", "new_string": "new"}),
        ("write", {"path": "/plans/new.plan", "content": "c", "file_type": "plan"}),
        ("read", {"path": "/docs/a.md"}),
        ("ls", {}),
    ],
)
async def test_in_plan_mode_plans_change_and_everything_is_read(desk: Desk, tool: str, arguments: dict[str, Any]) -> None:
    await done(desk, "plan_write", title="T", content="body", path="/plans/known.plan")
    desk.write("docs/a.md", "a")
    talk = await Conversation.begun(desk, mode="plan")

    said = await talk.call(tool, **arguments)

    assert said["success"] is True, said


@carries("WS-MODE-4")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"path": "/docs/a.md", "content": "x", "overwrite": True}),
        ("write", {"path": "/new.md", "content": "x"}),
        ("write", {"path": "/new.md", "content": "x", "file_type": "plan"}),
        ("write", {"path": "/new.plan", "content": "x"}),
        ("edit", {"path": "/docs/a.md", "old_string": "a", "new_string": "x"}),
        ("edit", {"path": "/plans/known.plan", "old_string": "body", "new_string": "x"}),
        ("rm", {"path": "/docs/a.md"}),
        ("rm", {"path": "/plans/known.plan"}),
        ("mv", {"source": "/docs/a.md", "destination": "/docs/b.md"}),
        ("mv", {"source": "/docs/a.md", "destination": "/docs/b.plan"}),
        ("mv", {"source": "/plans/known.plan", "destination": "/plans/other.plan"}),
        ("touch", {"path": "/docs/a.md"}),
        ("touch", {"path": "/new.plan"}),
        ("mkdir", {"path": "/new"}),
        ("plan_write", {"title": "T", "content": "x", "path": "/docs/a.md"}),
        ("plan_edit", {"path": "/docs/a.md", "old_string": "a", "new_string": "x"}),
        ("file_write", {"path": "docs/a.md", "content": "x"}),
        ("fs.write", {"path": "@project/docs/a.md", "content": "x"}),
        ("fs.write", {"path": "@project/new.plan", "content": "x"}),
    ],
)
async def test_in_plan_mode_nothing_else_changes_one_byte(desk: Desk, tool: str, arguments: dict[str, Any]) -> None:
    await done(desk, "plan_write", title="T", content="body", path="/plans/known.plan")
    desk.write("docs/a.md", "a")
    talk = await Conversation.begun(desk, mode="plan")
    before = {str(path): path.read_bytes() for path in desk.root.rglob("*") if path.is_file()}

    await talk.call(tool, **arguments)

    assert desk.last_code in ("not_permitted", "invalid_arguments")
    assert {str(path): path.read_bytes() for path in desk.root.rglob("*") if path.is_file()} == before
    assert not (desk.root / "new").exists()


@carries("WS-MODE-5")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"content": "x", "overwrite": True, "file_type": "plan"}),
        ("plan_write", {"title": "T", "content": "x"}),
        ("plan_edit", {"old_string": "kept", "new_string": "x"}),
    ],
)
async def test_in_plan_mode_a_file_that_is_only_named_like_a_plan_stays(desk: Desk, tool: str, arguments: dict[str, Any]) -> None:
    await done(desk, "write", path="/really-a-document.plan", content="kept")
    talk = await Conversation.begun(desk, mode="plan")

    await talk.call(tool, path="/really-a-document.plan", **arguments)

    assert desk.last_code == "not_permitted"
    assert desk.text("really-a-document.plan") == "kept"
