"""Every call has one entry."""

from dataclasses import replace

import pytest

from holdfast.store import audit, leases
from holdfast.store.audit import Entry
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.errors import LostLease
from tests.store.scene import held_workspace


def entry(lease: Lease, outcome: str = "done", **more: str) -> Entry:
    return replace(Entry(uuid7(), lease.workspace_id, 1, "read", outcome, lease.epoch), **more)  # pyright: ignore[reportArgumentType] - the tests name real fields


async def test_an_entry_comes_back_as_it_was(database: Database, lease: Lease) -> None:
    written = replace(entry(lease, session_id="s1", agent="coder", code="not_found"), duration_ms=1.25, input={"path": "a"}, output=[1])

    await audit.record(database, written)

    assert await audit.entries(database, lease.workspace_id) == [written]


async def test_entries_come_newest_first_in_pages_and_by_session(database: Database, lease: Lease) -> None:
    written = [entry(lease, session_id=session) for session in ("s1", "s2", "s1", "s2")]
    for one in written:
        await audit.record(database, one)
    await audit.record(database, entry(await held_workspace(database)))

    first = await audit.entries(database, lease.workspace_id, limit=3)
    rest = await audit.entries(database, lease.workspace_id, before=first[-1].id)

    assert first + rest == written[::-1]
    assert await audit.entries(database, lease.workspace_id, session_id="s1") == [written[2], written[0]]


async def test_a_call_that_started_is_completed_by_what_came_of_it(database: Database, lease: Lease) -> None:
    started = entry(lease, "started", call_id="c1")
    await audit.intend(database, lease, started)

    await audit.record(database, replace(started, outcome="failed", code="timed_out", output="…"))

    (found,) = await audit.entries(database, lease.workspace_id)
    assert (found.outcome, found.code, found.output, found.call_id) == ("failed", "timed_out", "…", "c1")


async def test_the_next_holder_finds_what_had_started_and_not_ended(database: Database, lease: Lease) -> None:
    ended, cut = entry(lease, "started"), entry(lease, "started")
    await audit.intend(database, lease, ended)
    await audit.intend(database, lease, cut)
    await audit.record(database, replace(ended, outcome="done"))
    node = await leases.join(database, "unix:/run/second", seconds=60)

    new = await leases.take(database, node, lease.workspace_id, holder_is_gone=True)

    assert await audit.unfinished(database, new) == [cut]
    with pytest.raises(LostLease):
        await audit.intend(database, lease, entry(lease, "started"))


async def test_names_that_a_model_made_up_cannot_keep_an_entry_out(database: Database, lease: Lease) -> None:
    await audit.record(database, replace(entry(lease, call_id="c\0\ud800"), tool="\0rm\udfff", input={"\0": "\ud800"}))

    (found,) = await audit.entries(database, lease.workspace_id)
    assert (found.tool, found.input) == ("\N{REPLACEMENT CHARACTER}rm?", {"\0": "\ud800"})
