"""Approvals and questions wait for a person, whatever happens to the process."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.store import approvals, leases, questions
from holdfast.store.approvals import NewApproval
from holdfast.store.columns import now
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import Conflict, LostLease, NotFound
from tests.store.scene import held_workspace

SECOND = 1_000_000


BASH = NewApproval(
    session_id="s1", call_id="c1", tool="bash", input={"command": "make"}, args_hash="abc", reason="guided asks before commands"
)


async def test_an_approval_outlives_the_process_that_asked(address: str) -> None:
    database = await open_database(address)
    lease = await held_workspace(database)
    asked = await approvals.ask(database, lease, replace(BASH, keep_call={"name": "keep"}, effects=[{"n": 1}]))
    await database.close()

    again = await open_database(address)

    assert await approvals.in_state(again, lease.workspace_id) == [asked]
    assert await approvals.get(again, lease.workspace_id, asked.id) == asked
    await again.close()


async def test_the_first_decision_counts_and_no_other(database: Database, lease: Lease) -> None:
    asked = await approvals.ask(database, lease, BASH)

    outcomes = await asyncio.gather(
        approvals.decide(database, lease, asked.id, "approved", by="ada"),
        approvals.decide(database, lease, asked.id, "denied", by="bob"),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [approvals.Approval, Conflict]
    kept = await approvals.get(database, lease.workspace_id, asked.id)
    assert kept is not None
    assert (kept.state, kept.decided_by) == ("approved", "ada")
    assert await approvals.in_state(database, lease.workspace_id) == []


async def test_effects_that_were_not_seen_cannot_be_approved(database: Database, lease: Lease) -> None:
    asked = await approvals.ask(database, lease, replace(BASH, effects_hash="seen"))

    with pytest.raises(Conflict):
        await approvals.decide(database, lease, asked.id, "kept", by="ada", effects_hash="another")
    with pytest.raises(Conflict):
        await approvals.decide(database, lease, asked.id, "kept", by="ada")

    decided = await approvals.decide(database, lease, asked.id, "kept", by="ada", effects_hash="seen", feedback="fine\0")
    assert (decided.state, decided.feedback) == ("kept", "fine\N{REPLACEMENT CHARACTER}")


async def test_approvals_past_their_time_expire_and_cannot_be_decided(database: Database, lease: Lease) -> None:
    late = await approvals.ask(database, lease, replace(BASH, expires_at=now() - SECOND))
    await approvals.ask(database, lease, replace(BASH, expires_at=now() + 60 * SECOND))
    await approvals.ask(database, lease, BASH)

    with pytest.raises(Conflict):
        await approvals.decide(database, lease, late.id, "approved", by="ada")
    expired = await approvals.expire(database, lease)

    assert [approval.id for approval in expired] == [late.id]
    assert len(await approvals.in_state(database, lease.workspace_id)) == 2
    assert len(await approvals.in_state(database, lease.workspace_id, "expired")) == 1


async def test_a_foreign_approval_or_question_is_not_found(database: Database, lease: Lease) -> None:
    other = await held_workspace(database)
    approval = await approvals.ask(database, lease, BASH)
    question = await questions.ask(database, lease, [{"name": "a"}])

    assert await approvals.get(database, other.workspace_id, approval.id) is None
    assert await questions.get(database, other.workspace_id, question.id) is None
    with pytest.raises(NotFound):
        await approvals.decide(database, other, approval.id, "approved", by="eve")
    with pytest.raises(NotFound):
        await questions.answer(database, other, question.id, {}, by="eve")


async def test_a_question_is_answered_once(database: Database, lease: Lease) -> None:
    asked = await questions.ask(database, lease, [{"name": "plan", "buttons": ["Accept"]}], session_id="s1", call_id="c1")

    answered = await questions.answer(database, lease, asked.id, {"plan": "Accept"}, by="ada", by_button=True)
    with pytest.raises(Conflict):
        await questions.answer(database, lease, asked.id, {"plan": "Reject"}, by="bob")

    assert (answered.state, answered.answers, answered.by_button, answered.answered_by) == ("answered", {"plan": "Accept"}, True, "ada")
    assert await questions.last_of(database, lease.workspace_id, "s1") == answered


async def test_the_last_question_of_a_session_is_the_one_that_counts(database: Database, lease: Lease) -> None:
    first = await questions.ask(database, lease, [{"name": "a"}], session_id="s1")
    await questions.answer(database, lease, first.id, {"a": "Accept"}, by="ada", by_button=True)
    second = await questions.ask(database, lease, [{"name": "b"}], session_id="s1")
    await questions.ask(database, lease, [{"name": "c"}], session_id="s2")

    assert await questions.last_of(database, lease.workspace_id, "s1") == second
    assert await questions.last_of(database, lease.workspace_id, "s3") is None


async def test_questions_past_their_time_expire_and_cannot_be_answered(database: Database, lease: Lease) -> None:
    late = await questions.ask(database, lease, [{"name": "a"}], expires_at=now() - SECOND)
    open_one = await questions.ask(database, lease, [{"name": "b"}], expires_at=now() + 60 * SECOND)

    with pytest.raises(Conflict):
        await questions.answer(database, lease, late.id, {"a": 1}, by="ada")

    assert [question.id for question in await questions.expire(database, lease)] == [late.id]
    assert await questions.in_state(database, lease.workspace_id) == [open_one]


async def test_a_replaced_holder_can_decide_nothing(database: Database, lease: Lease) -> None:
    approval = await approvals.ask(database, lease, BASH)
    question = await questions.ask(database, lease, [{"name": "a"}])
    node = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, node, lease.workspace_id, holder_is_gone=True)

    with pytest.raises(LostLease):
        await approvals.decide(database, lease, approval.id, "approved", by="ada")
    with pytest.raises(LostLease):
        await questions.answer(database, lease, question.id, {}, by="ada")


async def test_what_is_asked_again_with_the_same_key_is_asked_once(database: Database, lease: Lease) -> None:
    first = await approvals.ask(database, lease, replace(BASH, key="c1"))
    question = await questions.ask(database, lease, [{"name": "a"}], key="c2")

    assert await approvals.ask(database, lease, replace(BASH, key="c1")) == first
    assert await questions.ask(database, lease, [{"name": "a"}], key="c2") == question
    assert len(await approvals.in_state(database, lease.workspace_id)) == 1
    assert len(await questions.in_state(database, lease.workspace_id)) == 1
