"""Databases are brought up to date at start, whoever else is starting."""

import asyncio
import sys
from pathlib import Path

import pytest

from holdfast.store.database import Database
from holdfast.store.migrate import migrations
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import Broken

CHECKOUT = Path(__file__).parent.parent.parent

OPENED = """
import asyncio, sys
from holdfast.store.opening import open_database

async def main() -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    database = await open_database(sys.argv[1])
    await database.close()

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Where there is no table yet."""
    return request.getfixturevalue(f"{request.param}_url")


async def test_every_migration_is_applied_once_and_in_order(database: Database) -> None:
    applied = await database.rows("SELECT number, name FROM migrations WHERE number > 0 ORDER BY number")

    assert applied == [(step.number, step.name) for step in migrations()]
    assert [step.number for step in migrations()] == list(range(1, len(applied) + 1))


async def test_opening_again_changes_nothing(database: Database, address: str) -> None:
    before = await database.rows("SELECT number, applied_at FROM migrations ORDER BY number")

    again = await open_database(address)

    assert await again.rows("SELECT number, applied_at FROM migrations ORDER BY number") == before
    await again.close()


async def test_processes_that_start_at_once_all_find_the_database_ready(address: str) -> None:
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            OPENED,
            address,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=CHECKOUT,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        await process.stdout.readline()

    told = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))

    assert [(process.returncode, error) for process, (_, error) in zip(processes, told, strict=True)] == [(0, b"")] * 4
    database = await open_database(address)
    assert await database.row("SELECT count(*) FROM migrations WHERE number > 0") == (len(migrations()),)
    await database.close()


async def test_a_database_of_a_newer_holdfast_is_refused(database: Database, address: str) -> None:
    await database.write(
        lambda transaction: transaction.run("INSERT INTO migrations (number, name, applied_at) VALUES (9999, 'from the future', 0)")
    )

    with pytest.raises(Broken, match="newer"):
        await open_database(address)
