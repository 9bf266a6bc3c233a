"""Answers as they come: the same chunks from every provider, however the bytes are cut on their way."""

from collections.abc import AsyncIterator

import pytest

from holdfast.providers.protocol import Request
from holdfast.providers.relay import relayed
from holdfast.vocabulary.chunks import (
    Chunk,
    End,
    EndReason,
    Fault,
    Start,
    Text,
    Thinking,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from holdfast.vocabulary.messages import UserMessage
from holdfast.vocabulary.reply import Reply
from holdfast.vocabulary.wire_names import WireNames
from tests.promises import carries
from tests.providers.conversation import SCHEMA, TOOLS, answer, asking
from tests.providers.server import Play, serving
from tests.providers.speakers import ANTHROPIC, COPILOT, OLLAMA, OPENAI, QUICK, SPEAKERS, Speaker, Told

BOTH = Told(
    "Ich schaue nach: 😀 ok",
    "Hm, é.",
    "sig==",
    (("c1", "fs_read", '{"path": "naïve/😀.txt"}'), ("c2", "ls", '{"deep": {"a": [1, 2.5, null, true]}}')),
)
every_speaker = pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda each: each.name)


async def read(speaker: Speaker, pieces: list[bytes]) -> list[Chunk]:
    """What the speaker's reader makes of bytes, as they are cut here."""

    async def coming() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    reader = speaker.reader(WireNames(str(tool["name"]) for tool in TOOLS))
    return [each async for each in relayed(coming(), speaker.splitter(), reader, patience=QUICK.patience, broken=())]


def ended(chunks: list[Chunk]) -> list[tuple[str, str, str]]:
    return [(each.name, each.arguments, each.invalid) for each in chunks if isinstance(each, ToolCallEnd)]


@carries("PROV-1", "PROV-2", "AC-25", "AC-26", "AC-27")
@every_speaker
async def test_an_answer_with_thoughts_words_and_two_calls_comes_as_the_same_chunks(speaker: Speaker) -> None:
    with serving(speaker.play(BOTH)) as server:
        chunks, reply = await answer(speaker.to(server))

    assert isinstance(chunks[0], Start)
    assert chunks[-1] == End(EndReason.CALLS)
    assert "".join(each.text for each in chunks if isinstance(each, Text)) == BOTH.text
    assert "".join(each.text for each in chunks if isinstance(each, Thinking)) == BOTH.thinking
    assert [(each.name) for each in chunks if isinstance(each, ToolCallStart)] == ["fs.read", "ls"]
    assert [call.name for call in reply.runnable] == ["fs.read", "ls"]
    assert reply.message.text == BOTH.text


@carries("PROV-2", "AC-25", "AC-26", "AC-27")
@every_speaker
async def test_the_pieces_of_a_calls_arguments_make_the_whole_and_bear_its_id(speaker: Speaker) -> None:
    chunks = await read(speaker, speaker.say(BOTH))

    for end in [each for each in chunks if isinstance(each, ToolCallEnd)]:
        pieces = [each.arguments for each in chunks if isinstance(each, ToolCallDelta) and each.id == end.id]
        assert "".join(pieces) == end.arguments
        assert chunks.index(ToolCallStart(end.id, end.name)) < chunks.index(end)


@carries("AC-27", "PROV-3")
async def test_ollamas_calls_come_as_one_start_one_delta_and_one_end_with_ids_of_our_own() -> None:
    chunks = await read(OLLAMA, ollama := OLLAMA.say(BOTH))

    shape = [type(each).__name__ for each in chunks if isinstance(each, ToolCallStart | ToolCallDelta | ToolCallEnd)]
    ids = [each.id for each in chunks if isinstance(each, ToolCallEnd)]
    assert shape == ["ToolCallStart", "ToolCallDelta", "ToolCallEnd"] * 2
    assert len(set(ids)) == 2
    assert all(ids)
    assert ids != [each.id for each in await read(OLLAMA, ollama) if isinstance(each, ToolCallEnd)]


@every_speaker
async def test_bytes_that_come_one_at_a_time_make_the_same_chunks(speaker: Speaker) -> None:
    whole = b"".join(speaker.say(BOTH))

    alone = await read(speaker, [whole[number : number + 1] for number in range(len(whole))])

    assert ended(alone) == ended(await read(speaker, [whole]))
    assert alone[-1] == End(EndReason.CALLS)


@carries("PROV-12")
@every_speaker
async def test_a_stream_that_is_cut_at_any_byte_ends_in_a_fault_and_no_call_of_it_can_be_run(speaker: Speaker) -> None:
    whole = b"".join(speaker.say(BOTH))
    right = ended(await read(speaker, [whole]))
    last = (
        len(whole.rstrip(b"\n")) if speaker in (ANTHROPIC, OLLAMA) else whole.index(b"\n\n", whole.index(b'"finish_reason": "tool_calls"'))
    )

    for at in range(last):
        chunks = await read(speaker, [whole[:at]])
        reply = Reply()
        for chunk in chunks:
            reply.add(chunk)
        assert isinstance(chunks[-1], Fault), at
        assert not any(isinstance(each, End) for each in chunks)
        assert reply.runnable == ()
        assert all(each in right for each in ended(chunks))


@carries("PROV-13")
@pytest.mark.parametrize("speaker", [ANTHROPIC, OPENAI, COPILOT], ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"path": "a', "not valid JSON"),
        ('{"path": "a"}{"path": "a"}', "not valid JSON"),
        ('{"path": "a", "path": "b"}', "more than once"),
        ('{"x": {"y": 1, "y": 1}}', "more than once"),
        ('["a"]', "not a JSON object"),
        ('{"n": NaN}', "not a number"),
        ('{"t": "\\ud800"}', "half a character"),
        ("[" * 5000, "not valid JSON"),
    ],
)
async def test_a_call_with_bad_arguments_ends_with_the_reason_and_is_not_to_be_run(speaker: Speaker, arguments: str, why: str) -> None:
    chunks = await read(speaker, speaker.say(Told("", calls=(("c1", "ls", arguments), ("c2", "ls", "{}")))))

    [bad, good] = [each for each in chunks if isinstance(each, ToolCallEnd)]
    reply = Reply()
    for chunk in chunks:
        reply.add(chunk)
    assert why in bad.invalid
    assert good.invalid == ""
    assert [call.id for call in reply.runnable] == [good.id]
    assert chunks[-1] == End(EndReason.CALLS)


@carries("PROV-13")
async def test_ollamas_arguments_with_a_key_twice_are_invalid() -> None:
    chunks = await read(OLLAMA, OLLAMA.say(Told("", calls=(("", "ls", '{"path": "a", "path": "b"}'),))))

    assert "more than once" in ended(chunks)[0][2]


@carries("PROV-12")
@pytest.mark.parametrize("speaker", [ANTHROPIC, OPENAI, COPILOT], ids=lambda each: each.name)
@pytest.mark.parametrize("arguments", ["", "{}", '{"path": "a"}', '{"path": "a'])
async def test_the_last_call_of_an_answer_that_a_token_limit_ended_is_never_whole(speaker: Speaker, arguments: str) -> None:
    chunks = await read(speaker, speaker.say(Told("", calls=(("c1", "ls", "{}"), ("c2", "ls", arguments)), end="length")))

    [first, last] = [each for each in chunks if isinstance(each, ToolCallEnd)]
    assert (first.invalid, bool(last.invalid)) == ("", True)
    assert chunks[-1] == End(EndReason.LENGTH)


@every_speaker
async def test_a_call_without_arguments_has_an_empty_object(speaker: Speaker) -> None:
    arguments = "{}" if speaker is OLLAMA else ""

    chunks = await read(speaker, speaker.say(Told("", calls=(("c1", "ls", arguments),))))

    assert ended(chunks) == [("ls", "{}", "")]


@carries("PROV-12")
@pytest.mark.parametrize("speaker", [ANTHROPIC, OPENAI], ids=lambda each: each.name)
async def test_two_calls_with_the_same_id_are_a_fault(speaker: Speaker) -> None:
    chunks = await read(speaker, speaker.say(Told("", calls=(("c1", "ls", "{}"), ("c1", "ls", "{}")))))

    assert isinstance(chunks[-1], Fault)
    assert chunks[-1].error.kind == "malformed"


@carries("PROV-12")
async def test_an_event_of_anthropics_that_comes_twice_never_makes_two_calls() -> None:
    events = ANTHROPIC.say(Told("ok", calls=(("c1", "ls", '{"path": "abc"}'),)))

    for number in range(len(events)):
        reply = Reply()
        for chunk in await read(ANTHROPIC, [*events[: number + 1], *events[number:]]):
            reply.add(chunk)
        assert len(reply.runnable) <= 1
        assert all(call.arguments == '{"path": "abc"}' for call in reply.runnable), number


@every_speaker
async def test_garbage_in_a_stream_is_a_fault_and_what_came_before_has_been_passed_on(speaker: Speaker) -> None:
    events = speaker.say(Told("first and more"))
    begun = next(number for number, event in enumerate(events) if b"first" in event)

    chunks = await read(speaker, [*events[: begun + 1], speaker.garbage, *events[begun + 1 :]])

    assert isinstance(chunks[-1], Fault)
    assert chunks[-1].error.kind == "malformed"
    assert any(isinstance(each, Text) for each in chunks)


@carries("PROV-6")
async def test_usage_counts_what_was_cached_and_tells_the_cost_when_the_price_is_known() -> None:
    with serving(ANTHROPIC.play(Told("hi")), OPENAI.play(Told("hi"))) as server:
        _, claude = await answer(ANTHROPIC.to(server), Request("claude-sonnet-4-5", [UserMessage("hi")]))
        _, gpt = await answer(OPENAI.to(server), Request("no-such-model", [UserMessage("hi")]))

    assert claude.usage is not None
    assert (claude.usage.input_tokens, claude.usage.cached_tokens, claude.usage.cache_write_tokens) == (28, 5, 3)
    assert claude.usage.output_tokens == 9
    # 20 fresh at 3 dollars the million, 5 cached at a tenth, 3 written at five quarters, 9 out at 15.
    assert claude.usage.cost == pytest.approx((20 * 3 + 5 * 0.3 + 3 * 3.75 + 9 * 15) / 1e6)
    assert gpt.usage == Usage(28, 9, 5)


@carries("PROV-5")
async def test_anthropics_thoughts_keep_their_signature_and_redacted_ones_their_data() -> None:
    events = ANTHROPIC.say(Told("ok", "because", "sig=="))
    start = events[0]
    redacted = b'data: {"type":"content_block_start","index":9,"content_block":{"type":"redacted_thinking","data":"ENC"}}\n\n'
    stop = b'data: {"type":"content_block_stop","index":9}\n\n'

    chunks = await read(ANTHROPIC, [start, redacted, stop, *events[1:]])

    reply = Reply()
    for chunk in chunks:
        reply.add(chunk)
    shapes = [(type(block).__name__, getattr(block, "signature", "")) for block in reply.message.blocks]
    assert shapes == [("ThinkingBlock", "ENC"), ("ThinkingBlock", "sig=="), ("TextBlock", "")]


async def test_a_compatible_server_may_number_all_calls_0_give_no_ids_and_leave_out_its_last_line() -> None:
    def chunk(calls: str, reason: str = "null") -> bytes:
        return b'data: {"choices":[{"index":0,"delta":{"tool_calls":[%s]},"finish_reason":%s}]}\n\n' % (calls.encode(), reason.encode())

    same_index = [
        chunk('{"index":0,"id":"x","function":{"name":"ls","arguments":"{}"}}'),
        chunk('{"index":0,"id":"y","function":{"name":"fs_read","arguments":"{}"}}', '"stop"'),
    ]
    no_ids = [chunk('{"function":{"name":"ls","arguments":{"a":1}}},{"function":{"name":"ls","arguments":"{}"}}', '"tool_calls"')]

    assert ended(await read(OPENAI, same_index)) == [("ls", "{}", ""), ("fs.read", "{}", "")]
    without = await read(OPENAI, no_ids)
    assert ended(without) == [("ls", '{"a":1}', ""), ("ls", "{}", "")]
    assert len({each.id for each in without if isinstance(each, ToolCallEnd)}) == 2


@carries("PROV-4")
@every_speaker
async def test_names_travel_as_the_wire_allows_and_come_back_as_our_own(speaker: Speaker) -> None:
    tools = tuple({"name": name, "description": "d", "inputSchema": SCHEMA} for name in ("a.b", "a_b", "x" * 80))
    with serving(speaker.play(Told("", calls=(("c1", "a_b", "{}"),)))) as server:
        _, reply = await answer(speaker.to(server), asking(tools=tools))
        sent = server.chats[-1].body["tools"]

    names = [each.get("name") or each["function"]["name"] for each in sent]
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in names)
    assert len(set(names)) == 3
    assert [call.name for call in reply.runnable] == ["a_b"]


async def test_a_web_page_instead_of_a_stream_is_told_as_one() -> None:
    page = Play((b"<html>log in</html>",), headers={"Content-Type": "text/html"})
    with serving(page) as server:
        _, reply = await answer(OPENAI.to(server))

    assert reply.error is not None
    assert "text/html" in reply.error.message


@carries("PROV-12")
async def test_an_end_that_nothing_has_announced_is_a_fault() -> None:
    calling = Told("", calls=(("c1", "ls", "{}"),))
    claude, gpt = ANTHROPIC.say(calling), OPENAI.say(calling)

    without_reason = await read(ANTHROPIC, [event for event in claude if b"stop_reason" not in event])
    in_the_middle = await read(ANTHROPIC, [event for event in claude if b'"content_block_stop"' not in event])
    done_at_once = await read(OPENAI, [*gpt[:2], gpt[-1]])
    nothing_but_done = await read(OPENAI, [gpt[-1]])

    for chunks in (without_reason, in_the_middle, done_at_once, nothing_but_done):
        assert isinstance(chunks[-1], Fault)
        assert ended(chunks) == []


@carries("PROV-12")
async def test_a_block_of_anthropics_that_comes_twice_is_a_fault() -> None:
    events = ANTHROPIC.say(Told("once"))
    block = events[2:-2]

    chunks = await read(ANTHROPIC, [*events[:2], *block, *block, *events[-2:]])

    assert isinstance(chunks[-1], Fault)
    assert "".join(each.text for each in chunks if isinstance(each, Text)) == "once"
