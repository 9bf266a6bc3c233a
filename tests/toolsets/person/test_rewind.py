"""rewind"""

from typing import Any

from holdfast.store import events, sessions
from holdfast.store.events import NewEvent
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.json import Json
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256


async def take(desk: Desk, call: str, name: str, /, *, effects: Wish = Wish.KEEP, **arguments: Json) -> Any:
    """A call of the session, told in its log as the agent tells it."""
    desk.last = await desk.holdfast.take(ToolCall(call, name, arguments, Caller(agent="coder", session="one"), effects))
    await tell(desk, "chat:tool-result", toolId=call)
    return desk.last.answer.body


async def tell(desk: Desk, kind: str, **payload: Json) -> int:
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    [event] = await events.append(desk.holdfast.platform.database, held.lease, "one", [NewEvent(kind, payload)])
    return event.seq


async def begin(desk: Desk) -> None:
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    await sessions.open_session(desk.holdfast.platform.database, held.lease, session_id="one", trust="guided", profile="coder")


@carries("REWIND-1", "REWIND-2", "REWIND-3")
async def test_a_turn_is_taken_back_by_tools_and_commands_and_what_the_person_did_stays(desk: Desk) -> None:
    await begin(desk)
    desk.write("mine.md", "mine\n")
    await take(desk, "c1", "write", path="/a.md", content="first\n")
    turn = await tell(desk, "chat:message", role="user")
    await take(desk, "c2", "edit", path="/a.md", old_string="first", new_string="second")
    await take(desk, "c3", "bash", command="echo b > b.md; echo more >> mine.md; mkdir d; mv a.md d/a.md; rm -f none")
    await take(desk, "c4", "write", path="/c.md", content="c\n")
    desk.write("c.md", "by hand\n")

    would = await done(desk, "rewind", session="one", event=turn, dry_run=True)
    assert (desk.text("d/a.md"), desk.text("mine.md")) == ("second\n", "mine\nmore\n")
    did = await done(desk, "rewind", session="one", event=turn)

    assert did == {**would, "dry_run": False, "undo_call_id": did["undo_call_id"]}
    assert (would["undo_call_id"], did["calls"], did["session_id"], did["event"]) == (None, ["c4", "c3", "c2"], "one", turn)
    assert {(each["path"], each["kind"]) for each in did["restored"]} == {("/a.md", "added"), ("/mine.md", "changed")}
    assert {(each["path"], each["type"]) for each in did["removed"]} == {("/b.md", "file"), ("/d", "directory"), ("/d/a.md", "file")}
    assert did["left_alone"] == [{"path": "/c.md", "why": "changed"}]
    assert did["count"] == 5
    assert {path.name: path.read_text() for path in desk.root.iterdir()} == {"a.md": "first\n", "mine.md": "mine\n", "c.md": "by hand\n"}

    await done(desk, "undo", call_id=did["undo_call_id"])

    assert (desk.text("d/a.md"), desk.text("mine.md"), desk.text("b.md")) == ("second\n", "mine\nmore\n", "b\n")


@carries("REWIND-1")
async def test_effects_that_were_held_and_kept_after_the_event_are_taken_back_too(desk: Desk) -> None:
    await begin(desk)
    held = await take(desk, "c1", "bash", command="echo held > held.md", effects=Wish.HOLD)
    event = await tell(desk, "chat:message", role="user")
    await done(desk, "keep", effects_id=held["metadata"]["effectsId"])
    assert sha256(desk.text("held.md")) == sha256("held\n")

    did = await done(desk, "rewind", session="one", event=event)

    assert [each["path"] for each in did["removed"]] == ["/held.md"]
    assert not (desk.root / "held.md").exists()


@carries("REWIND-5")
async def test_no_such_session_is_404_and_no_such_event_400(desk: Desk) -> None:
    await begin(desk)

    await refused(desk, 404, "rewind", session="two", event=0)
    await refused(desk, 400, "rewind", session="one", event=9)
    await refused(desk, 400, "rewind", session="one", event=-1)

    assert (await done(desk, "rewind", session="one", event=0))["count"] == 0
