"""Sessions and their logs."""

import asyncio

import pytest

from holdfast.store import events, leases, sessions
from holdfast.store.database import Database
from holdfast.store.events import NewEvent
from holdfast.store.leases import Lease
from holdfast.store.sessions import Session
from holdfast.vocabulary.errors import Exists, LostLease, NotFound
from holdfast.vocabulary.json import Json
from tests.store.scene import held_workspace


async def opened(database: Database, lease: Lease, session_id: str | None = None) -> Session:
    return await sessions.open_session(database, lease, session_id=session_id, trust="guided", profile="coder")


async def test_a_session_is_found_as_it_was_opened(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)

    assert await sessions.get(database, lease.workspace_id, session.id) == session
    assert (session.mode, session.state, session.last_seq, session.epoch) == ("build", "idle", 0, lease.epoch)


async def test_two_workspaces_may_have_a_session_of_the_same_id(database: Database, lease: Lease) -> None:
    other = await held_workspace(database)
    mine, theirs = await opened(database, lease, "chat-1"), await opened(database, other, "chat-1")
    await events.append(database, lease, mine.id, [NewEvent("message", "mine")])

    assert await events.read(database, other.workspace_id, theirs.id) == []
    with pytest.raises(Exists):
        await opened(database, lease, "chat-1")


async def test_what_is_set_anew_is_set_and_the_rest_stays(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)

    changed = await sessions.change(database, lease, session.id, title="Bread", mode="plan")

    assert (changed.title, changed.mode, changed.trust, changed.state) == ("Bread", "plan", "guided", "idle")
    assert await sessions.get(database, lease.workspace_id, session.id) == changed


async def test_sessions_are_listed_with_the_last_used_first(database: Database, lease: Lease) -> None:
    first, second = await opened(database, lease), await opened(database, lease)
    await events.append(database, lease, first.id, [NewEvent("message", "hello")])

    assert [session.id for session in await sessions.latest(database, lease.workspace_id)] == [first.id, second.id]


async def test_a_deleted_session_is_not_found_and_takes_no_events(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)

    await sessions.delete(database, lease, session.id)

    assert await sessions.get(database, lease.workspace_id, session.id) is None
    assert await sessions.latest(database, lease.workspace_id) == []
    for act in (
        lambda: sessions.delete(database, lease, session.id),
        lambda: sessions.change(database, lease, session.id, title="x"),
        lambda: events.append(database, lease, session.id, [NewEvent("message", "x")]),
    ):
        with pytest.raises(NotFound):
            await act()


async def test_events_are_numbered_without_gaps_whoever_appends_them(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)

    await asyncio.gather(
        *(events.append(database, lease, session.id, [NewEvent("a", number), NewEvent("b", number)]) for number in range(16)),
        *(events.append(database, lease, session.id, [NewEvent("c", None), NewEvent("lost", {1, 2})]) for _ in range(4)),  # pyright: ignore[reportArgumentType] - a set is no JSON
        return_exceptions=True,
    )

    log = await events.read(database, lease.workspace_id, session.id)
    assert [event.seq for event in log] == list(range(1, 33))
    assert {event.type for event in log} == {"a", "b"}
    for first, second in zip(log[::2], log[1::2], strict=True):
        assert (first.type, second.type, first.payload) == ("a", "b", second.payload)


async def test_a_payload_comes_back_as_it_was(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)
    payload: dict[str, Json] = {"text": "ä\0\n\ud800 🦀", "list": (1, 2.5, None, True), "deep": {"": []}}

    (appended,) = await events.append(database, lease, session.id, [NewEvent("message", payload)])

    (event,) = await events.read(database, lease.workspace_id, session.id)
    assert event.payload == {**payload, "list": [1, 2.5, None, True]}
    assert (event.seq, event.created_at) == (appended.seq, appended.created_at)


async def test_an_event_appended_again_with_its_key_is_there_once(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)

    first = await events.append(database, lease, session.id, [NewEvent("message", "hi", key="client-1")])
    again = await events.append(database, lease, session.id, [NewEvent("message", "hi", key="client-1")])
    after = await events.append(database, lease, session.id, [NewEvent("message", "next")])

    assert again == first
    assert after[0].seq == 2


async def test_a_log_is_read_from_where_one_was_or_backwards_from_a_point(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)
    await events.append(database, lease, session.id, [NewEvent("n", number) for number in range(1, 11)])

    async def numbers(**how: int) -> list[int]:
        return [event.seq for event in await events.read(database, lease.workspace_id, session.id, **how)]

    assert await numbers(after=7) == [8, 9, 10]
    assert await numbers(after=2, limit=3) == [3, 4, 5]
    assert await numbers(before=5, limit=2) == [3, 4]
    assert await numbers(after=2, before=6) == [3, 4, 5]


async def test_a_replaced_holder_can_append_nothing(database: Database, lease: Lease) -> None:
    session = await opened(database, lease)
    node = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, node, lease.workspace_id, holder_is_gone=True)

    with pytest.raises(LostLease):
        await events.append(database, lease, session.id, [NewEvent("late", None)])
    with pytest.raises(LostLease):
        await sessions.change(database, lease, session.id, state="running")
