"""Calls that wait for a person's yes, on a real workspace."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.dispatch.approvals import Approvals
from holdfast.store.approvals import Approval
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Conflict, InvalidArguments, NotFound
from holdfast.vocabulary.events import ApprovalAsked, ApprovalExpired, Event, ToolStarted
from holdfast.vocabulary.json import JsonObject
from holdfast.vocabulary.outcome import Done, Outcome, Refused
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.trust import Trust
from tests.desk import Desk, open_desk
from tests.promises import carries

WRITE: JsonObject = {"path": "a.txt", "content": "new\n"}


class Asked:
    """A call of an agent that is under way, and the person who is asked about it."""

    def __init__(self, desk: Desk, name: str, arguments: JsonObject, *, trust: Trust, profile: str, call_id: str) -> None:
        self.desk = desk
        self.approvals = approvals_of(desk)
        self.events: list[Event] = []
        desk.holdfast.watch(self.events.append)
        call = ToolCall(call_id, name, arguments, Caller(agent=profile, run=desk.holdfast.run), trust=trust)
        self.running = asyncio.create_task(desk.holdfast.take(call, SHIPPED[profile]))

    async def question(self) -> Approval:
        """What is asked, once it is, and has been told."""
        while not (pending := await self.approvals.in_state()) or not any(isinstance(event, ApprovalAsked) for event in self.events):
            assert not self.running.done(), f"it was not asked for: {self.running.result()}"
            await asyncio.sleep(0.01)
        return pending[0]

    async def says(self, *, approved: bool, **more: Any) -> Outcome:
        """The person decides, and the call comes to its end."""
        asked = await self.question()
        await self.approvals.decide(asked.id, approved=approved, by="ada", **more)
        return await self.running


def approvals_of(desk: Desk) -> Approvals:
    approvals = desk.holdfast.road.approvals
    assert approvals is not None
    return approvals


def calls(
    desk: Desk,
    name: str = "file_write",
    arguments: JsonObject = WRITE,
    *,
    trust: Trust = Trust.GUIDED,
    profile: str = "core",
    call_id: str = "c1",
) -> Asked:
    return Asked(desk, name, arguments, trust=trust, profile=profile, call_id=call_id)


async def test_whoever_is_asked_sees_what_would_change_and_nothing_of_it_has(desk: Desk) -> None:
    desk.write("a.txt", "old\n")
    asked = calls(desk, arguments={"path": "a.txt", "content": "new\n"})
    nested = calls(desk, arguments={"path": "not/there/yet.txt", "content": "one\n"}, call_id="c2")
    pending = [await asked.question()]
    while len(pending) < 2:
        pending = await asked.approvals.in_state()
        await asyncio.sleep(0.01)

    changed, added = (cast("list[dict[str, Any]]", each.effects)[0] for each in sorted(pending, key=lambda each: each.call_id))
    assert (changed["path"], changed["kind"], changed["added"], changed["removed"]) == ("/a.txt", "changed", 1, 1)
    assert changed["diff"] == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
    assert (added["path"], added["kind"]) == ("/not/there/yet.txt", "added")
    assert sorted(path.name for path in desk.root.iterdir()) == ["a.txt"]
    assert desk.text("a.txt") == "old\n"

    for each in pending:
        with pytest.raises(InvalidArguments):
            await asked.approvals.decide(each.id, approved=True, by="ada", keep=["/a.txt"])
        await asked.approvals.decide(each.id, approved=True, by="ada")
    assert isinstance(await asked.running, Done)
    assert isinstance(await nested.running, Done)
    assert desk.text("a.txt") == "new\n"


@carries("ASK-1")
async def test_nothing_has_started_until_somebody_says_yes(desk: Desk) -> None:
    asked = calls(desk)

    question = await asked.question()
    assert (question.tool, question.input, question.reason) == ("file_write", WRITE, "trust is guided, and file_write changes files")
    assert [type(event) for event in asked.events] == [ApprovalAsked]
    assert not (desk.root / "a.txt").exists()

    outcome = await asked.says(approved=True)

    assert isinstance(outcome, Done)
    assert desk.text("a.txt") == "new\n"
    assert any(isinstance(event, ToolStarted) for event in asked.events)


async def test_a_no_is_told_to_the_model_with_what_the_person_said(desk: Desk) -> None:
    outcome = await calls(desk).says(approved=False, feedback="write it in docs/ instead")

    assert isinstance(outcome, Refused)
    assert (outcome.error.code, "write it in docs/ instead" in outcome.answer.text) == ("denied", True)
    assert not (desk.root / "a.txt").exists()
    assert [line["output"]["refused"] for line in desk.audit()] == [True]


@carries("ASK-4")
async def test_arguments_that_a_person_changed_are_what_runs(desk: Desk) -> None:
    await calls(desk).says(approved=True, changed={"path": "b.txt", "content": "theirs\n"})

    assert (desk.text("b.txt"), (desk.root / "a.txt").exists()) == ("theirs\n", False)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"path": "../out.txt", "content": ""}, "outside"),
        ({"path": ".env", "content": ""}, "protected"),
        ({"path": 7}, "invalid_arguments"),
    ],
)
async def test_arguments_that_a_person_changed_are_judged_like_any(desk: Desk, changed: JsonObject, code: str) -> None:
    outcome = await calls(desk).says(approved=True, changed=changed)

    assert isinstance(outcome, Refused)
    assert outcome.error.code == code
    assert sorted(path.name for path in desk.root.iterdir()) == []


async def test_a_no_cannot_change_arguments(desk: Desk) -> None:
    asked = calls(desk)
    question = await asked.question()

    with pytest.raises(InvalidArguments):
        await asked.approvals.decide(question.id, approved=False, by="ada", changed={})

    await asked.says(approved=False)


@pytest.mark.parametrize(
    ("trust", "name", "is_asked"),
    [
        (Trust.SUPERVISED, "file_read", True),
        (Trust.GUIDED, "file_read", False),
        (Trust.GUIDED, "file_write", True),
        (Trust.AUTONOMOUS, "file_write", False),
        (Trust.GUIDED, "bash", True),
    ],
)
async def test_what_is_asked_for_is_as_trust_says(desk: Desk, trust: Trust, name: str, is_asked: bool) -> None:
    desk.write("a.txt", "old\n")
    arguments: dict[str, JsonObject] = {"file_read": {"path": "a.txt"}, "file_write": WRITE, "bash": {"command": "true"}}
    asked = calls(desk, name, arguments[name], trust=trust)

    if is_asked:
        await asked.says(approved=True)

    assert isinstance(await asked.running, Done)
    assert any(isinstance(event, ApprovalAsked) for event in asked.events) is is_asked


@carries("ASK-6")
async def test_what_nobody_decides_in_time_is_denied_where_somebody_could_have(desk: Desk) -> None:
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    impatient = Approvals(desk.holdfast.platform.database, held.lease, seconds=0.05, is_watched=lambda _: True)
    object.__setattr__(held.road, "approvals", impatient)

    asked = calls(desk)
    outcome = await asked.running

    assert isinstance(outcome, Refused)
    assert "in time" in outcome.error.message
    assert [event.approval["state"] for event in asked.events if isinstance(event, ApprovalExpired)] == ["expired"]
    with pytest.raises(Conflict):
        await impatient.decide((await impatient.in_state("expired"))[0].id, approved=True, by="ada")


@carries("ASK-6")
async def test_an_approval_outlives_the_process_and_is_the_answer_when_the_call_is_made_again(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        asked = calls(desk)
        question = await asked.question()
    assert (await asked.running).answer.is_error
    async with open_desk(tmp_path) as desk:
        approvals = approvals_of(desk)
        assert [each.id for each in await approvals.in_state()] == [question.id]
        await approvals.decide(question.id, approved=True, by="ada")

        assert isinstance(await calls(desk).running, Done)


@carries("ASK-3")
async def test_a_yes_is_for_one_call_with_its_arguments_and_no_other(desk: Desk) -> None:
    await calls(desk).says(approved=True)

    other_arguments = calls(desk, arguments={"path": "b.txt", "content": "x"})
    another_call = calls(desk, call_id="c2")

    pending = [await other_arguments.question()]
    while len(pending) < 2:
        pending = await another_call.approvals.in_state()
        await asyncio.sleep(0.01)
    assert not other_arguments.running.done()
    assert not another_call.running.done()
    for each in pending:
        await another_call.approvals.decide(each.id, approved=False, by="ada")
    assert not isinstance(await other_arguments.running, Done)
    with pytest.raises(NotFound):
        await another_call.approvals.decide("guessed", approved=True, by="eve")
    with pytest.raises(Conflict):
        await another_call.approvals.decide(pending[0].id, approved=True, by="eve")
    assert not (desk.root / "b.txt").exists()


@asynccontextmanager
async def ran(desk: Desk, command: str) -> AsyncGenerator[tuple[Asked, Approval]]:
    """A command of a guided coder, which has run and waits for a decision about its effects."""
    asked = calls(desk, "bash", {"command": command}, profile="coder")
    yield asked, await asked.question()


@carries("ASK-1")
async def test_effects_are_asked_about_when_the_command_has_run_and_are_kept_by_a_yes(desk: Desk) -> None:
    async with ran(desk, "echo hi; echo x > made.txt") as (asked, question):
        assert any(isinstance(event, ToolStarted) for event in asked.events)
        effects = cast("list[dict[str, Any]]", question.effects)
        assert [(one["n"], one["path"], one["kind"], one["added"]) for one in effects] == [(1, "/made.txt", "added", 1)]
        assert question.expires_at is None
        assert not (desk.root / "made.txt").exists()

        outcome = await asked.says(approved=True, effects_hash=question.effects_hash)

    assert outcome.answer.text == "hi\n[the person kept the effects]"
    assert (outcome.answer.metadata or {})["effectsState"] == "kept"
    assert desk.text("made.txt") == "x\n"


async def test_effects_are_dropped_by_a_no_and_the_model_hears_why(desk: Desk) -> None:
    async with ran(desk, "echo x > made.txt; exit 3") as (asked, question):
        outcome = await asked.says(approved=False, feedback="not here", effects_hash=question.effects_hash)

    assert "not here" in outcome.answer.text
    assert ((outcome.answer.metadata or {})["exitCode"], (outcome.answer.metadata or {})["effectsState"]) == (3, "dropped")
    assert not (desk.root / "made.txt").exists()
    assert not [path for path in (desk.root.parent / "home" / "layers").glob("*/*") if not path.name.startswith(".")]


@carries("ASK-5")
async def test_effects_are_decided_only_by_who_has_seen_them(desk: Desk) -> None:
    async with ran(desk, "echo x > made.txt") as (asked, question):
        for seen in (None, "0" * 64):
            with pytest.raises(Conflict):
                await asked.approvals.decide(question.id, approved=True, by="ada", effects_hash=seen)
        assert not asked.running.done()
        await asked.says(approved=False, effects_hash=question.effects_hash)


async def test_a_command_without_effects_asks_nothing(desk: Desk) -> None:
    outcome = await calls(desk, "bash", {"command": "echo hi"}, profile="coder").running

    assert outcome.answer.text == "hi\n"


@carries("ASK-5")
async def test_a_call_that_is_cancelled_while_its_effects_are_looked_at_leaves_none(desk: Desk) -> None:
    async with ran(desk, "echo x > made.txt") as (asked, _):
        asked.running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked.running

    assert not (desk.root / "made.txt").exists()
    assert (await desk.call("effects"))["result"]["pending"] == []


@carries("ASK-3")
async def test_a_yes_is_used_up_so_the_same_call_made_again_is_asked_for_again(desk: Desk) -> None:
    await calls(desk).says(approved=True)
    desk.write("a.txt", "mine\n")

    again = calls(desk)

    question = await again.question()
    assert desk.text("a.txt") == "mine\n"
    await again.approvals.decide(question.id, approved=False, by="ada")
    assert isinstance(await again.running, Refused)


@pytest.mark.parametrize("keep", [[], ["/none.txt"], ["/made"]])
async def test_keeping_what_is_not_there_is_refused_and_leaves_the_question_open(desk: Desk, keep: list[str]) -> None:
    async with ran(desk, "echo a > made.txt; echo b > other.txt") as (asked, question):
        with pytest.raises(InvalidArguments):
            await asked.approvals.decide(question.id, approved=True, by="ada", effects_hash=question.effects_hash, keep=keep)

        await asked.says(approved=True, effects_hash=question.effects_hash, keep=["/other.txt"])

    assert (desk.text("other.txt"), (desk.root / "made.txt").exists()) == ("b\n", False)
