"""Turns that are left, by a crash or a stop, and gone on with."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from holdfast.store import turns
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, TextBlock
from holdfast.vocabulary.trust import Trust
from tests.agent.talking import Talk, calls, eventually, talk
from tests.promises import carries

ASKED = {"name": "colour", "question": "Which?", "schema": {"type": "string"}}
FIRST = [{"say": "-"}]  # the answer that was given before
BEGUN_WITH: dict[str, Any] = {"profile": "core", "model": "scripted/test", "bounds": {"answers": 200}}


async def crashed(it: Talk, *blocks: Any, profile: str = "core") -> str:
    """Leave the session as a process does that is killed after the model's answer, before its first call."""
    begun_with = {**BEGUN_WITH, "profile": profile}
    await it.conversation.begin(str(uuid4()), "go", model="scripted/test", begun_with=begun_with, said={"messageId": "m"})
    if blocks:
        await it.conversation.add(AssistantMessage(blocks))
    return it.conversation.id


async def left_open(it: Talk) -> turns.OpenTurn:
    left = await turns.of_session(it.desk.holdfast.platform.database, it.agents.held.lease.workspace_id, it.conversation.id)
    assert left is not None
    return left


async def said(it: Talk, words: str) -> bool:
    return (await left_open(it)).said == words


async def resumed(it: Talk, times: int) -> bool:
    return (await left_open(it)).resumed == times


async def is_at_rest(it: Talk) -> bool:
    return not it.agents.is_running(it.conversation.id)


def call(tool: str, arguments: str, call_id: str = "one") -> CallBlock:
    return CallBlock(call_id, tool, arguments)


WRITE = '{"path": "a.txt", "content": "new"}'


async def crashed_after_writing(it: Talk) -> str:
    """A session that was left when its call had been run, and the model had not been told."""
    session = await crashed(it, call("file_write", WRITE))
    await it.agents.held.take(ToolCall("one", "file_write", WRITE, Caller(agent="core", session=session)), it.profile)
    return session


@carries("SESSION-2")
async def test_a_turn_that_a_crash_left_goes_on_by_itself_to_its_one_end(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it)
    async with talk(tmp_path, [{"say": "Here."}], session=session) as it:
        end = await it.until("chat:stream-end")

        log = await it.logged()
        [start] = [payload for _, kind, payload in log if kind == "chat:stream-start"]
        assert [kind for _, kind, _ in log].count("chat:stream-end") == 1
        assert (end["reason"], end["messageId"], it.text) == ("done", start["messageId"], "Here.")
        assert [seq for seq, _, _ in log] == list(range(1, len(log) + 1))
        assert (await it.row()).state == "idle"


async def test_a_call_with_nothing_on_record_has_not_run_and_is_run_once(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it, call("file_write", WRITE))
    async with talk(tmp_path, FIRST, [{"say": "Done."}], session=session) as it:
        await it.until("chat:stream-end")

        assert it.results == [("wrote 3 bytes to a.txt", False)]
        assert it.desk.text("a.txt") == "new"


async def test_a_call_that_was_done_is_told_as_done_and_not_run_again(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed_after_writing(it)
        it.desk.write("a.txt", "by hand")
    async with talk(tmp_path, FIRST, [{"say": "Done."}], session=session) as it:
        await it.until("chat:stream-end")

        [(text, is_error)] = it.results
        assert (text.startswith("Done before the program ended."), is_error) == (True, False)
        assert it.desk.text("a.txt") == "by hand"


async def test_a_call_that_was_begun_and_not_finished_is_told_with_the_files_that_it_changed(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed_after_writing(it)
        # As it is when the process ends between the change and the end of the call.
        unfinished = "UPDATE audit SET outcome = 'started', output = 'null' WHERE call_id = 'one'"
        await it.desk.holdfast.platform.database.write(lambda transaction: transaction.run(unfinished, {}))
    async with talk(tmp_path, FIRST, [{"say": "Done."}], session=session) as it:
        await it.until("chat:stream-end")

        assert it.results == [("Done, but the program ended before it could answer: these files are changed: /a.txt.", False)]


async def test_a_command_that_was_under_way_is_told_as_not_run_and_not_run_again(tmp_path: Path) -> None:
    async with talk(tmp_path, [calls("bash", command="echo begun; echo x >> a.txt; sleep 60")], goes_on=False) as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:tool-delta")
        session = it.conversation.id
        # Nothing of what this process does from now on is as if it had been killed, but for what is on record.
        started = await turns.records_of_call(it.desk.holdfast.platform.database, it.agents.held.lease.workspace_id, session, "call_1_1_1")
        assert [record.outcome for record in started] == ["started"]
        it.agents._turns._turns[session].calls.is_leaving = True  # pyright: ignore[reportPrivateUsage] - a killed process cannot be had in this one
        turn.cancel()
        await asyncio.wait({turn})
    async with talk(tmp_path, FIRST, [{"say": "Done."}], session=session) as it:
        await it.until("chat:stream-end")

        [(text, is_error)] = it.results
        assert (text.startswith("Stopped before its end: nothing has changed."), is_error) == (True, True)
        assert not (it.desk.root / "a.txt").exists()


async def test_a_call_that_waits_for_a_yes_waits_again_under_the_same_one_after_a_stop(tmp_path: Path) -> None:
    answers = [[calls("file_write", path="a.txt", content="x")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED) as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        assert (await it.row()).state == "waiting"
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
        assert it.heard("chat:stream-end") == []
    async with talk(tmp_path, *answers, session=session) as it:
        await it.agents.decide(asked["approvalId"], approved=True, by="ada")
        await it.until("chat:stream-end")

        log = [kind for _, kind, _ in await it.logged()]
        assert (log.count("chat:tool-confirm"), log.count("chat:tool-start"), log.count("chat:stream-end")) == (1, 1, 1)
        assert it.results == [("wrote 1 bytes to a.txt", False)]


async def test_a_yes_that_was_used_up_by_a_call_that_never_ran_still_counts(tmp_path: Path) -> None:
    answers = [[calls("file_write", path="a.txt", content="x")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED) as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
        used_up = "UPDATE approvals SET state = 'approved', key = NULL WHERE id = :id"
        await it.desk.holdfast.platform.database.write(lambda transaction: transaction.run(used_up, {"id": asked["approvalId"]}))
    async with talk(tmp_path, *answers, session=session) as it:
        await it.until("chat:stream-end")

        assert it.results == [("wrote 1 bytes to a.txt", False)]
        assert it.heard("chat:tool-confirm") == []


async def test_effects_that_wait_for_a_decision_wait_for_it_again_after_a_stop(tmp_path: Path) -> None:
    answers = [[calls("bash", command="echo x > a.txt")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
        assert not (it.desk.root / "a.txt").exists()
    async with talk(tmp_path, *answers, session=session, profile="coder") as it:
        await it.agents.decide(asked["approvalId"], approved=True, by="ada", effects_hash=asked["effectsHash"])
        await it.until("chat:stream-end")

        assert it.desk.text("a.txt") == "x\n"
        [(text, is_error)] = it.results
        assert ("the person kept the effects" in text, is_error) == (True, False)


async def test_a_question_that_was_answered_while_nothing_ran_has_its_answer(tmp_path: Path) -> None:
    answers = [[calls("ask_user", questions=[ASKED])], [{"say": "Thanks."}]]
    async with talk(tmp_path, *answers, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:question")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
    async with talk(tmp_path, *answers, session=session, profile="coder", goes_on=False) as it:
        await it.agents.held.person.answer(asked["questionId"], {"colour": "blue"}, by="ada")
        await it.until("chat:stream-end")

        assert ["blue" in text for text, _ in it.results] == [True]
        assert [kind for _, kind, _ in await it.logged()].count("chat:question") == 1


@carries("SESSION-8")
async def test_what_had_been_said_when_the_program_stopped_is_kept_and_the_model_goes_on_from_there(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Half of it. "}, {"delay": 60}]) as it:
        turn = asyncio.create_task(it.say())
        while it.text != "Half of it. ":
            await it.until("chat:text-delta", len(it.heard("chat:text-delta")) + 1)
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
    async with talk(tmp_path, [{"say": "All of it."}], session=session) as it:
        await it.until("chat:stream-end")

        said = [message.text for message in it.conversation.messages if isinstance(message, AssistantMessage)]
        assert said == ["Half of it. ", "All of it."]


async def test_an_answer_is_kept_as_it_comes_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.agent.under_way._CHECK_POINT_SECONDS", 0.01)
    async with talk(tmp_path, [{"say": "One "}, {"delay": 60}]) as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:text-delta")

        await eventually(partial(said, it, "One "))

        it.agents.cancel(it.conversation.id)
        await turn


async def test_a_turn_that_gets_nowhere_three_times_is_not_begun_again_by_itself_and_says_so(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it)
    for number in (1, 2):
        async with talk(tmp_path, [{"delay": 60}], session=session) as it:
            await eventually(partial(resumed, it, number))
    async with talk(tmp_path, [{"say": "Again."}], session=session) as it:
        error = await it.until("chat:error")

        assert error["code"] == "interrupted"
        await eventually(partial(is_at_rest, it))
        assert it.heard("chat:stream-end") == []
        assert await it.say("go on") == "done"
        kinds = [kind for _, kind, _ in await it.logged()]
        assert (kinds.count("chat:stream-start"), kinds.count("chat:stream-end")) == (2, 2)


async def test_an_answer_that_was_whole_needs_only_its_end(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it, TextBlock("All said."))
    async with talk(tmp_path, FIRST, session=session) as it:
        assert (await it.until("chat:stream-end"))["reason"] == "done"
        assert it.text == ""


async def test_with_ask_a_turn_that_was_left_waits_until_the_person_says_something(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it, call("file_write", WRITE))
    async with talk(tmp_path, FIRST, [{"say": "Again."}], session=session, resume="ask") as it:
        assert not it.agents.is_running(session)

        assert await it.say("go on") in ("done", "error")

        kinds = [kind for _, kind, _ in await it.logged()]
        assert (kinds.count("chat:stream-start"), kinds.count("chat:stream-end")) == (2, 2)
        assert it.results == [("Not run: the turn was ended first.", True)]
        assert not (it.desk.root / "a.txt").exists()


async def test_with_ask_a_turn_that_was_left_can_be_cancelled(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it)
    async with talk(tmp_path, FIRST, session=session, resume="ask") as it:
        assert it.agents.cancel(session)

        assert (await it.until("chat:stream-end"))["reason"] == "cancelled"
        assert not it.agents.cancel(session)


@pytest.mark.parametrize("trust", [Trust.GUIDED, Trust.AUTONOMOUS])
async def test_effects_that_nobody_was_asked_about_yet_are_asked_about_or_kept_as_the_session_is_trusted(
    tmp_path: Path, trust: Trust
) -> None:
    answers = [[calls("bash", command="echo x > a.txt")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:tool-confirm")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
        # As it is when the process ends just before it asks.
        await it.desk.holdfast.platform.database.write(lambda transaction: transaction.run("DELETE FROM approvals", {}))
        await it.agents.trust(session, trust)
    async with talk(tmp_path, *answers, session=session, profile="coder") as it:
        if trust is Trust.GUIDED:
            asked = await it.until("chat:tool-confirm")
            assert not (it.desk.root / "a.txt").exists()
            await it.agents.decide(asked["approvalId"], approved=True, by="ada", effects_hash=asked["effectsHash"])
        await it.until("chat:stream-end")

        assert it.desk.text("a.txt") == "x\n"
        assert [is_error for _, is_error in it.results] == [False]


async def test_a_no_to_effects_that_was_said_while_nothing_ran_drops_them(tmp_path: Path) -> None:
    answers = [[calls("bash", command="echo x > a.txt")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
        await it.agents.approvals.decide(
            asked["approvalId"], approved=False, by="ada", feedback="not there", effects_hash=asked["effectsHash"]
        )
    async with talk(tmp_path, *answers, session=session, profile="coder") as it:
        await it.until("chat:stream-end")

        assert ["not there" in text for text, _ in it.results] == [True]
        assert not (it.desk.root / "a.txt").exists()
        assert (await it.desk.call("effects"))["result"]["pending"] == []


async def test_a_turn_whose_profile_is_gone_ends_in_an_error_that_is_told(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        session = await crashed(it, profile="nobody")
    async with talk(tmp_path, FIRST, session=session) as it:
        assert (await it.until("chat:stream-end"))["reason"] == "error"
        assert it.heard("chat:error")[0]["code"] == "invalid_setting"


async def test_a_turn_that_was_left_ends_with_its_session(tmp_path: Path) -> None:
    answers = [[calls("bash", command="echo x > a.txt")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        session = it.conversation.id
        await it.agents.close()
        await asyncio.wait({turn})
    async with talk(tmp_path, *answers, session=session, profile="coder", resume="ask") as it:
        await it.agents.end(session)

        assert (await it.agents.approvals.get(asked["approvalId"])).state == "expired"
        assert (await it.desk.call("effects"))["result"]["pending"] == []
