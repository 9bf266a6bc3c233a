"""Some lines of a 1 GB log, and the one pass that its first reader pays for."""

import hashlib
import os
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, cast

from bench.bench import Bench, Opened, require
from bench.data import make_log
from bench.engine import mounted
from bench.measure import Timed
from bench.row import Row
from holdfast.workspace.lines import Lines
from holdfast.workspace.place import Place
from holdfast.workspace.read import read

_LINES = 100
_SETTLED_SECONDS = 0.03


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """The first hash, then windows of a file that is known."""
    bench.say("  making the log")
    megabytes = 60 if bench.quick else 1000
    log = make_log(bench.folder / "log" / "app.log", megabytes * 1_000_000)
    with mounted(log.parent) as place:
        async with bench.opened(log.parent) as opened:
            async for row in _rows(bench, opened, place, log, megabytes):
                yield row


async def _rows(bench: Bench, opened: Opened, place: Callable[[str], Place], log: Path, megabytes: int) -> AsyncGenerator[Row]:
    yield await bench.row(
        f"log: first hash and line count, {megabytes} MB",
        ours=Timed(lambda: _window(opened, 1), before=lambda: _made_new(log)),
        floor=("hashlib, one pass", lambda: _hash(log)),
        goal=1.1,
        rounds=5,
    )
    total = await _total_lines(opened, log)
    for where, first, skip in (("in the middle", total // 2, total // 2 - 1), ("at the end", total - _LINES + 1, -_LINES)):
        await _check(opened, log, first)
        yield await bench.row(
            f"log: {_LINES} lines {where}, {megabytes} MB",
            ours=lambda first=first: _window(opened, first),
            floor=("one full read", lambda: _read_through(log)),
            goal=0.05,
            peers={"readlines": lambda: _readlines(log)} if skip > 0 else {},
            parts={"engine": lambda skip=skip: read(place(log.name), Lines(skip, _LINES), max_bytes=50_000)},
            rounds=5,
        )


async def _window(opened: Opened, first: int) -> dict[str, Any]:
    return cast("dict[str, Any]", await opened.call("fs.read", path="@project/app.log", startLine=first, endLine=first + _LINES - 1))


async def _total_lines(opened: Opened, log: Path) -> int:
    time.sleep(_SETTLED_SECONDS)  # noqa: ASYNC251 - nothing else runs
    known = await _window(opened, 1)
    require(known["sha256"] == _hash(log), "the log's hash")
    return known["totalLines"]


async def _check(opened: Opened, log: Path, first: int) -> None:
    shown = await _window(opened, first)
    with log.open("rb") as file:
        wanted = [line for number, line in enumerate(file, 1) if first <= number < first + _LINES]
    require(shown["content"].encode() == b"".join(wanted), f"the lines from {first} on")


def _made_new(log: Path) -> None:
    """Change the file's times, so that nothing that is known of it holds any more; then let it settle."""
    os.utime(log)
    time.sleep(_SETTLED_SECONDS)


def _hash(log: Path) -> str:
    with log.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_through(log: Path) -> None:
    buffer = bytearray(1024 * 1024)
    with log.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _readlines(log: Path) -> list[str]:
    with log.open(encoding="utf-8") as file:
        return file.readlines()[-_LINES:]
