"""The protocol of changes: many at once, behind each other's back, withdrawn half-way, and recorded."""

import asyncio
import os
import random
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import Busy, Exists, HoldfastError, StaleHash
from holdfast.workspace import changes as changes_module
from holdfast.workspace.change import Verb
from holdfast.workspace.changes import Changes
from holdfast.workspace.kernel import RENAME_EXCHANGE, rename_beneath
from holdfast.workspace.mount import Mount
from holdfast.workspace.write import revise, write
from tests.promises import carries
from tests.workspace.writing import Recording, at, count_up, counting_process, everything, leftovers, sha256


@carries("WRITE-2")
async def test_writers_of_one_process_never_lose_an_update(mount: Mount, root: Path) -> None:
    (root / "count").write_bytes(b"0")
    changes, place = Changes(), at(mount, "count")

    await asyncio.gather(*(count_up(changes, place, root / "count", 10) for _ in range(8)))

    assert (root / "count").read_bytes() == b"80"


@carries("WRITE-2")
def test_writers_of_several_processes_never_lose_an_update(root: Path) -> None:
    (root / "count").write_bytes(b"0")
    processes = [counting_process(root, "count", 25) for _ in range(3)]

    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert (root / "count").read_bytes() == b"75"
    assert leftovers(root) == []


async def test_a_folder_that_another_process_keeps_locked_is_busy(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_module, "BUSY_AFTER_SECONDS", 0.1)

    with _locked_by_another_process(root):
        with pytest.raises(Busy):
            await write(Changes(), at(mount, "file"), b"x")
        assert everything(root) == {}

    await write(Changes(), at(mount, "file"), b"x")
    assert everything(root) == {"file": b"x"}


async def test_writers_of_neighbouring_files_go_through_together(mount: Mount, root: Path) -> None:
    changes = Changes()

    await asyncio.gather(*(write(changes, at(mount, f"{number}"), b"x") for number in range(50)))

    assert len(everything(root)) == 50


async def test_changes_that_succeed_fail_or_are_withdrawn_keep_no_descriptor_open(mount: Mount, root: Path) -> None:
    changes, before = Changes(), len(os.listdir("/proc/self/fd"))

    for number in range(20):
        await write(changes, at(mount, f"a/{number}"), b"x", parents=True)
        with suppress(HoldfastError):
            await write(changes, at(mount, "b/c"), b"x", parents=True, exists=True)
        task = asyncio.create_task(write(changes, at(mount, "b/d"), b"x", parents=True))
        await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait({task})
    await changes.finish()

    assert len(os.listdir("/proc/self/fd")) == before


@carries("PATH-5")
async def test_a_folder_swapped_for_a_link_in_a_race_lets_no_write_out(mount: Mount, root: Path, outside: Path) -> None:
    (root / "folder").mkdir()
    (root / "link").symlink_to(outside)
    place, changes = at(mount, "folder/secret.txt"), Changes()
    deeper = [at(mount, f"folder/{number}/deep.txt") for number in range(1000)]

    with _swapping(root, "folder", "link"):
        for new in deeper:
            with suppress(HoldfastError):
                await write(changes, place, b"escaped\n")
            with suppress(HoldfastError):
                await write(changes, new, b"escaped\n", parents=True)

    assert everything(outside) == {"secret.txt": b"outside\n"}


async def test_a_change_behind_our_back_after_the_check_is_seen(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    ledger = Recording(root / "file", b"by somebody else")

    with pytest.raises(StaleHash):
        await write(Changes(ledger), at(mount, "file"), b"mine", only_if=sha256(b"old"))

    assert everything(root) == {"file": b"by somebody else"}
    assert ledger.heard == ["pending", "aborted Again"]


async def test_a_file_that_appears_after_the_check_is_not_overwritten(mount: Mount, root: Path) -> None:
    ledger = Recording(root / "file", b"by somebody else")

    with pytest.raises(Exists):
        await write(Changes(ledger), at(mount, "file"), b"mine", exists=False)

    assert everything(root) == {"file": b"by somebody else"}
    assert ledger.heard == ["pending", "aborted Again"]


async def test_a_ledger_is_told_before_and_after_with_all_it_needs(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    ledger = Recording()

    await write(Changes(ledger).by("turn 7"), at(mount, "file"), b"new")
    await write(Changes(ledger), at(mount, "a/b/file"), b"new", parents=True)

    assert ledger.heard == ["pending", "applied", "pending", "applied"]
    change, second = ledger.changes
    assert change.before is not None
    assert change.after is not None
    assert (change.verb, change.author, change.folders) == (Verb.WRITE, "turn 7", ())
    assert (change.before.sha256, change.after.sha256) == (sha256(b"old"), sha256(b"new"))
    assert (ledger.contents[0], ledger.contents[1]) == ((b"old", b"new"), (None, b"new"))
    assert change.after.number == (root / "file").stat().st_ino
    assert (second.before, second.folders) == (None, ("a", "a/b"))


async def test_a_ledger_that_refuses_stops_the_write_without_a_trace(mount: Mount, root: Path) -> None:
    ledger = Recording(refuse=True)

    with pytest.raises(Busy):
        await write(Changes(ledger), at(mount, "a/file"), b"new", parents=True)

    assert everything(root) == {}
    assert ledger.heard == ["pending"]


async def test_a_cancelled_write_leaves_nothing_or_everything_and_frees_its_lock(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    changes, place, randomly = Changes(), at(mount, "file"), random.Random(7)
    contents: set[bytes] = set()

    for _ in range(60):
        (root / "file").write_bytes(b"old")
        task = asyncio.create_task(write(changes, place, b"new" * 10_000))
        await asyncio.sleep(randomly.uniform(0, 0.004))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await changes.finish()
        contents.add((root / "file").read_bytes())
        assert leftovers(root) == []

    assert contents <= {b"old", b"new" * 10_000}
    await asyncio.wait_for(write(changes, place, b"last"), 5)


async def test_a_write_cancelled_before_its_record_did_not_happen(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    looking, go_on = threading.Event(), threading.Event()

    def slow(data: bytes) -> bytes:
        looking.set()
        go_on.wait(5)
        return data + b"new"

    task = asyncio.create_task(revise(Changes(), at(mount, "file"), slow))
    await asyncio.get_running_loop().run_in_executor(None, looking.wait, 5)
    task.cancel()
    asyncio.get_running_loop().call_later(0.05, go_on.set)

    with pytest.raises(asyncio.CancelledError):
        await task
    assert everything(root) == {"file": b"old"}


async def test_a_write_cancelled_after_its_record_is_done_whole(mount: Mount, root: Path) -> None:
    ledger = Recording(seconds=0.05)
    task = asyncio.create_task(write(Changes(ledger), at(mount, "file"), b"new"))
    await ledger.asked.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert everything(root) == {"file": b"new"}
    assert ledger.heard == ["pending", "applied"]


@contextmanager
def _swapping(folder: Path, one: str, other: str) -> Generator[None]:
    """Two entries that change places all the time."""
    stop, here = threading.Event(), os.open(folder, os.O_PATH)

    def swap() -> None:
        while not stop.is_set():
            rename_beneath(here, one, here, other, flags=RENAME_EXCHANGE)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        os.close(here)


@contextmanager
def _locked_by_another_process(folder: Path) -> Generator[None]:
    with subprocess.Popen(["flock", folder, "sh", "-c", "echo held; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate()
