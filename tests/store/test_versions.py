"""Versions are pending until the disk has them: then they are settled, or taken back."""

import pytest

from holdfast.store import audit, files, leases, versions
from holdfast.store.begin import begin
from holdfast.store.changes import Import, MakeFolder, Move, Remove, Undelete, Write
from holdfast.store.contents import kept_outside, pack, unpack
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.uuid7 import uuid7
from holdfast.store.versions import Origin
from holdfast.vocabulary.errors import LostLease, NotFound
from tests.store.scene import do, held_workspace, write


async def taken_over(database: Database, lease: Lease) -> Lease:
    node = await leases.join(database, "unix:/run/next", seconds=60)
    return await leases.take(database, node, lease.workspace_id, holder_is_gone=True)


async def state_of(database: Database, lease: Lease, version_id: str) -> str:
    version = await versions.get(database, lease.workspace_id, version_id)
    assert version is not None
    return version.state


async def test_settled_versions_are_no_longer_pending(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")
    second = await write(database, lease, "b.txt", "two")

    await versions.settle(database, lease, [first.version.id, second.version.id])

    assert await state_of(database, lease, first.version.id) == "settled"
    assert await versions.newest_pending(database, await taken_over(database, lease)) == []


async def test_settling_a_version_settles_what_was_pending_before_it_at_the_same_place(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")
    removed = await do(database, lease, Remove(path="a.txt"))
    other = await write(database, lease, "b.txt", "x")
    again = await write(database, lease, "a.txt", "two")
    later = await write(database, lease, "a.txt", "three")

    await versions.settle(database, lease, [again.version.id])

    states = [await state_of(database, lease, begun.version.id) for begun in (first, removed, again, later, other)]
    assert states == ["settled", "settled", "settled", "pending", "pending"]


async def test_the_next_holder_finds_the_newest_promise_for_each_path(database: Database, lease: Lease) -> None:
    await write(database, lease, "a.txt", "one")
    newest = await write(database, lease, "a.txt", "two")
    await do(database, lease, Remove(path="gone.txt", found=pack(b"x")))
    replaced = await write(database, lease, "gone.txt", "again")

    new = await taken_over(database, lease)
    mine = await write(database, new, "mine.txt", "of this epoch")

    pending = await versions.newest_pending(database, new)
    assert [version.id for version in pending] == [newest.version.id, replaced.version.id]
    assert mine.version.epoch == lease.epoch + 1


async def test_an_aborted_edit_leaves_the_file_as_it_was_and_its_number_used(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")
    second = await write(database, lease, "a.txt", "two")

    await versions.abort(database, lease, second.version.id)

    now = await files.find(database, lease.workspace_id, "a.txt")
    assert now is not None
    assert (now.version_id, now.number, now.hash) == (first.version.id, 1, first.file.hash)
    third = await write(database, lease, "a.txt", "three", if_hash=first.file.hash)
    assert third.version.number == 3
    assert [version.state for version in await versions.history(database, lease.workspace_id, now.id)] == ["pending", "aborted", "pending"]


async def test_an_aborted_creation_leaves_no_file_and_nothing_to_undelete(database: Database, lease: Lease) -> None:
    made = await write(database, lease, "a.txt", "one")

    await versions.abort(database, lease, made.version.id)

    assert await files.find(database, lease.workspace_id, "a.txt") is None
    assert await files.deleted(database, lease.workspace_id) == []
    with pytest.raises(NotFound):
        await do(database, lease, Undelete(file_id=made.file.id))


async def test_an_aborted_move_brings_everything_back(database: Database, lease: Lease) -> None:
    await write(database, lease, "d/sub/a.txt", "one")
    moved = await do(database, lease, Move(source="d", target="e"))

    await versions.abort(database, lease, moved.version.id)

    assert [file.path for file in await files.below(database, lease.workspace_id, "")] == ["d", "d/sub", "d/sub/a.txt"]


async def test_an_aborted_removal_makes_the_file_active_again(database: Database, lease: Lease) -> None:
    made = await write(database, lease, "a.txt", "one")
    removed = await do(database, lease, Remove(path="a.txt"))

    await versions.abort(database, lease, removed.version.id)

    now = await files.find(database, lease.workspace_id, "a.txt")
    assert now is not None
    assert (now.id, now.version_id) == (made.file.id, made.version.id)


async def test_an_aborted_undelete_or_mkdir_is_gone_again(database: Database, lease: Lease) -> None:
    made = await write(database, lease, "a.txt", "one")
    await do(database, lease, Remove(path="a.txt"))
    back = await do(database, lease, Undelete(file_id=made.file.id))
    folder = await do(database, lease, MakeFolder(path="d"))

    await versions.abort(database, lease, back.version.id)
    await versions.abort(database, lease, folder.version.id)

    assert await files.below(database, lease.workspace_id, "") == []
    assert [file.id for file in await files.deleted(database, lease.workspace_id)] == [made.file.id]


async def test_after_an_abort_the_same_request_can_be_made_again(database: Database, lease: Lease) -> None:
    origin, change = Origin(key="call-1"), Write(path="a.txt", content=pack(b"x"))
    first = await begin(database, lease, change, origin)
    await versions.abort(database, lease, first.version.id)

    second = await begin(database, lease, change, origin)

    assert second.version.id != first.version.id
    assert second.version.state == "pending"


async def test_only_pending_versions_can_be_aborted(database: Database, lease: Lease) -> None:
    settled = await do(database, lease, Import(path="a.txt", found=pack(b"x")))

    with pytest.raises(NotFound):
        await versions.abort(database, lease, settled.version.id)
    with pytest.raises(NotFound):
        await versions.abort(database, lease, "nothing")


async def test_an_abort_corrects_the_entry_of_its_call(database: Database, lease: Lease) -> None:
    entry = audit.Entry(uuid7(), lease.workspace_id, 1, "write", "done", lease.epoch, input={"path": "a.txt"})
    begun = await begin(database, lease, Write(path="a.txt", content=pack(b"x")), Origin(), entry=entry)

    corrected = audit.Entry(entry.id, lease.workspace_id, 1, "write", "failed", lease.epoch, code="no_space", input={"path": "a.txt"})
    await versions.abort(database, lease, begun.version.id, entry=corrected)

    assert await audit.entries(database, lease.workspace_id) == [corrected]


async def test_a_replaced_holder_can_neither_settle_nor_abort(database: Database, lease: Lease) -> None:
    begun = await write(database, lease, "a.txt", "one")
    await taken_over(database, lease)

    with pytest.raises(LostLease):
        await versions.settle(database, lease, [begun.version.id])
    with pytest.raises(LostLease):
        await versions.abort(database, lease, begun.version.id)


async def test_history_comes_in_pages_and_only_to_its_own_workspace(database: Database, lease: Lease) -> None:
    made = await write(database, lease, "a.txt", "a")
    for text in "bcde":
        await write(database, lease, "a.txt", text)
    other = await held_workspace(database)

    first = await versions.history(database, lease.workspace_id, made.file.id, limit=2)
    second = await versions.history(database, lease.workspace_id, made.file.id, limit=2, before=first[-1].number)

    assert [version.number for version in first + second] == [5, 4, 3, 2]
    assert await versions.history(database, other.workspace_id, made.file.id) == []
    assert await versions.get(database, other.workspace_id, made.version.id) is None


async def test_what_a_session_changed_is_listed_in_order(database: Database, lease: Lease) -> None:
    for path, session in (("a", "s1"), ("b", "s2"), ("c", "s1")):
        await begin(database, lease, Write(path=path, content=pack(b"x")), Origin(session_id=session))

    assert [version.path for version in await versions.of_session(database, lease.workspace_id, "s1")] == ["a", "c"]


@pytest.mark.parametrize("data", [b"", b"hello " * 100, bytes(range(256)), b"x" * 1_000_000])
async def test_content_comes_back_as_it_was(database: Database, lease: Lease, data: bytes) -> None:
    begun = await begin(database, lease, Write(path="a", content=pack(data, content_kind="binary")), Origin())

    content = await versions.content(database, begun.version)

    assert content is not None
    assert unpack(content) == data
    assert (content.size, content.content_kind) == (len(data), "binary")


async def test_the_same_content_is_stored_once(database: Database, lease: Lease) -> None:
    for path in "abc":
        await write(database, lease, path, "same")

    assert await database.row("SELECT count(*) FROM contents WHERE hash = :hash", {"hash": pack(b"same").hash}) == (1,)


async def test_large_contents_are_known_by_their_hash_alone_until_their_bytes_come(database: Database, lease: Lease) -> None:
    huge = kept_outside(pack(b"huge").hash, 300 * 1024 * 1024)
    large = kept_outside("f" * 64, 2 * 1024 * 1024)
    for path, content in (("huge", huge), ("large", large)):
        await begin(database, lease, Write(path=path, content=content), Origin())

    begun = await begin(database, lease, Write(path="huge too", content=pack(b"huge")), Origin())

    assert (huge.place, large.place) == ("none", "file")
    stored = await versions.content(database, begun.version)
    assert stored is not None
    assert unpack(stored) == b"huge"
