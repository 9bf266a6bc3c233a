"""A turn that is cancelled at any moment: what was told is what is on record, no call is left open, and the session goes on."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from holdfast.vocabulary.messages import AssistantMessage, TextBlock, ToolMessage, as_json
from tests.agent.talking import Talk, calls, talk
from tests.promises import carries

ANSWERS = [
    [{"say": "One. "}, calls("file_write", path="a.txt", content="1"), calls("file_read", path="a.txt"), calls("file_read", path="b.txt")],
    [{"say": "Look. "}, calls("file_read", path="a.txt")],
    [{"say": "Two. "}, calls("bash", command="echo out; echo x > c.txt")],
    [{"say": "Three."}],
]
SHARE, WHOLE = 12, 300


async def is_whole(it: Talk) -> None:
    """What was heard is what is on record, and so is what the model is to read."""
    conversation = await it.agents.conversation(it.conversation.id)
    on_record: list[tuple[int, str, Any]] = []
    while page := await it.logged(after=len(on_record)):
        on_record += page
    assert [seq for seq, _, _ in on_record] == list(range(1, len(on_record) + 1))
    told = [(seq, kind) for seq, kind, _ in on_record if kind != "message"]
    assert [(event.seq, event.type) for event in it.events if event.seq is not None] == told
    kept = [{name: value for name, value in payload.items() if name != "of"} for _, kind, payload in on_record if kind == "message"]
    assert kept == [as_json(message) for message in conversation.messages]
    called = [call.id for message in conversation.messages if isinstance(message, AssistantMessage) for call in message.calls]
    assert sorted(called) == sorted(message.call_id for message in conversation.messages if isinstance(message, ToolMessage))


@carries("CHAT-12", "SESSION-1")
@pytest.mark.parametrize("times", [SHARE, pytest.param(WHOLE, marks=pytest.mark.long)])
async def test_a_turn_cancelled_at_any_moment_leaves_a_session_that_is_whole(tmp_path: Path, times: int) -> None:
    dice = random.Random(11)
    async with talk(tmp_path, *ANSWERS, profile="core") as it:
        for number in range(times):
            before = len(it.heard("chat:stream-end"))
            turn = asyncio.create_task(it.say(f"go {number}"))
            await asyncio.sleep(dice.random() * 0.06)
            it.agents.cancel(it.conversation.id)
            assert await turn in ("cancelled", "done", "error")
            await is_whole(it)
            begun = len(it.heard("chat:stream-start"))
            assert len(it.heard("chat:stream-end")) == begun
            assert begun - before <= 1


@carries("CHAT-4")
async def test_what_a_call_prints_before_its_start_is_on_record_is_told_behind_it(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Hello."}]) as it:
        it.conversation.record_soon("chat:tool-start", {"toolId": "c1"})
        for chunk in ("one", "two"):
            it.conversation.tell_in_order("chat:tool-delta", {"toolId": "c1", "chunk": chunk})
        await it.conversation.record("chat:tool-result", {"toolId": "c1"})
        it.conversation.tell_in_order("chat:tool-delta", {"toolId": "c2", "chunk": "three"})

        assert [event.type for event in it.events] == [
            "chat:tool-start",
            "chat:tool-delta",
            "chat:tool-delta",
            "chat:tool-result",
            "chat:tool-delta",
        ]
        assert [told["chunk"] for told in it.heard("chat:tool-delta")] == ["one", "two", "three"]


async def test_whoever_comes_while_an_answer_is_put_on_record_still_finds_it_under_way(tmp_path: Path) -> None:
    async with talk(tmp_path, [{"say": "Hello."}]) as it:
        it.conversation.tell_piece("chat:text-delta", "Hello.", 0)
        adding = it.conversation.add_soon(AssistantMessage((TextBlock("Hello."),)))
        meanwhile = [event.payload["content"] for event in it.conversation.under_way]
        await adding
        await it.conversation.settled()

        assert (meanwhile, it.conversation.under_way) == (["Hello."], [])
