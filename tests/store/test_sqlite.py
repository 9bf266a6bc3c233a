"""What is SQLite's own: locks of other processes, disks that are full or read-only, files that are none."""

import asyncio
import os
import shlex
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.store.database import Durability
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import AccessDenied, Busy
from tests.store.scene import note, notes

CHECKOUT = Path(__file__).parent.parent.parent


async def test_the_database_is_made_with_its_folder_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "holdfast.db"

    database = await open_database(path)
    await database.write(lambda transaction: note(transaction, "secret"))

    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await database.close()


async def test_a_database_that_another_process_keeps_locked_is_busy_at_the_deadline_and_works_again(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    database = await open_database(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    started = time.monotonic()
    with pytest.raises(Busy):
        await database.write(lambda transaction: note(transaction, "refused"), deadline=0.3)
    waited = time.monotonic() - started
    patient = asyncio.create_task(database.write(lambda transaction: note(transaction, "patient")))
    await asyncio.sleep(0.2)
    other.execute("COMMIT")
    await patient

    assert 0.3 <= waited < 10
    assert await notes(database) == {"patient"}
    other.close()
    await database.close()


async def test_a_locked_database_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    database = await open_database(path)
    await database.write(lambda transaction: note(transaction, "there"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    assert await database.row("SELECT id FROM nodes") == ("there",)
    other.close()
    await database.close()


async def test_a_reading_that_takes_too_long_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "holdfast.db")
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    started = time.monotonic()
    with pytest.raises(Busy):
        await database.scan(endless, deadline=0.2)

    assert time.monotonic() - started < 30  # far less than for ever
    await database.close()  # waits for the threads, so this ends only when the reading has


async def test_a_database_that_stays_locked_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(Busy):
        await open_database(path, deadline=0.3)
    other.close()


async def test_a_file_that_is_no_database_is_said_to_be_out_of_order(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    path.write_bytes(b"some other program's file " * 100)

    with pytest.raises(Busy, match="not a database"):
        await open_database(path)


async def test_a_folder_in_the_way_is_access_denied(tmp_path: Path) -> None:
    with pytest.raises(AccessDenied):
        await open_database(tmp_path)


FULL_DISK = """
import asyncio, os, sys
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import NoSpace
from tests.store.scene import note, notes

async def main() -> None:
    database = await open_database(f"{sys.argv[1]}/holdfast.db")
    written = set()
    refused = 0
    for number in range(400):
        text = f"{number} " + "x" * 20_000
        try:
            await database.write(lambda transaction: note(transaction, text))
            written.add(text)
        except NoSpace:
            refused += 1
        if refused == 3:
            break
    assert refused == 3, refused
    assert await notes(database) == written
    os.unlink(f"{sys.argv[1]}/ballast")
    await database.write(lambda transaction: note(transaction, "room again"))
    assert await notes(database) == written | {"room again"}
    await database.close()

asyncio.run(main())
"""


async def test_a_full_disk_is_said_so_and_the_store_works_again_when_there_is_room(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o size=6m none {tmp_path} && head -c 2M /dev/zero > {tmp_path}/ballast"

    done = run_with_mounts(mount, FULL_DISK, tmp_path)

    assert done.returncode == 0, done.stderr


READ_ONLY = """
import asyncio, sys
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import AccessDenied

async def main() -> None:
    try:
        await open_database(f"{sys.argv[1]}/holdfast.db")
    except AccessDenied as error:
        print(error.code)

asyncio.run(main())
"""


async def test_a_read_only_disk_is_access_denied(tmp_path: Path) -> None:
    await (await open_database(tmp_path / "holdfast.db")).close()
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"

    done = run_with_mounts(mount, READ_ONLY, tmp_path)

    assert done.stdout.strip() == "access_denied", done.stderr


def run_with_mounts(mount: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script where the file system is mounted so, for it alone."""
    apart = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("the kernel lets nobody here mount anything, not even for himself")
    return subprocess.run(
        [*apart, "sh", "-c", f'{mount} && exec "$2" -c "$1" {shlex.quote(str(folder))}', "sh", script, sys.executable],
        env={"PYTHONPATH": str(CHECKOUT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


async def test_a_full_commit_is_asked_for_only_when_somebody_needs_it(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "holdfast.db")

    async def synchronous(durability: Durability) -> int:
        return await database.write(lambda transaction: transaction.rows("PRAGMA synchronous")[0][0], durability=durability)

    assert await synchronous(Durability.RECORDED) == 1  # NORMAL
    assert await synchronous(Durability.ACKNOWLEDGED) == 2  # FULL
    assert await asyncio.gather(synchronous(Durability.RECORDED), synchronous(Durability.ACKNOWLEDGED)) == [2, 2]
    await database.close()
