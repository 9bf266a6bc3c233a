"""Telling and asking within one process."""

import asyncio

import pytest

from holdfast.store.bus import MAX_BYTES, MAX_MESSAGES, FellBehind, LocalBus
from holdfast.vocabulary.errors import Busy


async def test_every_watcher_of_a_topic_hears_what_is_published_while_it_watches() -> None:
    bus = LocalBus()
    await bus.publish("files", b"too early")

    async with bus.watch("files") as first, bus.watch("files") as second, bus.watch("other") as other:
        await bus.publish("files", b"1")
        await bus.publish("files", b"2")
        await bus.publish("other", b"3")

        heard = [(await anext(watcher)).body for watcher in (first, first, second, second, other)]

    assert heard == [b"1", b"2", b"1", b"2", b"3"]


async def test_a_watcher_waits_for_what_is_to_come() -> None:
    bus = LocalBus()

    async with bus.watch("files") as watcher:
        waiting = asyncio.ensure_future(anext(watcher))
        await asyncio.sleep(0)
        await bus.publish("files", b"at last")

        assert (await waiting).body == b"at last"


@pytest.mark.parametrize(("count", "size"), [(MAX_MESSAGES + 1, 1), (3, MAX_BYTES // 2)])
async def test_a_watcher_that_falls_behind_is_told_to_look_again_and_holds_nobody_up(count: int, size: int) -> None:
    bus = LocalBus()

    async with bus.watch("files") as slow, bus.watch("files") as quick:
        for _ in range(count):
            await bus.publish("files", b"x" * size)
            await anext(quick)

        with pytest.raises(FellBehind):
            await anext(slow)


async def test_the_first_answer_to_a_question_is_the_answer() -> None:
    bus = LocalBus()

    async def answer(name: bytes) -> None:
        async with bus.watch("who") as watcher:
            (await anext(watcher)).answer(name)

    answering = [asyncio.create_task(answer(name)) for name in (b"ada", b"bob")]
    await asyncio.sleep(0)

    assert await bus.ask("who", b"is there?") == b"ada"
    await asyncio.gather(*answering)


async def test_a_question_that_nobody_hears_or_answers_is_busy() -> None:
    bus = LocalBus()

    with pytest.raises(Busy):
        await bus.ask("who", b"is there?")
    async with bus.watch("who") as watcher:
        with pytest.raises(Busy):
            await bus.ask("who", b"is there?", deadline=0.05)
        (await anext(watcher)).answer(b"too late")


async def test_what_is_merely_published_takes_no_answer() -> None:
    bus = LocalBus()

    async with bus.watch("files") as watcher:
        await bus.publish("files", b"told")
        message = await anext(watcher)

        message.answer(b"ignored")

    assert not message.is_question
