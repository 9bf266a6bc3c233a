"""Whatever a provider does, its answer ends in a told state: the real SDKs against a real server that misbehaves."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.providers.settings import Retries
from holdfast.vocabulary.chunks import Chunk, End, Fault, Retrying, Start, Text, ToolCallEnd
from tests.promises import carries
from tests.providers.conversation import answer, asking
from tests.providers.server import Play, Then, serving, unused_port
from tests.providers.speakers import HASTY, KEY, OPENAI, QUICK, SPEAKERS, Speaker, Told

every_speaker = pytest.mark.parametrize("speaker", SPEAKERS, ids=lambda each: each.name)
HELLO = Told("Hello there, you.")
CALLING = Told("Now.", calls=(("c1", "ls", '{"path": "somewhere"}'),))


def retries_in(chunks: list[Chunk]) -> list[Retrying]:
    return [each for each in chunks if isinstance(each, Retrying)]


def failed(chunks: list[Chunk]) -> Fault:
    """The fault that an answer ended with; it is the last chunk, and there is no other end."""
    assert [isinstance(each, End | Fault) for each in chunks] == [False] * (len(chunks) - 1) + [True]
    assert isinstance(chunks[-1], Fault)
    return chunks[-1]


@carries("PROV-8", "PROV-10")
@every_speaker
async def test_a_provider_that_is_not_there_is_asked_three_times_more_and_each_time_is_told(speaker: Speaker) -> None:
    port = unused_port()

    chunks, _ = await answer(speaker.at(f"http://127.0.0.1:{port}"))

    assert [each.attempt for each in retries_in(chunks)] == [1, 2, 3]
    assert all(each.seconds > 0 and "cannot be reached" in each.reason for each in retries_in(chunks))
    error = failed(chunks).error
    assert (error.kind, error.code) == ("unreachable", "provider_error")
    assert f"http://127.0.0.1:{port}" in error.message


@carries("PROV-8")
@every_speaker
async def test_after_429_the_answer_comes_when_the_provider_said_it_would(speaker: Speaker) -> None:
    busy = Play.json({"error": {"message": "slow down"}}, 429, Retry_After="0.02")
    with serving(busy, speaker.play(HELLO)) as server:
        chunks, reply = await answer(speaker.to(server))

        assert len(server.chats) == 2
    [retry] = retries_in(chunks)
    assert retry.reason == "Provider error (429): slow down"
    assert 0.02 <= retry.seconds < 0.03
    assert reply.message.text == HELLO.text


@carries("PROV-8")
@every_speaker
async def test_a_provider_that_asks_for_a_longer_pause_than_we_take_is_not_asked_again(speaker: Speaker) -> None:
    with serving(Play.json({"error": "later"}, 429, Retry_After="3600")) as server:
        chunks, _ = await answer(speaker.to(server))

        assert len(server.chats) == 1
    error = failed(chunks).error
    assert (error.kind, error.status, error.retry_seconds) == ("rate_limited", 429, 3600)


@carries("PROV-8")
@every_speaker
@pytest.mark.parametrize("status", [500, 503, 529])
async def test_an_error_of_the_server_is_retried_three_times_and_then_told(speaker: Speaker, status: int) -> None:
    with serving(Play.json({"error": {"message": "oops"}}, status)) as server:
        chunks, _ = await answer(speaker.to(server))

        assert len(server.chats) == 4
    assert len(retries_in(chunks)) == 3
    assert failed(chunks).error.message == f"Provider error ({status}): oops"


@carries("PROV-9", "PROV-11")
@every_speaker
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
async def test_a_refusal_is_told_at_once_in_the_words_that_callers_match_and_without_the_key(speaker: Speaker, status: int) -> None:
    with serving(Play.json({"error": {"message": f"bad key {KEY} and sk-other-99999 in Bearer {KEY}"}}, status)) as server:
        chunks, _ = await answer(speaker.to(server))

        assert len(server.chats) == 1
    error = failed(chunks).error
    assert error.message == f"Provider error ({status}): bad key *** and *** in ***"
    assert (error.status, error.facts["status"], retries_in(chunks)) == (status, status, [])
    assert KEY not in f"{error!r} {error} {error.facts}"


@every_speaker
async def test_a_refusal_whose_body_is_only_text_is_told_shortly_on_one_line(speaker: Speaker) -> None:
    with serving(Play((b"line one\nline two " + b"x" * 5000,), 400, {"Content-Type": "text/plain"})) as server:
        chunks, _ = await answer(speaker.to(server))

    message = failed(chunks).error.message
    assert message.startswith("Provider error (400): line one line two xxx")
    assert len(message) < 600


@carries("PROV-12")
@every_speaker
@pytest.mark.parametrize("then", [Then.HANG, Then.DRIP], ids=["silence", "a drip"])
@pytest.mark.parametrize("begun", [False, True], ids=["before it begins", "in the middle"])
async def test_a_provider_that_is_too_slow_is_given_up_and_not_asked_again(speaker: Speaker, then: Then, *, begun: bool) -> None:
    said = speaker.say(CALLING)[:-1] if begun else []
    with serving(Play((*said, then))) as server:
        chunks, reply = await answer(speaker.to(server, HASTY))

        # On a busy machine its patience may be over before anything was sent.
        assert len(server.chats) <= 1
    assert failed(chunks).error.kind == "timed_out"
    assert reply.runnable == ()


@carries("PROV-12")
@every_speaker
async def test_a_provider_that_does_not_even_say_that_it_heard_is_given_up(speaker: Speaker) -> None:
    with serving(Play((Then.HANG,), status=None)) as server:
        chunks, _ = await answer(speaker.to(server, HASTY))

    assert failed(chunks).error.kind == "timed_out"


@carries("PROV-8", "PROV-12")
@every_speaker
async def test_an_answer_that_breaks_off_is_not_asked_for_again_once_something_of_it_was_passed_on(speaker: Speaker) -> None:
    events = speaker.say(CALLING)
    with serving(Play((*events[: len(events) // 2], events[len(events) // 2][:9], Then.CUT))) as server:
        chunks, reply = await answer(speaker.to(server))

        assert len(server.chats) == 1
    assert any(isinstance(each, Text) for each in chunks)
    assert failed(chunks).error.kind == "cut"
    assert reply.runnable == ()
    assert not any(isinstance(each, ToolCallEnd) for each in chunks) or speaker.name == "ollama"


@carries("PROV-8")
@every_speaker
async def test_a_connection_that_is_lost_before_anything_came_is_tried_again(speaker: Speaker) -> None:
    with serving(Play((Then.CUT,), status=None), Play((Then.CUT,)), speaker.play(HELLO)) as server:
        chunks, reply = await answer(speaker.to(server))

        assert len(server.chats) == 3
    assert len(retries_in(chunks)) == 2
    assert [type(each) for each in chunks].count(Start) == 1
    assert reply.message.text == HELLO.text


@carries("PROV-12")
@every_speaker
async def test_an_empty_stream_is_a_fault_after_it_was_tried_again(speaker: Speaker) -> None:
    with serving(Play(())) as server:
        chunks, _ = await answer(speaker.to(server))

        assert len(server.chats) == 4
    assert failed(chunks).error.kind == "empty"


@pytest.mark.parametrize(
    ("name", "event", "status"),
    [
        ("anthropic", b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n', 529),
        ("openai", b'data: {"error":{"message":"Overloaded","type":"server_error","code":529}}\n\n', 529),
        ("github-copilot", b'data: {"error":{"message":"Overloaded","type":"server_error","code":null}}\n\n', 500),
        ("ollama", b'{"error":"Overloaded"}\n', 500),
    ],
)
async def test_an_error_inside_the_stream_is_told_with_its_status(name: str, event: bytes, status: int) -> None:
    speaker = next(each for each in SPEAKERS if each.name == name)
    begun = speaker.say(HELLO)[:3]
    with serving(Play((*begun, event))) as server:
        chunks, _ = await answer(speaker.to(server))

    assert failed(chunks).error.message == f"Provider error ({status}): Overloaded"


@every_speaker
async def test_no_more_attempts_are_made_than_is_set(speaker: Speaker) -> None:
    with serving(Play.json({"error": "x"}, 500)) as server:
        chunks, _ = await answer(speaker.to(server, replace(QUICK, retries=Retries(most=0))))

        assert len(server.chats) == 1
    assert isinstance(chunks[-1], Fault)


@carries("PROV-14")
@every_speaker
async def test_whoever_stops_listening_closes_the_connection(speaker: Speaker) -> None:
    with serving(Play((*speaker.say(HELLO)[:-1], Then.HANG))) as server:
        provider = speaker.to(server)
        stream = provider.stream(asking())
        async for chunk in stream:
            if isinstance(chunk, Text):
                break
        await stream.aclose()

        assert await asyncio.to_thread(server.left.wait, 5)
        await provider.close()


@carries("PROV-14")
@every_speaker
async def test_a_task_that_is_cancelled_while_it_waits_closes_the_connection(speaker: Speaker) -> None:
    with serving(Play((*speaker.say(HELLO)[:-1], Then.HANG))) as server:
        provider, heard = speaker.to(server), asyncio.Event()

        async def listen() -> None:
            async for chunk in provider.stream(asking()):
                if isinstance(chunk, Text):
                    heard.set()

        task = asyncio.create_task(listen())
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert await asyncio.to_thread(server.left.wait, 5)
        await provider.close()


@every_speaker
async def test_turn_after_turn_goes_over_one_connection(speaker: Speaker) -> None:
    with serving(speaker.play(HELLO)) as server:
        provider = speaker.to(server)
        for _ in range(3):
            chunks = [each async for each in provider.stream(asking())]
            assert isinstance(chunks[-1], End)
        await provider.close()

        assert server.connections == 1
        # Key, version and all else go with every request, though the SDK writes only the first.
        first, *later = [{**each.headers, "Content-Length": ""} for each in server.chats]
        assert later == [first, first]


@every_speaker
async def test_a_server_that_fails_after_it_has_answered_is_told_like_one_that_always_fails(speaker: Speaker) -> None:
    gone = Play((Then.CUT,), status=None)
    with serving(speaker.play(HELLO), Play.json({"error": {"message": "no"}}, 401), gone) as server:
        provider = speaker.to(server)
        whole = [each async for each in provider.stream(asking())]
        refused = failed([each async for each in provider.stream(asking())])
        lost = failed([each async for each in provider.stream(asking())])
        await provider.close()

    assert isinstance(whole[-1], End)
    assert refused.error.message == "Provider error (401): no"
    assert lost.error.message.endswith("cannot be reached")


async def test_a_server_on_this_machine_is_spoken_to_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port()}")
    for speaker in SPEAKERS:
        with serving(speaker.play(HELLO)) as server:
            _, reply = await answer(speaker.to(server))

        assert reply.message.text == HELLO.text, speaker.name


@carries("PROV-11")
async def test_a_key_is_in_no_picture_of_the_settings_and_in_no_address_that_is_told() -> None:
    assert KEY not in repr(QUICK)
    with_login = replace(QUICK, openai_base_url=f"http://somebody:{KEY}@127.0.0.1:{unused_port()}/v1")

    chunks, _ = await answer(OPENAI.make(with_login))

    assert KEY not in f"{failed(chunks).error} {retries_in(chunks)}"


@carries("PROV-11")
@every_speaker
async def test_a_key_that_looks_like_any_word_is_not_told_either(speaker: Speaker) -> None:
    key = "correcthorsebattery"
    settings = replace(QUICK, anthropic_api_key=key, openai_api_key=key, copilot_token=key)
    begun = speaker.say(HELLO)[:3]
    inside = b'{"error":"you sent %s"}\n' if speaker.name == "ollama" else b'data: {"type":"error","error":{"message":"you sent %s"}}\n\n'
    with serving(Play.json({"error": f"you sent {key}"}, 401), Play((*begun, inside % key.encode()))) as server:
        for _ in range(2):
            chunks, _ = await answer(speaker.to(server, settings))

            assert "you sent ***" in failed(chunks).error.message
