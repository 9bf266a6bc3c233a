"""ask_user"""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from holdfast.vocabulary.limits import Limits
from holdfast.vocabulary.outcome import Done
from holdfast.vocabulary.profile import Profile
from tests.desk import Desk, open_desk
from tests.promises import carries
from tests.toolsets.asking import Conversation, done, refused

SCHEMA = {"type": "string", "enum": ["Jest", "Vitest"]}
BUTTONS = [{"label": "Jest", "value": "Jest"}, {"label": "Vitest", "value": "Vitest"}]


def question(**changes: object) -> Any:
    return {"name": "framework", "question": "Which one?", "schema": json.dumps(SCHEMA), **changes}


@carries("WS-ASK-1", "WS-ASK-6")
async def test_without_a_session_the_question_is_pending(desk: Desk) -> None:
    said = await done(desk, "ask_user", questions=[question(buttons=BUTTONS)])

    assert (said.keys(), said["status"]) == ({"status", "question_id", "questions"}, "question_pending")
    assert said["questions"] == [{"name": "framework", "question": "Which one?", "schema": SCHEMA, "buttons": BUTTONS}]
    assert UUID(said["question_id"]).version == 7


@carries("WS-ASK-1")
async def test_a_question_without_buttons_has_none(desk: Desk) -> None:
    said = await done(desk, "ask_user", questions=[question(schema=SCHEMA), question(name="other", buttons=None)])

    assert [each.keys() for each in said["questions"]] == [{"name", "question", "schema"}] * 2


@carries("WS-ASK-6")
async def test_a_question_outlives_the_process(tmp_path: Path, database_url: str | None) -> None:
    async with open_desk(tmp_path) as desk:
        asked = await done(desk, "ask_user", questions=[question()])

    async with open_desk(tmp_path) as desk:
        held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
        [pending] = await held.person.questions()

    assert pending.id == asked["question_id"]


@carries("WS-ASK-2", "WS-ASK-3", "WS-ASK-4")
@pytest.mark.parametrize(
    ("questions", "named"),
    [
        ([], "questions"),
        ([question(name=str(number)) for number in range(5)], "questions"),
        ([{"name": "a", "question": "b"}], "questions.0.schema"),
        ([question(name="")], "questions.0.name"),
        ([question(question=7)], "questions.0.question"),
        ([question(), question()], "questions.1.name"),
        ([question(schema="{not json")], "questions.0.schema"),
        ([question(schema="[1]")], "questions.0.schema"),
        ([question(schema={"type": "strin"})], "questions.0.schema"),
        ([question(schema={"pattern": "("})], "questions.0.schema"),
        ([question(schema={"minimum": "1"})], "questions.0.schema"),
        ([question(schema={"$schema": "http://example.invalid/schema"})], "questions.0.schema"),
        ([question(schema={"type": "array", "items": SCHEMA}, buttons=BUTTONS)], "questions.0.buttons"),
        ([question(schema={"type": ["array", "null"]}, buttons=BUTTONS)], "questions.0.buttons"),
        ([question(buttons=[{"label": "no value"}])], "questions.0.buttons.0.value"),
    ],
)
async def test_a_bad_question_is_a_bad_request(desk: Desk, questions: list[Any], named: str) -> None:
    said = await refused(desk, 400, "ask_user", questions=questions)

    assert said["fields"].keys() == {named}
    held = await desk.holdfast.platform.hold(desk.holdfast.workspace_id)
    assert await held.person.questions() == []


@carries("WS-ASK-3")
@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        {"type": "string", "pattern": "^[a-z0-9]+$", "minLength": 3},
        {"type": "number", "minimum": 1, "maximum": 100},
        {"type": "array", "items": {"type": "string", "enum": ["A", "B"]}, "minItems": 1},
        {},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
async def test_a_schema_may_be_text_or_an_object(desk: Desk, schema: dict[str, Any], as_text: bool) -> None:
    said = await done(desk, "ask_user", questions=[question(schema=json.dumps(schema) if as_text else schema)])

    assert said["questions"][0]["schema"] == schema


@carries("WS-ASK-3")
async def test_no_schema_has_us_fetch_anything(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        for reference in (address, f"file://{tmp_path}/schema.json"):
            await refused(desk, 400, "ask_user", questions=[question(schema={"$ref": reference})])

        with pytest.raises(BlockingIOError):
            listener.accept()


@carries("WS-ASK-5")
async def test_in_a_session_the_call_waits_and_no_clock_runs(desk: Desk) -> None:
    talk = await Conversation.begun(desk, mode="build")
    desk.holdfast.profile = Profile("hasty", (), limits=Limits(tool_seconds=0.3))

    asking = asyncio.create_task(
        talk.call("ask_user", questions=[question(buttons=BUTTONS), question(name="why", schema={"type": "string"})])
    )
    await talk.asked()
    await asyncio.sleep(0.6)
    assert not asking.done()
    await talk.answer(framework="Vitest", why="faster")

    assert (await asking)["result"] == {"framework": "Vitest", "why": "faster"}
    assert isinstance(desk.last, Done)


@carries("WS-ASK-5")
async def test_an_answer_that_does_not_fit_is_not_taken(desk: Desk) -> None:
    from holdfast.vocabulary.errors import InvalidArguments

    talk = await Conversation.begun(desk, mode="build")
    asking = asyncio.create_task(talk.call("ask_user", questions=[question()]))

    with pytest.raises(InvalidArguments):
        await talk.answer(framework="Mocha")
    with pytest.raises(InvalidArguments):
        await talk.answer()
    await talk.answer(framework="Jest")

    assert (await asking)["result"] == {"framework": "Jest"}
