"""After a crash the disk is what was acknowledged, and what others did meanwhile is kept."""

import asyncio
import os
import random
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.store import audit, versions
from holdfast.store.audit import STARTED, Entry
from holdfast.store.opening import open_database
from holdfast.store.uuid7 import uuid7
from holdfast.workspace.author import Author
from holdfast.workspace.mount import Mount
from holdfast.workspace.resolve import resolve_now
from holdfast.workspace.sight import OWN_TEMPORARY
from tests.promises import carries
from tests.store.scene import new_workspace
from tests.workspace.dying import Killed, dying
from tests.workspace.shelf import Shelf, shelved, taken_over
from tests.workspace.writing import generation, leftovers, mounted, number_of, sha256, versioning_process


async def test_a_recorded_write_that_never_reached_the_disk_is_made(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("old"), "1")
    os.chmod(shelf.root / "old", 0o750)
    doomed = dying(shelf)
    for change in (
        doomed.save(shelf.at("old"), "2", overwrite=True),
        doomed.save(shelf.at("new/deep"), {"a": 1}),
        doomed.make_folder(shelf.at("folder")),
        doomed.touch_item(shelf.at("touched")),
    ):
        with pytest.raises(Killed):
            await change
    assert (shelf.text("old"), [path.name for path in shelf.root.iterdir()]) == ("1", ["old"])

    again, report = await shelf.crash_and_recover()

    assert (shelf.text("old"), shelf.text("new/deep"), shelf.text("touched")) == ("2", '{"a":1}', "")
    assert (shelf.root / "folder").is_dir()
    assert (shelf.root / "old").stat().st_mode & 0o777 == 0o750
    assert (report.redone, report.external, report.failed) == (4, 0, 0)
    assert (await again.files.view(again.at("new/deep"))).content == {"a": 1}
    assert await again.kinds(saved.file_id) == ["write", "write"]
    await again.ledger.close()
    assert await again.rows("SELECT DISTINCT state FROM versions") == [("settled",)]


async def test_a_recorded_write_that_reached_the_disk_is_only_settled(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), "1")
    await shelf.files.save(shelf.at("a"), "2", overwrite=True)
    inode = (shelf.root / "a").stat().st_ino

    again, report = await shelf.crash_and_recover()

    assert (report.settled, report.redone) == (1, 0)
    assert (shelf.root / "a").stat().st_ino == inode
    await again.ledger.close()
    assert await again.rows("SELECT DISTINCT state FROM versions") == [("settled",)]


async def test_what_somebody_else_wrote_meanwhile_is_kept_and_becomes_known(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    with pytest.raises(Killed):
        await dying(shelf).save(shelf.at("a"), "2", overwrite=True)
    shelf.put("a", "theirs")

    again, report = await shelf.crash_and_recover()

    assert (shelf.text("a"), report.external) == ("theirs", 1)
    assert await again.kinds(saved.file_id) == ["write", "write", "external"]
    ours = (await again.files.history(saved.file_id))[1]
    assert (await again.files.content_of(saved.file_id, ours.version_id)).content == "2"


async def test_a_file_whose_folder_somebody_else_made_a_file_can_be_undeleted(shelf: Shelf) -> None:
    with pytest.raises(Killed):
        await dying(shelf).save(shelf.at("d/a"), "1")
    shelf.put("d", "theirs")

    again, report = await shelf.crash_and_recover()

    assert (shelf.text("d"), report.external, report.failed) == ("theirs", 1, 0)
    [lost] = [item for item in await again.files.deleted_items() if item.path == "d/a"]
    (shelf.root / "d").unlink()
    await again.files.undelete(lost.file_id or "")
    assert shelf.text("d/a") == "1"


async def test_what_was_settled_and_then_removed_behind_our_back_stays_removed(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), "1")
    await shelf.ledger.flush()
    (shelf.root / "a").unlink()

    await shelf.crash_and_recover()

    assert not (shelf.root / "a").exists()


async def test_recorded_moves_and_removals_are_made(shelf: Shelf) -> None:
    moved = await shelf.files.save(shelf.at("a"), "1")
    inside = await shelf.files.save(shelf.at("old/deep/b"), "2")
    gone = await shelf.files.save(shelf.at("gone"), "3")
    await shelf.files.make_folder(shelf.at("empty"))
    shelf.put("unknown", "4")
    doomed = dying(shelf)
    await shelf.files.make_folder(shelf.at("into"))
    for change in (
        doomed.relocate(shelf.at("a"), shelf.at("into")),
        doomed.relocate(shelf.at("old"), shelf.at("new")),
        doomed.discard(shelf.at("gone")),
        doomed.discard(shelf.at("empty")),
        doomed.discard(shelf.at("unknown")),
    ):
        with pytest.raises(Killed):
            await change

    again, report = await shelf.crash_and_recover()

    assert (shelf.text("into/a"), shelf.text("new/deep/b")) == ("1", "2")
    assert sorted(path.name for path in shelf.root.iterdir()) == ["into", "new"]
    assert (report.redone, report.external, report.failed) == (5, 0, 0)
    assert (await again.files.item(again.at("into/a"))).file_id == moved.file_id
    assert (await again.files.item(again.at("new/deep/b"))).file_id == inside.file_id
    await again.files.undelete(gone.file_id)
    assert shelf.text("gone") == "3"


async def test_a_folder_that_was_to_move_takes_along_what_was_moved_into_it_before(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("d/a"), "1")
    await shelf.files.save(shelf.at("b"), "2")
    await shelf.files.save(shelf.at("x/c"), "3")
    await shelf.files.relocate(shelf.at("b"), shelf.at("d"))
    await shelf.files.relocate(shelf.at("x"), shelf.at("d"))
    with pytest.raises(Killed):
        await dying(shelf).relocate(shelf.at("d"), shelf.at("e"))

    _, report = await shelf.crash_and_recover()

    assert sorted(path.name for path in shelf.root.iterdir()) == ["e"]
    assert (shelf.text("e/a"), shelf.text("e/b"), shelf.text("e/x/c")) == ("1", "2", "3")
    assert report.redone == 1


async def test_moves_and_removals_that_were_made_are_only_settled(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), "1")
    await shelf.files.save(shelf.at("old/b"), "2")
    await shelf.files.save(shelf.at("c"), "3")
    await shelf.files.relocate(shelf.at("a"), shelf.at("moved"))
    await shelf.files.relocate(shelf.at("old"), shelf.at("new"))
    await shelf.files.discard(shelf.at("c"))
    await shelf.files.save(shelf.at("c"), "4")
    await shelf.files.save(shelf.at("a"), "5")

    again, report = await shelf.crash_and_recover()

    assert (report.redone, report.external, report.failed) == (0, 0, 0)
    assert {str(path.relative_to(shelf.root)): path.read_text() for path in shelf.root.rglob("*") if path.is_file()} == {
        "moved": "1",
        "new/b": "2",
        "c": "4",
        "a": "5",
    }
    await again.ledger.close()
    assert await again.rows("SELECT DISTINCT state FROM versions") == [("settled",)]


async def test_a_disk_that_forgot_everything_unsynced_gets_it_again(shelf: Shelf) -> None:
    """A power cut may undo what was renamed and not yet synced."""
    await shelf.files.save(shelf.at("kept"), "old")
    await shelf.ledger.flush()
    shutil.copytree(shelf.root, shelf.root.parent / "before")
    await shelf.files.save(shelf.at("kept"), "new", overwrite=True)
    await shelf.files.save(shelf.at("d/a"), "1")
    await shelf.files.replace_saved(shelf.at("d/a"), "1", "2")
    await shelf.files.relocate(shelf.at("d"), shelf.at("e"))
    await shelf.files.save(shelf.at("f"), "3")
    await shelf.files.relocate(shelf.at("f"), shelf.at("e/f"))
    await shelf.files.make_folder(shelf.at("g/h"))
    expected = _everything(shelf.root)
    for path in shelf.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(shelf.root.parent / "before", shelf.root, dirs_exist_ok=True)

    _, report = await shelf.crash_and_recover()

    assert _everything(shelf.root) == expected
    assert report.failed == 0


async def test_what_was_acknowledged_wins_over_an_unfinished_change_that_failed(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    with pytest.raises(Killed):
        await dying(shelf).save(shelf.at("a"), "2", overwrite=True)
    pending = (await shelf.files.history(saved.file_id))[0]
    await versions.abort(shelf.database, shelf.records.lease, pending.version_id)

    await shelf.crash_and_recover()

    assert shelf.text("a") == "1"


async def test_temporaries_are_swept(shelf: Shelf) -> None:
    for folder in ("", "deep/er"):
        shelf.put(f"{folder}/{OWN_TEMPORARY}0123456789abcdef".lstrip("/"), "half")
    shelf.put(f"{OWN_TEMPORARY}notes", "somebody else's")
    await asyncio.sleep(0.05)

    _, report = await shelf.crash_and_recover()

    assert leftovers(shelf.root) == []
    assert report.swept == 2
    assert (shelf.root / f"{OWN_TEMPORARY}notes").exists()


async def test_contents_without_a_row_are_swept_once_they_are_old(shelf: Shelf) -> None:
    big = b"x" * 2_000_000
    await shelf.files.write(shelf.at("big"), big)
    folder = shelf.records.content_folder
    for name in ("0" * 64, "new-0011223344556677", "1" * 64):
        (folder / name).write_bytes(b"x")
    for path in folder.iterdir():
        if path.name != "1" * 64:
            os.utime(path, (1, 1))

    await shelf.crash_and_recover()

    assert {path.name for path in folder.iterdir()} == {sha256(big), "1" * 64}


async def test_calls_that_were_cut_off_are_closed_with_what_really_happened(shelf: Shelf) -> None:
    lease = shelf.records.lease

    def entry(name: str) -> Entry:
        return Entry(uuid7(), lease.workspace_id, time.time_ns() // 1_000, name, STARTED, lease.epoch, call_id=name, session_id="s")

    with pytest.raises(Killed):
        await dying(shelf, Author("wrote", "s", audit=entry("wrote"))).save(shelf.at("a"), "1")
    with pytest.raises(Killed):
        await dying(shelf, Author("undone", "s", audit=entry("undone"))).save(shelf.at("b"), "1")
    pending = (await shelf.files.history((await shelf.files.item(shelf.at("b"))).file_id or ""))[0]
    await versions.abort(shelf.database, lease, pending.version_id)
    await audit.intend(shelf.database, lease, entry("command"))
    finished = entry("finished")
    await audit.intend(shelf.database, lease, finished)
    await audit.record(shelf.database, replace(finished, outcome="done"))

    again, report = await shelf.crash_and_recover()

    assert report.calls == 3
    entries = {one.call_id: one for one in await audit.entries(again.database, lease.workspace_id)}
    told = {name: (one.outcome, one.code) for name, one in entries.items()}
    assert told == {"wrote": ("done", ""), "undone": ("failed", "not_run"), "command": ("failed", "interrupted"), "finished": ("done", "")}
    assert entries["wrote"].output == {"recovered": "done", "files": [{"path": "a", "kind": "write", "hash": sha256(b"1")}]}
    assert shelf.text("a") == "1"


async def test_versions_of_a_run_that_is_not_open_wait_for_it(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "state/one").mkdir(parents=True)
    state = Mount("state", tmp_path / "state/one")
    with pytest.raises(Killed):
        await dying(shelf).write(resolve_now(state, "workflow.md", written="workflow.md"), b"text")

    _, report = await shelf.crash_and_recover()
    assert (report.redone, (tmp_path / "state/one/workflow.md").exists()) == (0, False)

    shelf.more = {"state": state}
    _, report = await shelf.crash_and_recover()
    assert (report.redone, (tmp_path / "state/one/workflow.md").read_bytes()) == (1, b"text")
    state.close()


@carries("SERVE-8")
async def test_a_writing_process_can_be_killed_at_any_time(address: str, root: Path, tmp_path: Path) -> None:
    database = await open_database(address)
    workspace_id = await new_workspace(database)
    acknowledged = tmp_path / "acknowledged"
    chance = random.Random(7)
    slowest = 0.0
    for _ in range(4):
        process = versioning_process(root, address, workspace_id, tmp_path / "content", acknowledged)
        process.start()
        await asyncio.to_thread(_wait_for_more, acknowledged)
        await asyncio.sleep(chance.uniform(0, 0.3))
        process.kill()
        process.join()

        with mounted(root) as mount:
            lease = await taken_over(database, workspace_id)
            shelf = shelved(mount, database, lease, tmp_path / "content")
            _, report = await shelf.crash_and_recover()
            slowest = max(slowest, report.seconds)
            assert report.failed == report.external == 0
            assert leftovers(root) == []
            promised = {name: int(number) for name, number in (line.split() for line in acknowledged.read_text().splitlines())}
            for name, number in promised.items():
                [file] = (root / name).iterdir()
                data = file.read_bytes()
                written = number_of(data)
                assert written is not None, "torn"
                assert written >= number, "lost"
                item = await shelf.files.item(shelf.at(f"{name}/{file.name}"))
                history = await shelf.files.history(item.file_id or "")
                assert history[0].hash == sha256(data)
                assert [version.number for version in history] == list(range(len(history), 0, -1))
            await shelf.ledger.close()
    await database.close()
    assert slowest < 2
    assert number_of(generation(3)) == 3


def _wait_for_more(acknowledged: Path) -> None:
    """Wait until some more writes have been acknowledged."""
    before, until = _size(acknowledged), time.monotonic() + 30
    while _size(acknowledged) < before + 40 and time.monotonic() < until:
        time.sleep(0.01)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _everything(root: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}
