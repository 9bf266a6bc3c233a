"""The time of a turn."""

import asyncio

import pytest

from holdfast.agent.clock import Clock


async def test_a_clock_stands_still_until_the_last_of_those_who_wait_goes_on() -> None:
    clock, waited = Clock(0.02), asyncio.Event()

    async def waits() -> None:
        async with clock:
            with clock.standing_still():
                with clock.standing_still():
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.05)
                waited.set()
            await asyncio.sleep(20)

    with pytest.raises(TimeoutError):
        await waits()
    assert (waited.is_set(), clock.has_run_out) == (True, True)


async def test_time_that_has_passed_is_not_given_back() -> None:
    clock = Clock(0.1)

    async def waits_now_and_then() -> None:
        async with clock:
            for _ in range(1_000):
                await asyncio.sleep(0.01)
                with clock.standing_still():
                    pass

    with pytest.raises(TimeoutError):
        await waits_now_and_then()
