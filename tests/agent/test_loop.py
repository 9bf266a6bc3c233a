"""The agent's loop, with a script in the model's place and everything else real."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from holdfast.vocabulary.errors import Busy
from holdfast.vocabulary.messages import AssistantMessage, CallBlock, ToolMessage, UserMessage
from holdfast.vocabulary.trust import Trust
from tests.agent.talking import calls, talk
from tests.promises import carries


@carries("SESSION-1")
async def test_words_are_passed_on_as_they_come_and_kept_as_one_message(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Hello "}, {"say": "there."}]) as it:
        assert await it.say("hi") == "done"

        assert "".join(told["content"] for told in it.heard("chat:text-delta")) == "Hello there."
        assert [message.text for message in it.conversation.messages if not isinstance(message, ToolMessage)] == ["hi", "Hello there."]
        assert [event.type for event in it.events if event.seq is not None] == ["chat:message", "chat:stream-start", "chat:stream-end"]
        [ended] = it.heard("chat:stream-end")
        assert (ended["reason"], ended["messageId"]) == ("done", it.heard("chat:stream-start")[0]["messageId"])


async def test_calls_are_run_and_what_came_of_them_goes_back_until_the_model_is_done(tmp_path: Path) -> None:
    first, second = [calls("file_write", path="a.txt", content="new\n")], [calls("file_read", path="a.txt")]
    async with talk(tmp_path, first, second, [{"say": "Done."}]) as it:
        assert await it.say() == "done"

        assert it.results == [("wrote 4 bytes to a.txt", False), ("new\n", False)]
        assert it.desk.text("a.txt") == "new\n"
        assert [told["status"] for told in it.heard("chat:tool-result")] == ["success", "success"]
        assert [told["toolName"] for told in it.heard("chat:tool-start")] == ["file_write", "file_read"]


@carries("LOOP-1")
async def test_calls_of_one_answer_have_their_results_in_its_order(tmp_path: Path) -> None:
    answer = [calls("file_read", path="big.txt"), calls("file_read", path="none.txt"), calls("file_write", path="b.txt", content="x")]
    async with talk(tmp_path, answer, [{"say": "Done."}]) as it:
        it.desk.write("big.txt", "big\n" * 1000)

        await it.say()

        assert [text.splitlines()[0][:14] for text, _ in it.results] == ["big", "file not found", "wrote 1 bytes "]


@carries("LOOP-12", "LOOP-7")
async def test_a_call_that_is_no_json_is_not_run_and_the_model_is_told(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"call": "file_write", "raw": '{"path": "a.txt", "content": '}], [{"say": "Sorry."}]) as it:
        assert await it.say() == "done"

        assert [is_error for _, is_error in it.results] == [True]
        assert "was not run" in it.results[0][0]
        assert not (it.desk.root / "a.txt").exists()
        assert it.desk.audit() == []


@carries("LOOP-12")
async def test_an_answer_that_is_cut_inside_a_call_runs_nothing_and_the_session_can_be_continued(tmp_path: Path) -> None:
    cut = [{"say": "I write."}, {"call": "file_write", "with": {"path": "a.txt", "content": "x"}, "cut": True}]
    async with talk(tmp_path, cut, [{"say": "Again."}]) as it:
        assert await it.say() == "error"

        assert not (it.desk.root / "a.txt").exists()
        assert len(it.heard("chat:error")) == len(it.heard("chat:stream-end")) == 1
        assert await it.say("go on") in ("done", "error")
        assert [type(message) for message in it.conversation.messages][:2] == [UserMessage, AssistantMessage]


@carries("ASK-1", "ASK-2")
async def test_what_needs_a_yes_waits_for_it_and_a_no_goes_to_the_model(tmp_path: Path) -> None:
    answer = [calls("file_write", path="a.txt", content="x")]
    async with talk(tmp_path, answer, [{"say": "Fine."}], trust=Trust.GUIDED) as it:
        turn = asyncio.create_task(it.say())
        approvals = it.desk.holdfast.road.approvals
        assert approvals is not None
        await it.until("chat:tool-confirm")
        assert it.heard("chat:tool-start") == []

        await approvals.decide(it.heard("chat:tool-confirm")[0]["approvalId"], approved=False, by="ada", feedback="use docs/")

        assert await turn == "done"
        assert it.heard("chat:tool-start") == []
        assert (it.results[0][1], "use docs/" in it.results[0][0]) == (True, True)


async def test_a_turn_that_is_cancelled_ends_in_a_told_state_and_can_be_followed_by_another(tmp_path: Path) -> None:
    async with talk(tmp_path, [calls("bash", command="echo begun; sleep 60")], [{"say": "Done."}]) as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:tool-delta")
        with pytest.raises(Busy):
            await it.say("at once")

        assert it.agents.cancel(it.conversation.id)

        assert await turn == "cancelled"
        assert it.heard("chat:stream-end")[-1]["reason"] == "cancelled"


async def test_a_session_goes_on_after_a_restart_with_what_was_under_way_told_as_that(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "One."}]) as it:
        await it.say("first")
        await it.conversation.add(AssistantMessage((_call("lost"),)))
        session = it.conversation.id
    async with talk(tmp_path, [{"say": "Two."}], session=session) as it:
        assert await it.say("second") == "done"

        texts = [getattr(message, "text", "") for message in it.conversation.messages]
        assert (texts[:2], texts[-2:]) == (["first", "One."], ["second", "Two."])
        assert it.results == [("This call was under way when the program ended. Look at the files before you repeat it.", True)]


@carries("LOOP-5")
async def test_the_same_call_that_fails_again_and_again_is_pointed_out_and_then_ends_the_turn(tmp_path: Path) -> None:
    answer = [calls("file_read", path="none.txt")]
    async with talk(tmp_path, *[answer] * 6, [{"say": "Done."}]) as it:
        assert await it.say() == "error"

        assert [("failed 3 times" in text, "failed 4 times" in text) for text, _ in it.results] == [
            (False, False),
            (False, False),
            (True, False),
            (False, True),
        ]


@carries("LOOP-6")
async def test_paths_that_lead_outside_end_the_turn_at_the_third(tmp_path: Path) -> None:
    answers = [[calls("file_read", path=f"../{number}")] for number in range(5)]
    async with talk(tmp_path, *answers, [{"say": "Done."}]) as it:
        assert await it.say() == "error"

        assert len(it.results) == 3
        assert "outside" in it.heard("chat:error")[0]["message"]


@carries("CHAT-19")
async def test_a_fault_that_passes_is_tried_again_and_told(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"fault": 503, "times": 1}, {"say": "Here."}]) as it:
        assert await it.say() == "done"

        assert len(it.heard("chat:retry")) == 1


@carries("CHAT-6")
async def test_the_models_window_is_told_and_old_results_make_room_in_it(tmp_path: Path) -> None:
    answers = [[calls("file_read", path="big.txt")] for _ in range(10)]
    async with talk(tmp_path, *answers, [{"say": "Done."}], context_window=20_000) as it:
        it.desk.write("big.txt", "line of text\n" * 800)

        reason = await it.say()

        assert reason in ("done", "budget")
        assert {told["windowTokens"] for told in it.heard("chat:context")} == {20_000}


def _call(call_id: str) -> Any:
    return CallBlock(call_id, "file_write", '{"path": "lost.txt", "content": "x"}')


@carries("LOOP-11")
async def test_a_model_that_uses_an_id_again_is_asked_about_again_and_has_a_result_for_each(tmp_path: Path) -> None:
    answer = [calls("file_write", path="a.txt", content="x")]
    async with talk(tmp_path, answer, [{"say": "Done."}], trust=Trust.GUIDED) as it:
        approvals = it.desk.holdfast.road.approvals
        assert approvals is not None
        for number in (1, 2):
            it.conversation.messages.clear()  # so that the script begins anew, with the ids that it had
            turn = asyncio.create_task(it.say())
            while len(it.heard("chat:tool-confirm")) < number:
                it.news.clear()
                await it.news.wait()
            await approvals.decide(it.heard("chat:tool-confirm")[-1]["approvalId"], approved=True, by="ada")
            assert await turn == "done"

        ids = [told["toolId"] for told in it.heard("chat:tool-result")]
        assert ids == [ids[0], f"{ids[0]}-2"]
