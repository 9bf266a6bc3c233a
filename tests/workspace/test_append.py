"""Adding lines to a log."""

import asyncio
import fcntl
import os
import stat
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import IsDirectory, Outside, SpecialFile
from holdfast.workspace.append import append
from holdfast.workspace.mount import Mount
from tests.promises import carries
from tests.workspace.writing import appending_process, at, everything


async def test_a_line_is_added_to_a_log_that_is_made_with_its_folders(mount: Mount, root: Path) -> None:
    await append(at(mount, "logs/run.jsonl"), b'{"n": 1}')
    await append(at(mount, "logs/run.jsonl"), b'{"n": 2}')

    assert everything(root) == {"logs": None, "logs/run.jsonl": b'{"n": 1}\n{"n": 2}\n'}
    assert stat.S_IMODE((root / "logs/run.jsonl").stat().st_mode) == 0o600


@carries("AUDIT-5")
async def test_lines_that_are_added_at_once_do_not_mix(mount: Mount, root: Path) -> None:
    place = at(mount, "log")

    await asyncio.gather(*(append(place, b"%d" % number * 5000) for number in range(10)))

    assert sorted((root / "log").read_bytes().split()) == [b"%d" % number * 5000 for number in range(10)]


@carries("AUDIT-5")
def test_lines_of_several_processes_do_not_mix(root: Path) -> None:
    processes = [appending_process(root, "log", mark, 50) for mark in ("a", "b", "c")]

    for process in processes:
        process.start()
    for process in processes:
        process.join()

    lines = (root / "log").read_text().splitlines()
    assert sorted(lines) == sorted(mark * 20_000 for mark in "abc" for _ in range(50))


async def test_a_line_that_was_cut_short_is_ended_by_the_next(mount: Mount, root: Path) -> None:
    (root / "log").write_bytes(b'{"whole": 1}\n{"tor')

    await append(at(mount, "log"), b'{"next": 1}')

    assert (root / "log").read_bytes() == b'{"whole": 1}\n{"tor\n{"next": 1}\n'


async def test_a_log_that_was_moved_away_is_begun_anew(mount: Mount, root: Path) -> None:
    place = at(mount, "log")
    await append(place, b"1")
    (root / "log").rename(root / "old")

    await append(place, b"2")

    assert everything(root) == {"log": b"2\n", "old": b"1\n"}


async def test_a_link_or_anything_but_a_file_takes_no_line(mount: Mount, root: Path, outside: Path) -> None:
    log, folder, fifo = at(mount, "log"), at(mount, "folder"), at(mount, "fifo")
    (root / "log").symlink_to(outside / "secret.txt")
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")

    with pytest.raises(Outside):
        await append(log, b"x")
    with pytest.raises(IsDirectory):
        await append(folder, b"x")
    with pytest.raises(SpecialFile):
        await asyncio.wait_for(append(fifo, b"x"), 5)

    assert everything(outside) == {"secret.txt": b"outside\n"}


async def test_somebody_who_keeps_the_log_locked_does_not_stop_it(mount: Mount, root: Path) -> None:
    (root / "log").write_bytes(b"1\n")
    held = os.open(root / "log", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    await append(at(mount, "log"), b"2")

    os.close(held)
    assert (root / "log").read_bytes() == b"1\n2\n"


async def test_two_lines_are_not_one(mount: Mount, root: Path) -> None:
    with pytest.raises(ValueError, match="newline"):
        await append(at(mount, "log"), b"a\nb")

    assert everything(root) == {}
