"""No process of a command is alive when its time is up, when it is cancelled, or when it has left."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.sandbox.command import Tier
from holdfast.sandbox.discard import remove
from holdfast.vocabulary.errors import Broken
from tests.untested import needs

from .processes import alive
from .yard import Yard, open_yard

CHECKOUT = Path(__file__).parent.parent.parent

pytestmark = needs("bubblewrap", "commands run in it")

# Daemons of every kind, each of which can be told by its words, and output so that one knows that they are up.
_DAEMONS = """
setsid sh -c 'trap "" TERM HUP INT; sleep 1234.{mark}; :' &
(setsid nohup sleep 1235.{mark} >/dev/null 2>&1 &)
/usr/bin/env sh -c 'while :; do sleep 1236.{mark}; done' &
echo up
"""

_SERVER = """
import asyncio, os, sys
from tests.sandbox.yard import open_yard

async def main():
    async with open_yard() as yard:
        print(yard.folder, flush=True)
        layer = yard.sandbox.new_layer()
        yard.shown = type("Show", (), {"append": lambda self, chunk: os.write(1, chunk)})()
        await yard.run_in(layer, sys.argv[1])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
async def yard() -> AsyncGenerator[Yard]:
    async with open_yard() as yard:
        assert yard.sandbox.tier is Tier.LAYERED, yard.sandbox.lacks
        yield yard


async def test_what_a_command_leaves_in_the_background_ends_with_it(yard: Yard) -> None:
    mark = _mark()

    finished = await yard.run(_DAEMONS.format(mark=mark))

    assert (finished.exit_code, finished.head) == (0, b"up\n")
    assert alive(mark) == []


async def test_a_command_whose_time_is_up_is_gone_with_all_that_it_started(yard: Yard) -> None:
    for _ in range(5):
        mark = _mark()

        finished = await yard.run(_DAEMONS.format(mark=mark) + "sleep 1000", seconds=random.uniform(0.01, 0.3))

        assert (finished.timed_out, finished.reason, finished.exit_code) == (True, "timeout", 137)
        assert alive(mark) == []


async def test_a_cancelled_command_is_gone_before_the_caller_hears_of_it(yard: Yard) -> None:
    for _ in range(10):
        await _cancel(yard)


async def test_somebody_who_cancels_twice_still_leaves_nothing_behind(yard: Yard) -> None:
    mark = _mark()
    running = asyncio.ensure_future(yard.run(_DAEMONS.format(mark=mark) + "sleep 1000"))
    await asyncio.sleep(0.1)

    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert alive(mark) == []


async def test_what_was_written_before_a_timeout_is_in_the_layer_and_its_output_is_whole(yard: Yard, tmp_path: Path) -> None:
    layer = yard.sandbox.new_layer()

    finished = await yard.run_in(layer, "echo kept > kept; echo said; sleep 100", seconds=0.5, output=tmp_path / "out")

    assert finished.timed_out
    assert (layer.upper("project") / "kept").read_text() == "kept\n"
    assert (tmp_path / "out").read_bytes() == finished.head == b"said\n"
    await yard.sandbox.discard(layer)


def test_a_server_that_is_killed_takes_its_commands_with_it() -> None:
    mark = _mark()
    words = [sys.executable, "-c", _SERVER, _DAEMONS.format(mark=mark) + "sleep 1000"]
    server = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE)
    assert server.stdout
    folder = Path(server.stdout.readline().decode().strip())
    assert server.stdout.readline() == b"up\n"
    assert alive(mark)

    server.kill()
    server.wait()
    server.stdout.close()
    for _ in range(200):
        if not alive(mark):
            break
        time.sleep(0.01)

    assert alive(mark) == []
    remove(folder)


@pytest.mark.parametrize("milliseconds", [0, 0.5, 1, 1.5, 2, 3, 4, 6, 9, 50])
async def test_a_launcher_that_was_killed_takes_its_commands_with_it_and_is_replaced(yard: Yard, milliseconds: float) -> None:
    mark = _mark()
    running = asyncio.ensure_future(yard.run(_DAEMONS.format(mark=mark) + "sleep 1000"))
    while not alive(mark):  # noqa: ASYNC110 there is nothing that could tell us
        await asyncio.sleep(0)
    # From here on it is being confined, and every moment is a bad one.
    await asyncio.sleep(milliseconds / 1000)

    for pid in _launchers():
        os.kill(pid, signal.SIGKILL)
    with suppress(Broken):
        assert (await running).exit_code == 137

    # The kernel ends them one after the other; nobody is left to wait for the last.
    until = time.monotonic() + 1
    while alive(mark) and time.monotonic() < until:  # noqa: ASYNC110 as above
        await asyncio.sleep(0.01)
    assert alive(mark) == []
    assert (await yard.run("echo again")).head == b"again\n"


@pytest.mark.long
async def test_five_hundred_timeouts_and_cancellations_at_any_moment_leave_nothing(yard: Yard) -> None:
    for _ in range(250):
        mark = _mark()
        finished = await yard.run(_DAEMONS.format(mark=mark) + "sleep 1000", seconds=random.uniform(0, 0.08))
        assert finished.timed_out
        assert alive(mark) == []
        await _cancel(yard)


async def _cancel(yard: Yard) -> None:
    """At any moment from before the start to when everything is up."""
    mark = _mark()
    running = asyncio.ensure_future(yard.run(_DAEMONS.format(mark=mark) + "sleep 1000"))
    await asyncio.sleep(random.choice((0, random.uniform(0, 0.03), random.uniform(0, 0.1))))

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert alive(mark) == []
    # Only what has never begun can have escaped the look: it would be there a moment later.
    assert not list(yard.settings.layers.glob("[!.]*"))


def _mark() -> str:
    return str(random.randrange(10**12, 10**13))


def _launchers() -> list[int]:
    """Those of this process."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if b"launcher.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
