"""Locks on paths: who waits for whom."""

import asyncio

import pytest

from holdfast.workspace.locks import Hold, Locks


async def waits(locks: Locks, *paths: str) -> bool:
    """Whether somebody who wants these paths now would have to wait."""
    try:
        hold = await asyncio.wait_for(locks.acquire(paths), 0.01)
    except TimeoutError:
        return True
    locks.release(hold)
    return False


@pytest.mark.parametrize(
    ("held", "wanted", "in_the_way"),
    [
        ("/a", "/a", True),
        ("/a", "/b", False),
        ("/a", "/a/b/c", True),
        ("/a/b/c", "/a", True),
        ("/a/b", "/a/bc", False),
        ("/a/b", "/a/c", False),
        ("", "/a", True),
        ("/a", "", True),
    ],
)
async def test_a_lock_covers_what_is_below_it_and_is_kept_from_what_is_above_it(held: str, wanted: str, in_the_way: bool) -> None:
    locks = Locks()
    hold = await locks.acquire([held])

    assert await waits(locks, wanted) is in_the_way

    locks.release(hold)
    assert not await waits(locks, wanted)


async def test_two_paths_are_held_together_or_not_at_all() -> None:
    locks = Locks()
    first = await locks.acquire(["/a"])

    both = asyncio.create_task(locks.acquire(["/b", "/a"]))
    await asyncio.sleep(0)

    # Nobody overtakes the one who waits, and so /b is not free either.
    assert await waits(locks, "/b")
    locks.release(first)
    locks.release(await both)
    assert not await waits(locks, "/b")


async def test_moves_that_cross_do_not_wait_for_each_other_for_ever() -> None:
    locks = Locks()

    async def cross(*paths: str) -> None:
        for _ in range(50):
            hold = await locks.acquire(paths)
            await asyncio.sleep(0)
            locks.release(hold)

    await asyncio.wait_for(asyncio.gather(cross("/a", "/b"), cross("/b", "/a"), cross("/b/c", "/a/c"), cross("")), 10)


async def test_those_who_wait_are_served_in_the_order_in_which_they_came() -> None:
    locks = Locks()
    served: list[int] = []
    hold = await locks.acquire(["/a"])

    async def one(number: int) -> None:
        mine = await locks.acquire(["/a"])
        served.append(number)
        locks.release(mine)

    waiting = [asyncio.create_task(one(number)) for number in range(5)]
    await asyncio.sleep(0)
    locks.release(hold)
    await asyncio.gather(*waiting)

    assert served == [0, 1, 2, 3, 4]


async def test_whoever_is_cancelled_while_waiting_stands_in_nobodys_way() -> None:
    locks = Locks()
    hold = await locks.acquire(["/a"])
    waiting = asyncio.create_task(locks.acquire(["/a/b"]))
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.wait({waiting})
    locks.release(hold)

    assert not await waits(locks, "/a/b")


async def test_a_cancel_that_comes_with_the_grant_gives_the_lock_back() -> None:
    locks = Locks()
    hold = await locks.acquire(["/a"])
    waiting: asyncio.Task[Hold] = asyncio.create_task(locks.acquire(["/a"]))
    await asyncio.sleep(0)

    locks.release(hold)
    waiting.cancel()
    await asyncio.wait({waiting})

    assert waiting.cancelled()
    assert not await waits(locks, "/a")
