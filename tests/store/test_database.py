"""Reading and writing rows, on either database."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from holdfast.store import leases
from holdfast.store.database import Database, Durability, Transaction
from holdfast.store.opening import open_database
from holdfast.store.within import within
from holdfast.vocabulary.errors import Busy, Conflict, InvalidArguments
from tests.store.scene import note, notes


async def test_a_write_is_seen_by_the_next_reading_of_any_kind(database: Database) -> None:
    await database.write(lambda transaction: note(transaction, "one"))

    sql, values = "SELECT id FROM nodes WHERE id = :id", {"id": "one"}
    assert await database.row(sql, values) == ("one",)
    assert await database.rows(sql, values) == [("one",)]
    assert await database.scan(sql, values) == [("one",)]


async def test_a_reading_that_finds_nothing_gives_none(database: Database) -> None:
    assert await database.row("SELECT id FROM nodes WHERE id = :id", {"id": "nobody"}) is None


async def test_what_the_work_returns_comes_back(database: Database) -> None:
    assert await database.write(lambda transaction: transaction.run("UPDATE nodes SET deadline = 1")) == 0


async def test_work_that_raises_leaves_nothing_behind(database: Database) -> None:
    def work(transaction: Transaction) -> None:
        note(transaction, "half")
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        await database.write(work)

    assert await notes(database) == set()


async def test_a_conflict_undoes_its_own_work_and_not_that_of_its_neighbours(database: Database) -> None:
    await database.write(lambda transaction: note(transaction, "3"))

    def work(number: int, transaction: Transaction) -> None:
        note(transaction, f"before {number}")
        note(transaction, str(number))

    outcomes = await asyncio.gather(
        *(database.write(lambda transaction, number=number: work(number, transaction)) for number in range(8)), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [Conflict if number == 3 else type(None) for number in range(8)]
    assert await notes(database) == {str(number) for number in range(8)} | {f"before {number}" for number in range(8) if number != 3}


async def test_what_is_asked_for_together_is_committed_together(database: Database) -> None:
    happened: list[str] = []

    def work(number: int, transaction: Transaction) -> None:
        note(transaction, str(number))
        happened.append("ran")

    async def ask(number: int) -> None:
        await database.write(lambda transaction: work(number, transaction))
        happened.append("told")

    await asyncio.gather(*(ask(number) for number in range(32)))

    assert happened[:4] == ["ran"] * 4  # a slow machine may need two groups for all of them
    assert await notes(database) == {str(number) for number in range(32)}


async def test_both_classes_of_durability_share_a_group(database: Database) -> None:
    await asyncio.gather(
        database.write(lambda transaction: note(transaction, "recorded"), durability=Durability.RECORDED),
        database.write(lambda transaction: note(transaction, "acknowledged")),
        database.write(lambda transaction: note(transaction, "recorded too"), durability=Durability.RECORDED),
    )

    assert await notes(database) == {"recorded", "acknowledged", "recorded too"}


async def test_a_caller_that_goes_away_before_its_turn_changes_nothing(database: Database) -> None:
    go_on = threading.Event()
    first = asyncio.create_task(database.write(lambda _: go_on.wait(10)))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(database.write(lambda transaction: note(transaction, "unwanted")))
    await asyncio.sleep(0.05)

    third = asyncio.create_task(database.write(lambda transaction: note(transaction, "wanted")))
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    go_on.set()
    await asyncio.gather(first, third)

    assert await notes(database) == {"wanted"}


async def test_a_write_that_waits_past_its_deadline_is_refused_and_never_done(database: Database) -> None:
    go_on = threading.Event()
    first = asyncio.create_task(database.write(lambda _: go_on.wait(10)))
    await asyncio.sleep(0.05)

    patient = asyncio.create_task(database.write(lambda transaction: note(transaction, "patient")))
    with pytest.raises(Busy) as refusal:
        await database.write(lambda transaction: note(transaction, "late"), deadline=0.1)
    go_on.set()
    await asyncio.gather(first, patient)

    assert "outcome" not in refusal.value.facts
    assert await notes(database) == {"patient"}


async def test_a_database_with_another_deadline_ends_whatever_is_done_with_it_by_then(database: Database) -> None:
    go_on = threading.Event()
    first = asyncio.create_task(database.write(lambda _: go_on.wait(10)))
    await asyncio.sleep(0.05)

    with pytest.raises(Busy):
        await leases.join(within(0.1, database), "unix:/run/late", seconds=60)
    go_on.set()
    await first

    assert await database.row("SELECT count(*) FROM nodes") == (0,)


async def test_a_write_that_is_under_way_at_its_deadline_still_tells_the_truth(database: Database) -> None:
    go_on = threading.Event()

    def work(transaction: Transaction) -> str:
        note(transaction, "slow")
        go_on.wait(10)
        return "done"

    slow = asyncio.create_task(database.write(work, deadline=0.2))
    await asyncio.sleep(0.3)
    go_on.set()

    assert await slow == "done"
    assert await notes(database) == {"slow"}


async def test_a_write_of_which_nothing_is_heard_says_that_nobody_knows(database: Database) -> None:
    go_on = threading.Event()

    with pytest.raises(Busy) as refusal:
        await database.write(lambda _: go_on.wait(10), deadline=0.1)
    go_on.set()

    assert refusal.value.facts["outcome"] == "unknown"


async def test_closing_finishes_what_is_waiting(address: str) -> None:
    database = await open_database(address)
    waiting = [asyncio.create_task(database.write(lambda transaction, n=n: note(transaction, str(n)))) for n in range(5)]
    await asyncio.sleep(0)

    await database.close()
    await asyncio.gather(*waiting)

    again = await open_database(address)
    assert await notes(again) == {"0", "1", "2", "3", "4"}
    await again.close()


async def test_a_closed_database_takes_no_more(address: str) -> None:
    database = await open_database(address)
    await database.close()

    with pytest.raises(Busy):
        await database.write(lambda transaction: note(transaction, "late"))


async def test_broken_text_is_the_callers_mistake(database: Database) -> None:
    with pytest.raises(InvalidArguments):
        await database.write(lambda transaction: note(transaction, "half \ud800 pair"))
    with pytest.raises(InvalidArguments):
        await database.row("SELECT id FROM nodes WHERE id = :id", {"id": "half \ud800 pair"})


async def test_a_number_that_no_column_holds_is_the_callers_mistake(database: Database) -> None:
    with pytest.raises(InvalidArguments):
        await database.write(lambda transaction: transaction.run("UPDATE migrations SET applied_at = :n", {"n": 2**70}))


@pytest.mark.parametrize("address", ["", "mysql://somewhere/else", "sqlite://", "sqlite:///"])
async def test_an_address_of_another_kind_is_refused(address: str) -> None:
    with pytest.raises(InvalidArguments):
        await open_database(address)


KILLED = """
import asyncio, sys
from holdfast.store.opening import open_database
from tests.store.scene import note

async def main() -> None:
    database = await open_database(sys.argv[1])
    async def writer(name: int) -> None:
        for number in range(1_000_000):
            text = f"{name}-{number}"
            await database.write(lambda transaction: note(transaction, text))
            sys.stdout.write(f"{text}\\n")
            sys.stdout.flush()
    await asyncio.gather(*(writer(name) for name in range(8)))

asyncio.run(main())
"""


@pytest.mark.parametrize("after", [40, 150, 400])
async def test_what_was_acknowledged_is_there_after_the_process_was_killed(address: str, after: int) -> None:
    checkout = Path(__file__).parent.parent.parent
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, address, stdout=asyncio.subprocess.PIPE, cwd=checkout, env={"PYTHONPATH": str(checkout)}
    )
    assert process.stdout is not None
    acknowledged = [await process.stdout.readline() for _ in range(after)]
    process.kill()
    acknowledged += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()

    database = await open_database(address)
    kept = await notes(database)
    await database.close()

    heard = {line.decode().strip() for line in acknowledged if line.endswith(b"\n")}
    assert len(heard) >= after
    assert heard - kept == set()
