"""The road: every call comes to one outcome and leaves one record, whatever happens on its way."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest

from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Broken
from holdfast.vocabulary.events import Event, ToolFinished, ToolOutput, ToolStarted
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.limits import Limits
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.scope import Permission, Scope
from tests.desk import Desk
from tests.dispatch.way import PROFILE, SECRET_OF_A_BUG, Way
from tests.promises import carries


def code(outcome: Outcome) -> str | None:
    return None if isinstance(outcome, Done) else outcome.error.code


def everything_said(outcome: Outcome) -> str:
    return f"{outcome.answer.body} {outcome.answer.text} {outcome.answer.metadata}"


# One outcome, one record

ENDINGS: dict[str, tuple[str, Mapping[str, Json] | str, type[Outcome], str | None]] = {
    "done": ("say", {"word": "hello"}, Done, None),
    "as text": ("say", '{"word": "hello"}', Done, None),
    "unknown": ("no_such_tool", {}, Refused, "unknown_tool"),
    "of another toolset": ("other_say", {}, Refused, "unknown_tool"),
    "cannot be imported": ("torn", {}, Refused, "unknown_tool"),
    "no JSON": ("say", "{", Refused, "invalid_arguments"),
    "no object": ("say", "[1]", Refused, "invalid_arguments"),
    "bad arguments": ("say", {"word": 3}, Refused, "invalid_arguments"),
    "half a character": ("say", {"word": "\ud800"}, Refused, "invalid_arguments"),
    "outside": ("read", {"path": "../x"}, Refused, "outside"),
    "protected": ("read", {"path": ".env"}, Refused, "protected"),
    "failed": ("fail", {}, Failed, "not_found"),
    "not there": ("read", {"path": "missing"}, Failed, "not_found"),
    "broken": ("break_down", {}, Failed, "internal"),
    "somebody else's time-out": ("meet_a_time_out", {}, Failed, "internal"),
    "no answer": ("answer_nonsense", {}, Failed, "internal"),
    "too late": ("wait_in_haste", {}, Failed, "timed_out"),
}


@carries("AUDIT-1", "ROAD-1", "ROAD-2", "ROAD-6")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_every_call_has_one_outcome_one_record_and_one_last_event(way: Way, ending: str) -> None:
    name, arguments, kind, expected = ENDINGS[ending]

    outcome = await way.take(name, arguments)

    assert (type(outcome), code(outcome)) == (kind, expected)
    assert outcome.answer.is_error is (kind is not Done)
    assert way.recorded == [(kind.__name__.lower(), expected)]
    assert way.happened[-1] == "ToolFinished"
    assert way.happened.count("ToolFinished") == 1
    assert ("ToolStarted" in way.happened) is (kind is not Refused)


@carries("ROAD-9")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_no_answer_and_no_record_shows_a_stack_trace_or_the_inside_of_a_bug(way: Way, ending: str) -> None:
    name, arguments, _, _ = ENDINGS[ending]

    said = everything_said(await way.take(name, arguments)) + str(way.recorder.entries[0].line())

    assert "Traceback" not in said
    assert SECRET_OF_A_BUG not in said
    assert str(way.root) not in said


@pytest.mark.parametrize("name", ["break_down", "torn", "meet_a_time_out"])
async def test_a_bug_of_ours_is_told_to_the_operator(way: Way, caplog: pytest.LogCaptureFixture, name: str) -> None:
    await way.take(name)

    assert SECRET_OF_A_BUG in caplog.text


async def test_many_calls_at_once_leave_one_record_each(way: Way) -> None:
    calls = [ToolCall(str(number), name, {}) for number, name in enumerate(["say", "fail", "break_down", "nobody", "read"] * 20)]

    await asyncio.gather(*(way.road.take(call, PROFILE) for call in calls))

    assert sorted(entry.call.id for entry in way.recorder.entries) == sorted(call.id for call in calls)


# Find


@carries("ROAD-1", "SCOPE-1")
async def test_an_unknown_tool_is_answered_with_the_tools_of_the_profile_and_no_others(way: Way) -> None:
    profile = Profile("custom", ("tests",), Scope.of("say", "read", "other_say"))

    outcome = await way.take("no_such_tool", {}, profile)

    assert "Unknown tool: no_such_tool" in outcome.answer.text
    assert isinstance(outcome, Refused)
    assert outcome.error.hint == "The tools are: read, say."


async def test_a_profile_without_toolsets_has_them_all(way: Way) -> None:
    assert code(await way.take("other_say", {}, Profile("everything", ()))) is None


async def test_a_name_without_end_is_not_repeated(way: Way) -> None:
    outcome = await way.take("x" * 1_000_000)

    assert len(everything_said(outcome)) < 3_000


# Decide


async def test_what_is_refused_does_not_run(way: Way) -> None:
    outcomes = [
        await way.take("write", {"path": ".env", "content": "x"}),
        await way.take("write", {"path": "../x", "content": "x"}),
        await way.take("write", {"path": "a", "content": 3}),
        await way.take("write", {"path": "a", "content": "x"}, Profile("custom", ("tests",), Scope.of("read"))),
        await way.take("write", {"path": "a", "content": "x"}, Profile("custom", ("tests",), dangerous=False)),
        await way.take(
            "write", {"path": "a", "content": "x"}, Profile("custom", ("tests",), Scope({"write": Permission(paths=("docs/**",))}))
        ),
    ]

    assert [code(each) for each in outcomes] == ["protected", "outside", "invalid_arguments", "not_permitted", "forbidden", "not_permitted"]
    assert "ToolStarted" not in way.happened
    assert list(way.root.iterdir()) == []


async def test_in_plan_mode_nothing_is_written(way: Way) -> None:
    way.person.is_mode = Mode.PLAN

    assert code(await way.take("write", {"path": "a", "content": "x"})) == "not_permitted"
    assert code(await way.take("say")) is None
    assert list(way.root.iterdir()) == []


@carries("PATH-14")
async def test_of_a_list_of_paths_only_those_that_may_be_touched_reach_the_tool(way: Way) -> None:
    outcome = await way.take("read_many", {"paths": ["a.md", ".env", "../x", "docs/b.md", "secrets/c", "d"]})

    assert outcome.answer.body == ["a.md", "protected", "outside", "docs/b.md", "protected", "d"]


async def test_a_list_whose_every_path_is_refused_still_runs(way: Way) -> None:
    outcome = await way.take("read_many", {"paths": [".env", "../x"]})

    assert outcome.answer.body == ["protected", "outside"]


@carries("ROAD-5")
async def test_a_call_that_cannot_be_judged_is_refused_and_recorded(way: Way) -> None:
    way.person.is_mode = RuntimeError("the store is out of order")

    outcome = await way.take("write", {"path": "a", "content": "x"})

    assert (type(outcome), code(outcome)) == (Refused, "unjudgeable")
    assert "out of order" not in everything_said(outcome)
    assert way.recorded == [("refused", "unjudgeable")]
    assert list(way.root.iterdir()) == []


@carries("ROAD-5")
@pytest.mark.parametrize("problem", [Broken("the disk is full"), OSError("the disk is full")])
async def test_a_call_that_could_not_be_recorded_is_refused_and_nothing_is_run(way: Way, problem: Exception) -> None:
    way.recorder.prepares = problem

    outcome = await way.take("write", {"path": "a", "content": "x"})

    assert (type(outcome), code(outcome)) == (Refused, "unjudgeable")
    assert "ToolStarted" not in way.happened
    assert list(way.root.iterdir()) == []


@carries("ROAD-5")
@pytest.mark.parametrize("in_the_way", ["logs", "logs/execution.jsonl/x"])
async def test_where_the_log_cannot_be_written_no_call_is_run_not_even_the_first(desk: Desk, in_the_way: str) -> None:
    obstacle = desk.state / in_the_way
    obstacle.parent.mkdir(parents=True, exist_ok=True)
    obstacle.touch()

    codes = [await code_of_writing(desk, name) for name in ("a", "b")]
    (desk.state / "logs").rename(desk.state / "away")
    codes.append(await code_of_writing(desk, "c"))

    assert codes == ["unjudgeable", "unjudgeable", None]
    assert [entry.name for entry in desk.root.iterdir()] == ["c"]


async def code_of_writing(desk: Desk, name: str) -> str | None:
    await desk.call("file_write", path=name, content="x")
    return desk.last_code


# Run


async def test_a_tool_is_given_places_and_its_answer_comes_back(way: Way) -> None:
    (way.root / "a.md").write_text("here")

    outcome = await way.take("read", {"path": " ./a.md "})

    assert outcome == Done(Answer("here", "here"))


async def test_events_come_in_order_each_with_the_call(way: Way) -> None:
    outcome = await way.take("say", {"word": "hello"})

    call = ToolCall("call-1", "say", {"word": "hello"}, Caller(agent="tester"))
    started, output, finished = way.events
    assert (started, output) == (ToolStarted(call), ToolOutput(call, "saying hello"))
    assert isinstance(finished, ToolFinished)
    assert (finished.call, finished.outcome) == (call, outcome)
    assert 0 <= finished.seconds < 10


async def test_whoever_listens_badly_does_not_stop_the_call(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    def listen_badly(event: Event) -> None:
        raise ZeroDivisionError("a listener broke")

    road = replace(way.road, announce=listen_badly)

    outcome = await road.take(ToolCall("1", "say", {}), PROFILE)

    assert isinstance(outcome, Done)
    assert len(way.recorder.entries) == 1
    assert "a listener broke" in caplog.text


async def test_a_text_without_end_is_cut_and_the_body_is_not(way: Way) -> None:
    outcome = await way.take("talk")

    assert len(outcome.answer.text) < 2_100_000
    assert outcome.answer.body == "x" * 3_000_000


# Time


@carries("ROAD-3")
async def test_a_tool_that_outlives_its_deadline_is_ended(way: Way) -> None:
    started = time.perf_counter()

    outcome = await way.take("wait", {}, replace(PROFILE, limits=Limits(tool_seconds=0.05)))

    assert (type(outcome), code(outcome)) == (Failed, "timed_out")
    assert "0.05 s" in outcome.answer.text
    assert time.perf_counter() - started < 30


@carries("ROAD-3", "SCOPE-4")
async def test_the_scope_s_time_comes_before_the_tool_s_and_that_before_the_profile_s(way: Way) -> None:
    patient = replace(PROFILE, limits=Limits(tool_seconds=60))
    hasty = replace(PROFILE, limits=Limits(tool_seconds=0.05))
    permitted = Scope({"wait": Permission(timeout_seconds=60), "wait_in_haste": Permission(timeout_seconds=0.01)})

    assert code(await way.take("wait_in_haste", {}, patient)) == "timed_out"
    assert code(await way.take("wait", {"seconds": 0.1}, replace(hasty, scope=permitted))) is None
    outcome = await way.take("wait_in_haste", {}, replace(patient, scope=permitted))
    assert "0.01 s" in outcome.answer.text


async def test_no_clock_runs_while_a_person_thinks(way: Way) -> None:
    outcome = await way.take("ask")

    assert outcome == Done(Answer({"colour": "green"}, "{'colour': 'green'}"))


@carries("ROAD-4", "AUDIT-1")
async def test_a_cancelled_call_stops_and_is_recorded_as_cancelled(way: Way) -> None:
    calling = asyncio.create_task(way.take("wait"))
    await way.until("ToolStarted")

    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    assert way.recorded == [("failed", "cancelled")]
    assert way.happened == ["ToolStarted", "ToolFinished"]


@carries("ROAD-4", "AUDIT-1")
async def test_a_call_that_is_cancelled_while_it_is_recorded_is_recorded_once_as_what_it_was(way: Way) -> None:
    way.recorder.waits = True
    calling = asyncio.create_task(way.take("say"))
    await way.recorder.waiting.wait()

    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    way.recorder.go_on.set()
    await way.until("ToolFinished")
    assert way.recorded == [("done", None)]


@carries("ROAD-4", "AUDIT-1")
async def test_a_call_that_is_cancelled_twice_is_recorded_once(way: Way) -> None:
    way.recorder.waits = True
    calling = asyncio.create_task(way.take("wait"))
    await way.until("ToolStarted")

    calling.cancel()
    await way.recorder.waiting.wait()
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    way.recorder.go_on.set()
    await way.until("ToolFinished")
    assert way.recorded == [("failed", "cancelled")]


@pytest.mark.parametrize("problem", [Broken("the disk is full"), OSError("the disk is full")])
async def test_a_record_that_cannot_be_made_afterwards_is_told_to_the_operator_and_the_answer_stands(
    way: Way, caplog: pytest.LogCaptureFixture, problem: Exception
) -> None:
    way.recorder.records = problem

    with caplog.at_level(logging.ERROR):
        outcome = await way.take("say", {"word": "hello"})

    assert outcome == Done(Answer("hello", "hello"))
    assert "could not be recorded" in caplog.text
    assert way.happened[-1] == "ToolFinished"


async def test_a_record_holds_who_asked_what_and_how_long_it_took(way: Way) -> None:
    await way.take("say", {"word": "hello", "password": "hunter2"})

    entry = way.recorder.entries[0]
    assert (entry.call.caller.agent, entry.input, entry.output) == ("tester", {"word": "hello", "password": "[hidden]"}, "hello")
    assert 0 < entry.duration_ms < 10_000
