"""Messages, chunks and replies: what no provider owns."""

import json
from typing import Any

import pytest

from holdfast.vocabulary.chunks import Chunk, End, EndReason, Fault, Start, Text, Thinking, ToolCallDelta, ToolCallEnd, ToolCallStart, Usage
from holdfast.vocabulary.errors import ProviderError
from holdfast.vocabulary.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolMessage,
    UserMessage,
    as_json,
    from_json,
)
from holdfast.vocabulary.reply import Reply
from holdfast.vocabulary.wire_names import WireNames
from tests.promises import carries

MESSAGES: list[Message] = [
    SystemMessage("s"),
    UserMessage("u 😀"),
    AssistantMessage(
        (
            ThinkingBlock("hm", "sig"),
            ThinkingBlock("", "ENC", is_redacted=True),
            TextBlock("t"),
            CallBlock("1", "fs.read", "{}"),
            CallBlock("2", "ls", "{", "cut"),
        )
    ),
    AssistantMessage(),
    ToolMessage("1", "fs.read", "r"),
    ToolMessage("2", "ls", "no", is_error=True),
]


def replied(*chunks: Chunk) -> Reply:
    reply = Reply()
    for chunk in chunks:
        reply.add(chunk)
    return reply


@carries("PROMPT-12")
@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_that_was_stored_comes_back_as_it_was(message: Message) -> None:
    stored = json.loads(json.dumps(as_json(message)))

    assert from_json(stored) == message
    assert stored["role"] == message.role


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"role": "user"},
        {"role": "user", "text": 3},
        {"role": "robot", "text": "x"},
        {"role": "assistant", "blocks": "x"},
        {"role": "assistant", "blocks": [{"type": "song"}]},
        {"role": "assistant", "blocks": [{"type": "call", "id": "1", "name": "ls"}]},
        {"role": "tool", "call_id": None, "name": "ls", "text": ""},
    ],
)
def test_what_is_no_message_is_refused(stored: Any) -> None:
    with pytest.raises(ValueError, match="message"):
        from_json(stored)


def test_what_a_provider_wrote_is_no_part_of_what_a_message_says() -> None:
    one, other = UserMessage("a"), UserMessage("a")
    one.wire["x"] = b"y"

    assert one == other
    assert "wire" not in repr(one)
    assert other.wire == {}


@carries("PROV-1")
def test_a_reply_puts_blocks_together_in_their_order() -> None:
    reply = replied(
        Start("m"),
        Thinking("a"),
        Thinking("b"),
        Thinking("", "sig"),
        Thinking("c", "sig2"),
        Text("one "),
        Text("two"),
        ToolCallStart("1", "ls"),
        ToolCallDelta("1", "{}"),
        ToolCallEnd("1", "ls", "{}"),
        Text("after"),
        Usage(1, 2),
        End(EndReason.CALLS),
    )

    assert reply.message.blocks == (
        ThinkingBlock("ab", "sig"),
        ThinkingBlock("c", "sig2"),
        TextBlock("one two"),
        CallBlock("1", "ls", "{}"),
        TextBlock("after"),
    )
    assert (reply.message.text, reply.message.thinking, reply.model, reply.usage) == ("one twoafter", "abc", "m", Usage(1, 2))
    assert [call.id for call in reply.runnable] == ["1"]


@carries("PROV-12")
def test_a_reply_that_ended_in_a_fault_has_nothing_to_run_and_keeps_what_was_said() -> None:
    error = ProviderError.of("gone", provider="p", kind="cut")

    reply = replied(Text("half"), ToolCallEnd("1", "ls", "{}"), ToolCallStart("2", "ls"), Fault(error))

    assert (reply.runnable, reply.error, reply.message.text) == ((), error, "half")
    assert reply.message.calls == ()


@carries("PROV-13")
def test_a_call_that_is_invalid_is_in_the_reply_and_not_among_what_can_be_run() -> None:
    reply = replied(ToolCallEnd("1", "ls", "{", "bad"), End(EndReason.CALLS))

    assert reply.runnable == ()
    assert reply.message.calls == (CallBlock("1", "ls", "{", "bad"),)


@carries("PROV-9", "COPILOT-3")
def test_a_providers_error_says_its_status_in_the_words_that_callers_match() -> None:
    error = ProviderError.of("Unauthorized", provider="p", kind="rejected", status=401)

    assert (str(error), error.status, error.code) == ("Provider error (401): Unauthorized", 401, "provider_error")
    assert str(ProviderError.of("gone", provider="p", kind="cut")) == "Provider error: gone"


def test_two_sets_of_names_that_travel_alike_have_the_same_mark() -> None:
    plain, more, clash = WireNames(["a.b"]), WireNames(["a.b", "ls"]), WireNames(["a.b", "a_b"])

    assert plain.mark == more.mark == ""
    assert clash.mark not in ("", WireNames(["c.d", "c_d"]).mark)


def test_a_tool_that_is_no_longer_offered_still_has_a_name_that_travels() -> None:
    names = WireNames(["ls"])

    assert names.told("fs.read") == "fs_read"
    assert len(names.told("x" * 100)) == 64
    assert WireNames(["a.b", "a_b"]).told("a.b") == WireNames(["a.b", "a_b"]).to_wire("a.b") != "a_b"
