"""Changes are promised in one transaction, against what the store knows at that moment."""

import asyncio

import pytest

from holdfast.store import audit, files, leases, versions
from holdfast.store.begin import begin, begin_all
from holdfast.store.changes import Import, Lose, MakeFolder, Move, Remove, Undelete, Write
from holdfast.store.contents import pack, unpack
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.uuid7 import uuid7
from holdfast.store.versions import Origin
from holdfast.vocabulary.errors import Conflict, Exists, LostLease, NotFound, StaleHash
from tests.store.scene import SOMEBODY, do, write


async def text_of(database: Database, version: versions.Version) -> str:
    content = await versions.content(database, version)
    assert content is not None
    return unpack(content).decode()


async def test_a_promised_write_is_pending_and_is_the_head(database: Database, lease: Lease) -> None:
    origin = Origin(author="ada", session_id="s1", call_id="c1")

    begun = await begin(database, lease, Write(path="a.txt", content=pack(b"hello"), mode=0o644, inode="1:2"), origin)

    assert begun.file.version_id == begun.version.id
    assert (begun.version.number, begun.version.kind, begun.version.state, begun.version.branch) == (1, "write", "pending", "main")
    assert (begun.version.author, begun.version.session_id, begun.version.call_id) == ("ada", "s1", "c1")
    assert (begun.version.mode, begun.version.inode, begun.version.epoch) == (0o644, "1:2", lease.epoch)
    assert (begun.file.hash, begun.file.size) == (pack(b"hello").hash, 5)
    assert await text_of(database, begun.version) == "hello"


async def test_a_second_write_is_the_next_version_of_the_same_file(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")

    second = await write(database, lease, "a.txt", "two", kind="edit", if_hash=first.file.hash)

    assert second.file.id == first.file.id
    assert (second.version.number, second.version.kind) == (2, "edit")
    assert await text_of(database, first.version) == "one"


async def test_a_write_from_an_old_reading_changes_nothing(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")
    await write(database, lease, "a.txt", "two")

    with pytest.raises(StaleHash) as refusal:
        await write(database, lease, "a.txt", "three", if_hash=first.file.hash)

    assert refusal.value.facts["found"] == pack(b"two").hash
    assert len(await versions.history(database, lease.workspace_id, first.file.id)) == 2


async def test_a_write_that_needs_a_free_path_or_a_known_file_says_when_it_is_not_so(database: Database, lease: Lease) -> None:
    await write(database, lease, "there", "x")

    with pytest.raises(Exists):
        await write(database, lease, "there", "y", if_exists=False)
    with pytest.raises(NotFound):
        await write(database, lease, "missing", "y", if_exists=True)

    assert await files.find(database, lease.workspace_id, "missing") is None


async def test_what_was_found_on_the_disk_becomes_a_version_before_the_change(database: Database, lease: Lease) -> None:
    ours = await write(database, lease, "a.txt", "ours")
    change = Write(path="a.txt", content=pack(b"edited"), kind="edit", found=pack(b"by hand"), if_hash=pack(b"by hand").hash)

    await begin(database, lease, change, SOMEBODY)

    history = await versions.history(database, lease.workspace_id, ours.file.id)
    assert [(version.number, version.kind, version.state) for version in history] == [
        (3, "edit", "pending"),
        (2, "external", "settled"),
        (1, "write", "pending"),
    ]
    assert history[1].author == ""
    assert await text_of(database, history[1]) == "by hand"


async def test_a_file_that_the_store_does_not_know_gets_a_baseline_first(database: Database, lease: Lease) -> None:
    begun = await begin(database, lease, Write(path="a.txt", content=pack(b"new"), found=pack(b"old"), if_exists=True), SOMEBODY)

    history = await versions.history(database, lease.workspace_id, begun.file.id)

    assert [version.kind for version in history] == ["write", "baseline"]


async def test_an_import_is_settled_at_once(database: Database, lease: Lease) -> None:
    first = await do(database, lease, Import(path="a.bin", found=pack(b"\0\1", content_kind="binary")))
    second = await do(database, lease, Import(path="a.bin", found=pack(b"\0\2", content_kind="binary")))

    assert (first.version.kind, first.version.state, first.version.content_kind) == ("baseline", "settled", "binary")
    assert (second.version.kind, second.version.state, second.file.id) == ("external", "settled", first.file.id)


async def test_a_repeated_request_with_the_same_key_finds_the_first_ones_version(database: Database, lease: Lease) -> None:
    origin = Origin(author="ada", key="call-7")
    change = Write(path="a.txt", content=pack(b"once"))

    first, second = await asyncio.gather(begin(database, lease, change, origin), begin(database, lease, change, origin))

    assert second.version == first.version
    assert len(await versions.history(database, lease.workspace_id, first.file.id)) == 1


async def test_a_key_that_was_used_for_another_change_is_refused(database: Database, lease: Lease) -> None:
    origin = Origin(key="call-7")
    await begin(database, lease, Write(path="a.txt", content=pack(b"once")), origin)

    with pytest.raises(Conflict):
        await begin(database, lease, Write(path="a.txt", content=pack(b"twice")), origin)
    with pytest.raises(Conflict):
        await begin(database, lease, Write(path="b.txt", content=pack(b"once")), origin)


async def test_several_changes_happen_together_or_not_at_all(database: Database, lease: Lease) -> None:
    await write(database, lease, "taken", "x")
    good, bad = Write(path="good", content=pack(b"x")), Write(path="taken", content=pack(b"y"), if_exists=False)

    with pytest.raises(Exists):
        await begin_all(database, lease, [(good, SOMEBODY), (bad, SOMEBODY)])

    assert await files.find(database, lease.workspace_id, "good") is None


async def test_the_call_is_recorded_with_its_change_or_not_at_all(database: Database, lease: Lease) -> None:
    def entry() -> audit.Entry:
        return audit.Entry(uuid7(), lease.workspace_id, 1, "write", "done", lease.epoch)

    change = Write(path="a.txt", content=pack(b"x"), if_exists=False)
    await begin(database, lease, change, SOMEBODY, entry=entry())
    with pytest.raises(Exists):
        await begin(database, lease, change, SOMEBODY, entry=entry())

    assert len(await audit.entries(database, lease.workspace_id)) == 1


async def test_a_holder_that_was_replaced_can_promise_nothing(database: Database, lease: Lease) -> None:
    node = await leases.join(database, "unix:/run/second", seconds=60)
    await leases.take(database, node, lease.workspace_id, holder_is_gone=True)

    with pytest.raises(LostLease):
        await write(database, lease, "late.txt", "late")

    assert await files.find(database, lease.workspace_id, "late.txt") is None


async def test_a_removed_file_keeps_its_versions_and_its_path_is_free(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")

    removed = await do(database, lease, Remove(path="a.txt"))
    again = await write(database, lease, "a.txt", "two")

    assert (removed.version.kind, removed.version.number, removed.version.hash) == ("remove", 2, first.file.hash)
    assert removed.file.deleted_at is not None
    assert again.file.id != first.file.id


async def test_removing_what_the_store_does_not_know_keeps_its_bytes_first(database: Database, lease: Lease) -> None:
    removed = await do(database, lease, Remove(path="a.txt", found=pack(b"precious")))

    back = await do(database, lease, Undelete(file_id=removed.file.id))

    assert [version.kind for version in await versions.history(database, lease.workspace_id, removed.file.id)] == [
        "undelete",
        "remove",
        "baseline",
    ]
    assert await text_of(database, back.version) == "precious"
    assert (back.file.path, back.file.deleted_at) == ("a.txt", None)


async def test_a_file_cannot_come_back_to_a_taken_path(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")
    await do(database, lease, Remove(path="a.txt"))
    await write(database, lease, "a.txt", "two")

    with pytest.raises(Exists):
        await do(database, lease, Undelete(file_id=first.file.id))


async def test_a_file_comes_back_with_the_folders_that_went_after_it(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a/b/c.txt", "one")
    for path in ("a/b/c.txt", "a/b", "a"):
        await do(database, lease, Remove(path=path))

    await do(database, lease, Undelete(file_id=first.file.id))

    assert [file.path for file in await files.below(database, lease.workspace_id, "")] == ["a", "a/b", "a/b/c.txt"]


async def test_what_was_never_deleted_cannot_be_undeleted(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")

    with pytest.raises(NotFound):
        await do(database, lease, Undelete(file_id=first.file.id))
    with pytest.raises(NotFound):
        await do(database, lease, Undelete(file_id="nothing"))


async def test_a_move_is_a_version_that_keeps_the_content(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")

    moved = await do(database, lease, Move(source="a.txt", target="b/c.md"))

    assert moved.file.id == first.file.id
    assert (moved.file.path, moved.file.name, moved.file.display_name) == ("b/c.md", "c.md", "c.md")
    assert (moved.version.kind, moved.version.before_path, moved.version.path, moved.version.hash) == (
        "move",
        "a.txt",
        "b/c.md",
        first.file.hash,
    )


async def test_a_name_given_by_a_person_stays_through_a_move(database: Database, lease: Lease) -> None:
    await write(database, lease, "a.txt", "one", display_name="My plan")

    assert (await do(database, lease, Move(source="a.txt", target="b.txt"))).file.display_name == "My plan"


async def test_a_move_onto_something_is_refused_unless_it_is_only_the_store_that_has_it(database: Database, lease: Lease) -> None:
    await write(database, lease, "a.txt", "one")
    stale = await write(database, lease, "b.txt", "two")

    with pytest.raises(Exists):
        await do(database, lease, Move(source="a.txt", target="b.txt"))
    await do(database, lease, Move(source="a.txt", target="b.txt", replace=True))

    gone = await files.get(database, lease.workspace_id, stale.file.id)
    assert gone is not None
    assert gone.deleted_at is not None


async def test_nothing_moves_into_itself_or_out_of_nowhere(database: Database, lease: Lease) -> None:
    await do(database, lease, MakeFolder(path="a"))

    with pytest.raises(Conflict):
        await do(database, lease, Move(source="a", target="a/b"))
    with pytest.raises(NotFound):
        await do(database, lease, Move(source="nothing", target="b"))


async def test_moving_what_the_store_does_not_know_imports_it(database: Database, lease: Lease) -> None:
    file = await do(database, lease, Move(source="a.txt", target="b.txt", found=pack(b"x")))
    folder = await do(database, lease, Move(source="d", target="e", is_folder=True))

    history = await versions.history(database, lease.workspace_id, file.file.id)
    assert [(version.kind, version.path) for version in history] == [("move", "b.txt"), ("baseline", "a.txt")]
    assert (folder.file.path, folder.file.is_folder) == ("e", True)


async def test_where_the_disk_has_another_kind_of_thing_the_disk_is_believed(database: Database, lease: Lease) -> None:
    was_file = await write(database, lease, "a", "x")
    await write(database, lease, "d/inside", "x")

    await write(database, lease, "a/now/a/folder", "y")
    await write(database, lease, "d", "now a file")

    gone = await files.get(database, lease.workspace_id, was_file.file.id)
    assert gone is not None
    assert gone.deleted_at is not None
    assert [(file.path, file.is_folder) for file in await files.below(database, lease.workspace_id, "")] == [
        ("a", True),
        ("a/now", True),
        ("a/now/a", True),
        ("a/now/a/folder", False),
        ("d", False),
    ]


async def test_what_vanished_from_the_disk_can_still_be_brought_back(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "a.txt", "one")

    lost = await do(database, lease, Lose(path="a.txt"))
    back = await do(database, lease, Undelete(file_id=first.file.id))

    assert (lost.version.kind, lost.version.state) == ("external", "settled")
    assert await text_of(database, back.version) == "one"


async def test_sixteen_writers_of_one_file_lose_no_update_and_leave_no_gap(database: Database, lease: Lease) -> None:
    first = await write(database, lease, "count.txt", "0")

    async def add_one(times: int) -> None:
        while times:
            now = await files.find(database, lease.workspace_id, "count.txt")
            assert now is not None
            shown = await versions.get(database, lease.workspace_id, now.version_id or "")
            assert shown is not None
            count = int(await text_of(database, shown))
            try:
                await write(database, lease, "count.txt", str(count + 1), if_hash=now.hash)
                times -= 1
            except StaleHash:
                continue

    await asyncio.gather(*(add_one(5) for _ in range(16)))

    history = await versions.history(database, lease.workspace_id, first.file.id)
    assert [version.number for version in history] == list(range(81, 0, -1))
    assert await text_of(database, history[0]) == "80"
