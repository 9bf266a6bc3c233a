"""A workspace has one holder, and whoever has lost it can acknowledge nothing more."""

import asyncio
import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from holdfast.store import leases
from holdfast.store.database import Database, Transaction
from holdfast.store.leases import Lease, check_held
from holdfast.store.lockfile import LockFile
from holdfast.store.opening import open_database
from holdfast.vocabulary.errors import Busy, LostLease, NotFound
from tests.store.scene import held_workspace, new_workspace, note, notes

CHECKOUT = Path(__file__).parent.parent.parent


async def test_a_workspace_that_nobody_holds_can_be_taken(database: Database) -> None:
    workspace_id = await new_workspace(database)
    node = await leases.join(database, "unix:/run/first", seconds=60)

    lease = await leases.take(database, node, workspace_id)

    assert lease == Lease(workspace_id, node.id, 1)
    assert await leases.holder(database, workspace_id) == node


async def test_taking_what_one_has_gives_the_same_lease(database: Database) -> None:
    workspace_id = await new_workspace(database)
    node = await leases.join(database, "unix:/run/first", seconds=60)

    assert await leases.take(database, node, workspace_id) == await leases.take(database, node, workspace_id)


async def test_a_workspace_with_a_living_holder_is_busy_and_its_address_is_told(database: Database) -> None:
    lease = await held_workspace(database)
    second = await leases.join(database, "unix:/run/second", seconds=60)

    with pytest.raises(Busy) as refusal:
        await leases.take(database, second, lease.workspace_id)

    assert refusal.value.facts["address"] == "unix:/run/first"
    assert not isinstance(refusal.value, LostLease)


async def test_a_holder_that_no_longer_pushes_its_deadline_forward_is_replaced(database: Database) -> None:
    workspace_id = await new_workspace(database)
    first = await leases.join(database, "unix:/run/first", seconds=0.2)
    old = await leases.take(database, first, workspace_id)
    second = await leases.join(database, "unix:/run/second", seconds=60)
    await asyncio.sleep(0.25)

    new = await leases.take(database, second, workspace_id)

    assert new.epoch == old.epoch + 1
    assert await leases.renew(database, first, seconds=60) == []


async def test_a_holder_that_renews_keeps_its_workspace(database: Database) -> None:
    workspace_id = await new_workspace(database)
    first = await leases.join(database, "unix:/run/first", seconds=0.2)
    lease = await leases.take(database, first, workspace_id)
    second = await leases.join(database, "unix:/run/second", seconds=60)

    kept = await leases.renew(database, first, seconds=60)
    await asyncio.sleep(0.25)

    assert kept == [lease]
    with pytest.raises(Busy):
        await leases.take(database, second, workspace_id)


async def test_a_holder_that_is_known_to_be_gone_is_not_waited_for(database: Database) -> None:
    lease = await held_workspace(database)
    second = await leases.join(database, "unix:/run/second", seconds=60)

    taken = await leases.take(database, second, lease.workspace_id, holder_is_gone=True)

    assert taken.epoch == lease.epoch + 1


async def test_what_was_given_back_can_be_taken_at_once(database: Database) -> None:
    workspace_id = await new_workspace(database)
    first = await leases.join(database, "unix:/run/first", seconds=60)
    second = await leases.join(database, "unix:/run/second", seconds=60)

    await leases.release(database, await leases.take(database, first, workspace_id))
    again = await leases.take(database, second, workspace_id)
    await leases.leave(database, second)
    last = await leases.take(database, first, workspace_id)

    assert (again.epoch, last.epoch) == (2, 3)


async def test_giving_back_a_lost_lease_takes_nothing_from_its_new_holder(database: Database) -> None:
    old = await held_workspace(database)
    second = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, second, old.workspace_id, holder_is_gone=True)

    await leases.release(database, old)

    assert await leases.holder(database, old.workspace_id) == second


async def test_a_node_that_has_left_can_take_and_renew_nothing(database: Database) -> None:
    workspace_id = await new_workspace(database)
    node = await leases.join(database, "unix:/run/first", seconds=60)
    await leases.leave(database, node)

    with pytest.raises(LostLease):
        await leases.take(database, node, workspace_id)
    with pytest.raises(LostLease):
        await leases.renew(database, node, seconds=60)


async def test_a_workspace_that_does_not_exist_cannot_be_taken(database: Database) -> None:
    node = await leases.join(database, "unix:/run/first", seconds=60)

    with pytest.raises(NotFound):
        await leases.take(database, node, "nothing")


async def test_of_many_who_want_it_at_once_one_gets_it(address: str) -> None:
    databases = [await open_database(address) for _ in range(4)]
    workspace_id = await new_workspace(databases[0])
    nodes = [await leases.join(database, f"unix:/run/{number}", seconds=60) for number, database in enumerate(databases)]

    outcomes = await asyncio.gather(
        *(leases.take(database, node, workspace_id) for database, node in zip(databases, nodes, strict=True)), return_exceptions=True
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Busy", "Busy", "Busy", "Lease"]
    for database in databases:
        await database.close()


async def test_a_late_writer_is_refused_in_every_take_over(address: str) -> None:
    """Two processes' worth of connections: one writes under its lease while the other takes the workspace over."""
    old_home, new_home = await open_database(address), await open_database(address)
    workspace_id = await new_workspace(old_home)
    late: list[str] = []

    for turn in range(40):
        old_node = await leases.join(old_home, "unix:/run/old", seconds=60)
        new_node = await leases.join(new_home, "unix:/run/new", seconds=60)
        lease = await leases.take(old_home, old_node, workspace_id, holder_is_gone=True)

        async def write(lease: Lease = lease, turn: int = turn) -> None:
            def work(number: int, transaction: Transaction) -> None:
                check_held(transaction, lease)
                time.sleep(random.random() / 2_000)  # where a take-over without the row's lock would slip in
                note(transaction, f"{turn} {lease.epoch} {number}")

            for number in count():
                await old_home.write(lambda transaction, number=number: work(number, transaction))

        writing = asyncio.create_task(write())
        await asyncio.sleep(random.random() / 100)
        await leases.take(new_home, new_node, workspace_id, holder_is_gone=True)
        seen = await notes(new_home)  # whatever the old holder could acknowledge is there by now
        with pytest.raises(LostLease):
            await writing
        late += await notes(new_home) - seen
        await leases.leave(old_home, old_node)
        await leases.leave(new_home, new_node)

    assert late == []
    await old_home.close()
    await new_home.close()


STOPPED = """
import asyncio, sys
from holdfast.store.leases import Lease, check_held
from holdfast.store.opening import open_database

async def main() -> None:
    database = await open_database(sys.argv[1])
    lease = Lease(sys.argv[2], "", int(sys.argv[3]))
    def work(transaction) -> None:
        check_held(transaction, lease)
        print("inside", flush=True)
        sys.stdin.readline()
        transaction.run("INSERT INTO nodes (id, address, deadline) VALUES ('late', '', 0)")
    try:
        await database.write(work, deadline=30)
        print("acknowledged")
    except Exception as error:
        print(error.code)

asyncio.run(main())
"""


async def test_a_holder_that_was_stopped_in_a_transaction_does_not_keep_the_workspace(postgres_url: str) -> None:
    database = await open_database(postgres_url)
    lease = await held_workspace(database)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        STOPPED,
        postgres_url,
        lease.workspace_id,
        str(lease.epoch),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"inside\n"
    os.kill(process.pid, signal.SIGSTOP)

    node = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, node, lease.workspace_id, holder_is_gone=True)
    os.kill(process.pid, signal.SIGCONT)
    told, _ = await process.communicate(b"go on\n")

    assert (await leases.holder(database, lease.workspace_id)) == node
    assert told == b"busy\n"
    assert await notes(database) == set()
    await database.close()


def test_a_lock_file_is_had_by_one_at_a_time(tmp_path: Path) -> None:
    first, second = LockFile(tmp_path / "locks" / "a"), LockFile(tmp_path / "locks" / "a")

    first.take()
    first.take()
    with pytest.raises(Busy):
        second.take()
    first.release()
    second.take()
    second.release()


async def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    held = "import sys; from pathlib import Path; from holdfast.store.lockfile import LockFile; LockFile(Path(sys.argv[1])).take()"
    script = f"{held}; print('held', flush=True); sys.stdin.readline()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(path), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=CHECKOUT
    )
    assert process.stdout is not None
    await process.stdout.readline()
    with pytest.raises(Busy):
        LockFile(path).take()

    process.kill()
    await process.wait()

    LockFile(path).take()
