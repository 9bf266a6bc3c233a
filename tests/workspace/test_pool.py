"""Threads for work that may wait: bounded, one set for each mount, and nothing is torn by a caller that leaves."""

import asyncio
import threading
from collections.abc import Callable, Generator

import pytest

from holdfast.workspace.kernel import WouldBlock
from holdfast.workspace.pool import Pool, here_or_there


@pytest.fixture
def pool() -> Generator[Pool]:
    pool = Pool("test", threads=2)
    yield pool
    pool.close()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - it is threads that we wait for
            await asyncio.sleep(0.001)


async def test_work_is_done_in_a_thread_that_has_the_pool_s_name(pool: Pool) -> None:
    thread = await pool.run(threading.current_thread)

    assert thread is not threading.main_thread()
    assert thread.name.startswith("holdfast-test")


async def test_what_the_work_returns_or_raises_comes_back(pool: Pool) -> None:
    def add(one: int, *, other: int) -> int:
        return one + other

    assert await pool.run(add, 1, other=2) == 3
    with pytest.raises(ZeroDivisionError):
        await pool.run(lambda: 1 // 0)


async def test_more_work_than_threads_waits_its_turn(pool: Pool) -> None:
    go_on, running = threading.Event(), 0
    lock = threading.Lock()
    most = 0

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(10)
        with lock:
            running -= 1

    jobs = [pool.start(work) for _ in range(6)]
    await until(lambda: running == 2)
    go_on.set()
    await asyncio.gather(*jobs)

    assert most == 2


async def test_a_pool_whose_threads_all_hang_does_not_keep_another_waiting(pool: Pool) -> None:
    go_on = threading.Event()
    hanging = [pool.start(go_on.wait, 10) for _ in range(4)]
    other = Pool("other")

    assert await asyncio.wait_for(other.run(lambda: "done"), 5) == "done"

    go_on.set()
    other.close()
    await asyncio.gather(*hanging)


async def test_a_cancelled_caller_does_not_wait_and_the_work_runs_to_its_end(pool: Pool) -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(10)
        ended.set()

    caller = asyncio.create_task(pool.run(work))
    await until(started.is_set)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()

    await until(ended.is_set)


async def test_a_closed_pool_lets_running_work_end_and_takes_no_more(pool: Pool) -> None:
    go_on = threading.Event()
    running = pool.start(go_on.wait, 10)

    pool.close()

    with pytest.raises(RuntimeError):
        pool.start(lambda: None)
    go_on.set()
    assert await running


async def test_a_step_for_afterwards_is_taken_at_once_when_nothing_is_under_way(pool: Pool) -> None:
    await pool.run(lambda: None)
    taken: list[threading.Thread] = []

    pool.afterwards(lambda: taken.append(threading.current_thread()))

    assert taken == [threading.main_thread()]


async def test_a_step_for_afterwards_waits_for_what_is_under_way_and_for_nothing_that_comes_later(pool: Pool) -> None:
    earlier, later, taken = threading.Event(), threading.Event(), threading.Event()
    first = pool.start(earlier.wait, 10)

    pool.afterwards(taken.set)
    second = pool.start(later.wait, 10)
    await asyncio.sleep(0.02)
    too_early = taken.is_set()
    earlier.set()
    await until(taken.is_set)
    later.set()
    await asyncio.gather(first, second)

    assert not too_early


async def test_work_that_need_not_wait_is_done_on_the_loop_s_own_thread(pool: Pool) -> None:
    assert await here_or_there(pool, lambda wait: (wait, threading.current_thread())) == (False, threading.main_thread())


async def test_work_that_would_have_to_wait_is_done_in_the_pool(pool: Pool) -> None:
    def work(wait: bool) -> str:
        if not wait:
            raise WouldBlock
        return threading.current_thread().name

    assert (await here_or_there(pool, work)).startswith("holdfast-test")


async def test_an_error_on_the_loop_s_own_thread_is_not_tried_again_in_the_pool(pool: Pool) -> None:
    tries: list[bool] = []

    def work(wait: bool) -> None:
        tries.append(wait)
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        await here_or_there(pool, work)

    assert tries == [False]
