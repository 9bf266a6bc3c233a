"""Layers outlive the process, are decided once, and remember what was kept of them."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.store import layers, leases
from holdfast.store.database import Database
from holdfast.store.layers import NewLayer
from holdfast.store.leases import Lease
from holdfast.store.opening import open_database
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType
from holdfast.vocabulary.errors import Conflict, LostLease, NotFound
from tests.store.scene import held_workspace

FOUND = Effects.of(
    [
        Effect("project", "a", EffectKind.CHANGED, EntryType.FILE, mode=0o644, size=3, hash="ab"),
        Effect("project", "bad\udcff", EffectKind.ADDED, EntryType.OTHER, note="a FIFO cannot be kept"),
        Effect("project", "z", EffectKind.RENAMED, EntryType.FILE, before="y", is_protected=True, is_ignored=True, is_whole=True),
    ]
)


def new_layer() -> NewLayer:
    return NewLayer(id=uuid7(), session_id="s1", call_id="c1", started={"project": 12_345_678_901_234_567})


async def test_held_effects_outlive_the_process_that_ran_the_command(address: str) -> None:
    database = await open_database(address)
    lease = await held_workspace(database)
    held = await layers.hold(database, lease, new_layer(), FOUND)
    await database.close()

    again = await open_database(address)

    assert await layers.in_state(again, lease.workspace_id, "pending") == [held]
    assert held.started == {"project": 12_345_678_901_234_567}
    kept = await layers.effects(again, held)
    assert (kept, kept.hash) == (FOUND, held.effects_hash)
    await again.close()


async def test_a_layer_is_decided_once(database: Database, lease: Lease) -> None:
    held = await layers.hold(database, lease, new_layer(), FOUND)

    outcomes = await asyncio.gather(
        layers.move(database, lease, held.id, to="keeping", only_from=("pending",)),
        layers.move(database, lease, held.id, to="dropped", only_from=("pending",)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [layers.LayerRow, Conflict]
    with pytest.raises(Conflict):
        await layers.move(database, lease, held.id, to="pending", only_from=("settled",))


async def test_what_is_committed_is_on_record_and_cannot_be_held_again(database: Database, lease: Lease) -> None:
    new = new_layer()
    await layers.add(database, lease, new)
    rows = [["project", "a", None, number] for number in range(1_000)]

    committed = await layers.commit(
        database,
        lease,
        new,
        kept_by="c2",
        effects_hash=FOUND.hash,
        effects=layers.pack_effects(FOUND.every),
        record=layers.pack_rows(rows),
    )

    assert (committed.state, committed.kept_by) == ("committed", "c2")
    assert list(layers.unpack_rows(await layers.record(database, committed))) == rows
    assert await layers.of_call(database, lease.workspace_id, "c1") == [committed]
    assert await layers.of_call(database, lease.workspace_id, "c2") == [committed]
    with pytest.raises(Conflict):
        await layers.hold(database, lease, new, FOUND)
    with pytest.raises(Conflict):
        await layers.commit(database, lease, new, kept_by="c3", effects_hash="", effects=b"", record=b"")


async def test_a_layer_that_was_never_kept_has_an_empty_record(database: Database, lease: Lease) -> None:
    row = await layers.add(database, lease, new_layer())

    assert list(layers.unpack_rows(await layers.record(database, row))) == []
    assert not await layers.effects(database, row)


async def test_a_foreign_layer_is_not_found(database: Database, lease: Lease) -> None:
    other, new = await held_workspace(database), new_layer()
    await layers.add(database, lease, new)

    assert await layers.get(database, other.workspace_id, new.id) is None
    with pytest.raises(NotFound):
        await layers.move(database, other, new.id, to="dropped", only_from=layers.OPEN)
    with pytest.raises(Conflict):
        await layers.add(database, other, new)


async def test_a_layer_added_twice_is_one(database: Database, lease: Lease) -> None:
    new = replace(new_layer(), key="k")

    first, second = await layers.add(database, lease, new), await layers.add(database, lease, new)
    third = await layers.add(database, lease, replace(new_layer(), key="k"))

    assert first == second == third


async def test_a_replaced_holder_can_keep_nothing(database: Database, lease: Lease) -> None:
    new = new_layer()
    await layers.add(database, lease, new)
    node = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, node, lease.workspace_id, holder_is_gone=True)

    with pytest.raises(LostLease):
        await layers.move(database, lease, new.id, to="keeping", only_from=layers.OPEN)
    with pytest.raises(LostLease):
        await layers.hold(database, lease, new, FOUND)
