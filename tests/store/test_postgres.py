"""What is PostgreSQL's own: connections that break, servers that cannot be reached, passwords in URLs."""

import asyncio
import time

import psycopg
import pytest

from holdfast.store.database import Database, Durability, Transaction
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import AccessDenied, Busy, InvalidArguments, NoSpace
from tests.store.scene import note, notes


@pytest.fixture
def address(postgres_url: str) -> str:
    return postgres_url


def cut_all_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'"
        )


async def test_after_the_server_went_away_reading_and_writing_go_on(database: Database, address: str) -> None:
    await database.write(lambda transaction: note(transaction, "before"))
    await database.row("SELECT 1")

    cut_all_connections(address)

    assert await notes(database) == {"before"}
    await database.write(lambda transaction: note(transaction, "after"))
    assert await notes(database) == {"before", "after"}


async def test_a_connection_cut_in_the_middle_of_a_group_fails_the_group_and_nothing_of_it_is_there(
    database: Database, address: str
) -> None:
    def work(transaction: Transaction) -> None:
        note(transaction, "lost")
        cut_all_connections(address)
        note(transaction, "lost too")

    outcomes = await asyncio.gather(
        database.write(lambda transaction: note(transaction, "neighbour")), database.write(work), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [Busy, Busy]
    assert await notes(database) == set()
    await database.write(lambda transaction: note(transaction, "next"))
    assert await notes(database) == {"next"}


async def test_a_commit_that_got_no_answer_says_that_nobody_knows(database: Database) -> None:
    def work(transaction: Transaction) -> None:
        transaction.run(
            "CREATE FUNCTION pg_temp.die() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
        )
        transaction.run(
            "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON nodes DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION pg_temp.die()"
        )
        note(transaction, "who knows")

    with pytest.raises(Busy) as refusal:
        await database.write(work)

    assert refusal.value.facts["outcome"] == "unknown"


async def test_a_table_that_another_process_keeps_locked_is_busy_at_the_deadline(database: Database, address: str) -> None:
    with psycopg.connect(address) as other:
        other.execute("LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE")

        started = time.monotonic()
        with pytest.raises(Busy):
            await database.write(lambda transaction: note(transaction, "refused"), deadline=0.3)
        with pytest.raises(Busy):
            await database.row("SELECT id FROM nodes", deadline=0.3)
        waited = time.monotonic() - started
    await database.write(lambda transaction: note(transaction, "later"))

    assert waited < 15
    assert await notes(database) == {"later"}


@pytest.mark.parametrize(("state", "kind"), [("53100", NoSpace), ("25006", AccessDenied), ("42501", AccessDenied), ("57P01", Busy)])
async def test_what_the_server_cannot_do_is_said_in_our_words(database: Database, state: str, kind: type[Exception]) -> None:
    def work(transaction: Transaction) -> None:
        transaction.run(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$")

    with pytest.raises(kind):
        await database.write(work)


async def test_text_with_a_nul_in_it_is_the_callers_mistake(database: Database) -> None:
    with pytest.raises(InvalidArguments):
        await database.write(lambda transaction: note(transaction, "a\0b"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://somebody:hunter2@127.0.0.1:1/holdfast",
        "postgresql://somebody:hunter2@127.0.0.1:1/holdfast?bad_option=hunter2",
        "postgresql://somebody:hunter2@[::1/holdfast",
        "postgresql://127.0.0.1:1/holdfast?password=hunter2&user=somebody",
    ],
)
async def test_a_server_that_cannot_be_reached_is_busy_and_no_password_is_told(url: str) -> None:
    with pytest.raises(Busy) as refusal:
        await open_database(url)

    assert "hunter2" not in f"{refusal.value} {refusal.value!r} {refusal.value.facts} {refusal.value.__cause__}"


async def test_only_what_is_merely_recorded_is_committed_without_waiting_for_the_disk(database: Database) -> None:
    async def synchronous(durability: Durability) -> str:
        return await database.write(lambda transaction: transaction.rows("SHOW synchronous_commit")[0][0], durability=durability)

    assert await synchronous(Durability.RECORDED) == "off"
    assert await synchronous(Durability.ACKNOWLEDGED) == "on"


async def test_a_server_set_up_to_forget_is_told_to_keep_what_we_acknowledge(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET synchronous_commit = off".encode())

    database = await open_database(address)

    assert await database.write(lambda transaction: transaction.rows("SHOW synchronous_commit")[0][0]) == "on"
    await database.close()
