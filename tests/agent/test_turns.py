"""How turns end, what they leave, and what is told of them."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.agent.conversation import Conversation
from holdfast.app.open_sessions import OpenSessions
from holdfast.app.setting import SessionSetting
from holdfast.store import sessions
from holdfast.vocabulary.limits import Limits
from holdfast.vocabulary.messages import AssistantMessage
from holdfast.vocabulary.profile import SHIPPED, Profile
from holdfast.vocabulary.trust import Trust
from tests.agent.talking import Talk, calls, talk
from tests.promises import carries

ASKED = {"name": "colour", "question": "Which?", "schema": {"type": "string"}}


def in_a_hurry(name: str, **limits: float) -> Profile:
    return replace(SHIPPED[name], limits=replace(Limits(), **limits))


def said(it: Talk) -> list[str]:
    return [message.text for message in it.conversation.messages if isinstance(message, AssistantMessage)]


@carries("LOOP-3")
async def test_no_clock_runs_while_calls_wait_side_by_side_for_a_person(tmp_path: Path) -> None:
    answer = [calls("ask_user", questions=[ASKED]), calls("ask_user", questions=[ASKED])]
    async with talk(tmp_path, answer, [{"say": "Thanks."}], profile=in_a_hurry("coder", loop_seconds=2.0)) as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:question", 2)

        for question in it.heard("chat:question"):
            await asyncio.sleep(1.2)
            await it.agents.held.person.answer(question["questionId"], {"colour": "blue"}, by="ada")

        assert await turn == "done"


async def test_an_answer_that_takes_too_long_is_cut_off_told_and_nothing_of_it_is_run(tmp_path: Path) -> None:
    slow = [{"say": "Half. "}, calls("file_write", path="a.txt", content="x"), {"delay": 60}]
    async with talk(tmp_path, slow, [{"say": "Whole."}], profile=in_a_hurry("core", model_seconds=0.3)) as it:
        assert await it.say() == "error"

        [error] = it.heard("chat:error")
        assert (error["code"], "0.3 s" in error["message"]) == ("provider_error", True)
        assert (said(it), it.conversation.unanswered) == (["Half. "], [])
        assert not (it.desk.root / "a.txt").exists()


@carries("SESSION-8")
async def test_what_was_said_before_a_cancel_stays_and_its_calls_and_thoughts_do_not(tmp_path: Path) -> None:
    answer = [{"think": "Hm. "}, {"say": "Half. "}, calls("file_write", path="a.txt", content="x"), {"delay": 60}]
    async with talk(tmp_path, answer) as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:text-delta")

        it.agents.cancel(it.conversation.id)

        assert await turn == "cancelled"
        [message] = [each for each in it.conversation.messages if isinstance(each, AssistantMessage)]
        assert (message.text, message.thinking, message.calls) == ("Half. ", "", ())
        assert "Half. " in str(await it.logged())


async def test_what_a_turn_asks_is_closed_with_its_cancel(tmp_path: Path) -> None:
    async with talk(tmp_path, [calls("file_write", path="a.txt", content="x")], trust=Trust.GUIDED) as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")

        it.agents.cancel(it.conversation.id)
        await turn

        assert (await it.agents.approvals.get(asked["approvalId"])).state == "expired"
        [decided] = it.heard("chat:tool-decided")
        assert (decided["decision"], decided["approvalId"]) == ("expired", asked["approvalId"])
        assert [(status["status"], is_error) for status, (_, is_error) in zip(it.heard("chat:tool-result"), it.results, strict=True)] == [
            ("error", True)
        ]


async def test_a_question_is_closed_with_its_turn(tmp_path: Path) -> None:
    async with talk(tmp_path, [calls("ask_user", questions=[ASKED])], profile="coder") as it:
        turn = asyncio.create_task(it.say())
        await it.until("chat:question")

        it.agents.cancel(it.conversation.id)
        await turn

        assert await it.agents.held.person.questions("pending") == []


@carries("ASK-5")
async def test_effects_that_wait_for_a_decision_are_dropped_with_the_cancel(tmp_path: Path) -> None:
    async with talk(tmp_path, [calls("bash", command="echo x > a.txt")], trust=Trust.GUIDED, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")

        it.agents.cancel(it.conversation.id)
        await turn

        assert (await it.agents.approvals.get(asked["approvalId"])).state == "expired"
        assert (await it.desk.call("effects"))["result"]["pending"] == []
        assert not (it.desk.root / "a.txt").exists()


@carries("SESSION-9")
async def test_the_state_of_a_session_and_the_files_that_change_are_told(tmp_path: Path) -> None:
    answers = [[calls("file_write", path="a.txt", content="x")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, trust=Trust.GUIDED) as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:tool-confirm")
        await it.agents.decide(asked["approvalId"], approved=True, by="ada")
        await turn

        assert await it.until("files:changed") == {"paths": ["/a.txt"]}
        states = [told["state"] for told in it.heard("session:state") if told["sessionId"] == it.conversation.id]
        assert states == ["running", "waiting", "running", "idle"]
        assert (await it.row()).state == "idle"


async def test_pieces_say_which_answer_and_where_in_it_they_belong(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "One two"}, calls("file_read", path="a.txt")], [{"say": "Three."}]) as it:
        await it.say()

        numbers = {seq: (kind, payload) for seq, kind, payload in await it.logged()}
        first, second, third = it.heard("chat:text-delta")
        assert [(piece["content"], piece["offset"]) for piece in (first, second, third)] == [("One ", 0), ("two", 4), ("Three.", 0)]
        assert (first["of"], numbers[first["of"]][0]) == (second["of"], "chat:stream-start")
        assert numbers[third["of"]][1]["role"] == "tool"
        replayed = [event.payload async for event in it.agents.replay(it.conversation.id, after=0, until=99)]
        assert [piece["of"] for piece in replayed if "of" in piece] == [first["of"], third["of"]]


@carries("CHAT-20")
async def test_a_mode_that_is_set_anew_counts_from_the_next_call_and_is_told(tmp_path: Path) -> None:
    answers: list[Any] = [[calls("ask_user", questions=[ASKED])], [calls("write", path="/a.txt", content="x")], [{"say": "Done."}]]
    async with talk(tmp_path, *answers, profile="coder") as it:
        turn = asyncio.create_task(it.say())
        asked = await it.until("chat:question")
        held = it.agents.held

        await sessions.change(it.desk.holdfast.platform.database, held.lease, it.conversation.id, mode="plan")
        await held.person.answer(asked["questionId"], {"colour": "blue"}, by="ada")

        assert await turn == "done"
        assert [told["mode"] for told in it.heard("chat:mode")] == ["plan"]
        assert [is_error for _, is_error in it.results] == [False, True]


@carries("PLAN-2")
async def test_in_plan_mode_a_model_sees_what_looks_asks_and_plans(tmp_path: Path) -> None:
    async with talk(tmp_path, profile="coder") as it:
        platform, held = it.desk.holdfast.platform, it.agents.held
        setting = SessionSetting(platform, held, it.conversation, it.profile, offers_tools=True)
        before = await setting.now()

        await sessions.change(platform.database, held.lease, it.conversation.id, mode="plan")
        after = await setting.now()

        lost = {str(tool["name"]) for tool in before.tools} - {str(tool["name"]) for tool in after.tools}
        assert {"edit", "rm", "mv", "touch", "mkdir", "bash", "file_write"} <= lost
        assert not lost & {"read", "ls", "grep", "ask_user", "plan_write", "exit_plan_mode"}
        assert before.system != after.system


async def test_a_client_hears_which_of_its_messages_it_is(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Here."}]) as it:
        task = await it.agents.start(it.conversation.id, "go", it.profile, model="scripted/test", client_id="mine-1")
        await task

        assert it.heard("chat:message")[0]["clientId"] == "mine-1"


@carries("SESSION-10")
async def test_idle_sessions_are_let_go_and_those_that_are_watched_only_rest(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Here."}], [{"say": "Again."}]) as it:
        await it.say()
        database, lease = it.desk.holdfast.platform.database, it.agents.held.lease
        opened = OpenSessions(most=10, idle_seconds=60, runs=lambda session: session == "runs")
        others = {name: Conversation(database, lease, name) for name in ("runs", "idle")}
        for conversation in (it.conversation, *others.values()):
            opened.use(conversation)

        now = asyncio.get_running_loop().time()
        opened.let_go(now + 30)
        assert len(opened) == 3
        opened.let_go(now + 61)

        assert (opened.get("runs"), opened.get("idle"), opened.get(it.conversation.id)) == (others["runs"], None, it.conversation)
        assert (it.conversation.is_resting, it.conversation.messages) == (True, [])
        await it.agents.conversation(it.conversation.id)
        assert said(it) == ["Here."]
        opened.close()


async def test_more_sessions_than_may_be_open_are_let_go_sooner(tmp_path: Path) -> None:
    async with talk(tmp_path) as it:
        database, lease = it.desk.holdfast.platform.database, it.agents.held.lease
        opened = OpenSessions(most=2, idle_seconds=600, runs=lambda _: False)
        for number in range(5):
            opened.use(Conversation(database, lease, str(number)))

        opened.let_go(asyncio.get_running_loop().time() + 31)

        assert [number for number in range(5) if opened.get(str(number)) is not None] == [3, 4]
        opened.close()
