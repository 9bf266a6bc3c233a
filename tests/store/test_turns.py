"""Turns that are open, in both databases."""

from holdfast.store import approvals, events, questions, sessions, turns
from holdfast.store.approvals import NewApproval
from holdfast.store.columns import now
from holdfast.store.database import Database
from holdfast.store.events import NewEvent
from holdfast.store.leases import Lease

BEGUN_WITH = {"model": "scripted/test"}


async def begun(database: Database, lease: Lease, session_id: str = "s") -> None:
    await sessions.open_session(database, lease, session_id=session_id, trust="guided", profile="coder")
    new = [NewEvent("message", {"text": "go"}), NewEvent("chat:stream-start", {})]
    await turns.begin(database, lease, session_id, "m", new, begun_with=BEGUN_WITH)


async def left(database: Database, lease: Lease) -> turns.OpenTurn:
    found = await turns.of_session(database, lease.workspace_id, "s")
    assert found is not None
    return found


async def state(database: Database, lease: Lease) -> str:
    found = await sessions.get(database, lease.workspace_id, "s")
    assert found is not None
    return found.state


async def asked(database: Database, lease: Lease, call_id: str, *, expires_at: int | None = None) -> str:
    new = NewApproval(
        session_id="s", call_id=call_id, tool="write", input={}, args_hash="h", reason="r", key=call_id, expires_at=expires_at
    )
    return (await approvals.ask(database, lease, new)).id


async def test_a_turn_is_open_from_its_first_events_to_its_last(database: Database, lease: Lease) -> None:
    await begun(database, lease)
    assert ((await left(database, lease)).begun_with, await state(database, lease)) == (BEGUN_WITH, "running")

    await turns.end(database, lease, "s", NewEvent("chat:stream-end", {}))

    assert await turns.left_open(database, lease.workspace_id) == []
    assert await state(database, lease) == "idle"
    assert [event.seq for event in await events.read(database, lease.workspace_id, "s")] == [1, 2, 3]


async def test_a_check_point_takes_the_place_of_the_one_before_and_goes_with_the_answer(database: Database, lease: Lease) -> None:
    await begun(database, lease)
    await turns.check_point(database, lease, "s", "m", "One ")
    await turns.check_point(database, lease, "s", "m", "One two ")
    await turns.check_point(database, lease, "s", "another", "Not this.")
    assert (await left(database, lease)).said == "One two "

    await turns.answer(database, lease, "s", [NewEvent("message", {"text": "One two three."})], used={"inputTokens": 7})

    found = await left(database, lease)
    assert (found.said, found.used) == (None, {"inputTokens": 7})


async def test_whoever_comes_next_finds_no_session_running_that_is_not_and_no_clock(database: Database, lease: Lease) -> None:
    await begun(database, lease)
    await sessions.open_session(database, lease, session_id="stuck", trust="guided", profile="coder")
    await turns.say_state(database, lease, "stuck", turns.RUNNING)
    approval_id = await asked(database, lease, "one", expires_at=now() - 1)

    await turns.tidy(database, lease)

    stuck = await sessions.get(database, lease.workspace_id, "stuck")
    approval = await approvals.get(database, lease.workspace_id, approval_id)
    assert stuck is not None
    assert approval is not None
    assert (stuck.state, approval.expires_at, approval.state) == ("idle", None, "pending")


async def test_what_calls_ask_is_closed_for_those_that_are_named_and_no_others(database: Database, lease: Lease) -> None:
    await begun(database, lease)
    closed, other = await asked(database, lease, "one"), await asked(database, lease, "two")
    for call_id in ("one", "two"):
        await questions.ask(database, lease, [{"name": "q"}], session_id="s", call_id=call_id)

    assert await turns.close_asked(database, lease, "s", {"one"}.__contains__) == [("one", "write", closed)]

    assert [each.id for each in await approvals.in_state(database, lease.workspace_id)] == [other]
    assert [each.call_id for each in await questions.in_state(database, lease.workspace_id)] == ["two"]


async def test_a_yes_that_was_used_up_can_be_given_back_and_only_a_yes(database: Database, lease: Lease) -> None:
    await begun(database, lease)
    yes, no = await asked(database, lease, "one"), await asked(database, lease, "two")
    await approvals.decide(database, lease, yes, "approved", by="ada")
    await approvals.decide(database, lease, no, "denied", by="ada")
    assert await approvals.use(database, lease, yes)

    await turns.give_back(database, lease, yes, "one")
    await turns.give_back(database, lease, no, "another")

    assert await approvals.use(database, lease, yes)
    assert not await approvals.use(database, lease, no)
    assert await turns.asked_in_call(database, lease.workspace_id, "s", "one") == [yes]


async def test_how_often_a_turn_was_gone_on_with_is_remembered(database: Database, lease: Lease) -> None:
    await begun(database, lease)

    await turns.count_resumed(database, lease, "s", 2, seq=5)

    found = await left(database, lease)
    assert (found.resumed, found.resumed_seq) == (2, 5)
