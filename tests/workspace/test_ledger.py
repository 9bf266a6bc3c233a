"""Every change becomes a version before it is made: with its bytes, its call, and what it found."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from holdfast.store.audit import STARTED, Entry
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Broken, LostLease, NoSpace, NotKept, StaleHash
from holdfast.workspace.author import Author
from holdfast.workspace.files import Files
from holdfast.workspace.item import ContentKind
from holdfast.workspace.mount import Mount
from holdfast.workspace.records import Records
from holdfast.workspace.resolve import resolve_now
from holdfast.workspace.stage import Staged
from tests.promises import carries
from tests.workspace.shelf import Shelf, shelved, taken_over
from tests.workspace.writing import leftovers, sha256

_BIG = bytes(range(256)) * 5_000


@carries("WS-VERSION-4")
async def test_four_writers_at_once_leave_the_newest_version_on_the_disk_and_no_gap(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "0")

    async def write(writer: int) -> None:
        for turn in range(10):
            await shelf.files.save(shelf.at("a"), f"{writer}:{turn}", overwrite=True)

    await asyncio.gather(*(write(writer) for writer in range(4)))

    history = await shelf.files.history(saved.file_id)
    assert [version.number for version in history] == list(range(41, 0, -1))
    assert history[0].hash == sha256((shelf.root / "a").read_bytes())
    assert leftovers(shelf.root) == []


@carries("WS-VERSION-4")
async def test_of_editors_who_read_the_same_only_one_gets_through(shelf: Shelf) -> None:
    read = await shelf.files.save(shelf.at("a"), "0")

    edits = [shelf.files.replace_saved(shelf.at("a"), "0", str(number), only_if=read.hash) for number in range(1, 9)]
    results = await asyncio.gather(*edits, return_exceptions=True)

    assert sorted(type(result).__name__ for result in results) == ["Saved"] + ["StaleHash"] * 7
    assert all(isinstance(result, StaleHash) for result in results if isinstance(result, Exception))
    assert len(await shelf.files.history(read.file_id)) == 2


@carries("WS-SYNC-6")
async def test_what_changed_behind_our_back_becomes_a_version_at_the_next_change(shelf: Shelf) -> None:
    first, second, third = [await shelf.files.save(shelf.at(name), "ours\n") for name in ("a", "b", "c")]
    for name in ("a", "b", "c"):
        shelf.put(name, f"theirs {name}\n")

    await shelf.files.write(shelf.at("a"), b"next\n")
    await shelf.files.relocate(shelf.at("b"), shelf.at("moved"))
    await shelf.files.discard(shelf.at("c"))

    assert await shelf.kinds(first.file_id) == ["write", "external", "write"]
    assert await shelf.kinds(second.file_id) == ["write", "external", "move"]
    assert await shelf.kinds(third.file_id) == ["write", "external", "remove"]
    external = (await shelf.files.history(first.file_id))[1]
    assert (await shelf.files.content_of(first.file_id, external.version_id)).content == "theirs a\n"
    assert (await shelf.files.content_of(third.file_id, None)).content == "theirs c\n"


@carries("WS-VERSION-1")
async def test_whatever_toolset_asks_there_is_a_version(shelf: Shelf) -> None:
    shelf.put("a.md", "---\nstepsCompleted: []\n---\nbody\n")

    await shelf.files.replace(shelf.at("a.md"), "body", "text")
    await shelf.files.patch_front_matter(shelf.at("a.md"), {"stepsCompleted": {"append": ["one"]}}, max_bytes=10_000)
    await shelf.files.move(shelf.at("a.md"), shelf.at("b.md"))

    item = await shelf.files.item(shelf.at("b.md"))
    assert await shelf.kinds(item.file_id or "") == ["baseline", "write", "write", "move"]


@carries("WS-VERSION-1")
async def test_a_version_tells_who_made_it_in_which_call(shelf: Shelf) -> None:
    author = Author("call-1", "session-1", "user-1", "agent-1")
    files = Files(shelf.files.sight, shelf.files.changes.by(author), shelf.records)
    call = ToolCall("call-2", "write", {}, Caller(user="user-2", session="session-2"))
    others = Files(shelf.files.sight, shelf.files.changes.by(call), shelf.records)

    saved = await files.save(shelf.at("a"), "1")
    await others.save(shelf.at("a"), "2", overwrite=True)

    newest, first = await shelf.files.history(saved.file_id)
    assert (first.author, first.session_id, first.call_id) == ("agent-1", "session-1", "call-1")
    assert (newest.author, newest.session_id, newest.call_id) == ("user-2", "session-2", "call-2")


async def test_the_call_is_recorded_with_its_change_or_not_at_all(shelf: Shelf) -> None:
    def files(name: str) -> Files:
        lease = shelf.records.lease
        entry = Entry(uuid7(), lease.workspace_id, 1, name, STARTED, lease.epoch, call_id=name)
        return Files(shelf.files.sight, shelf.files.changes.by(Author(name, audit=entry)), shelf.records)

    saved = await files("first").save(shelf.at("a"), "1")
    with pytest.raises(StaleHash):
        await files("stale").replace_saved(shelf.at("a"), "1", "2", only_if="0" * 64)
    await files("touched").touch_item(shelf.at("a"))

    assert await shelf.rows("SELECT call_id, outcome FROM audit ORDER BY id") == [("first", "started"), ("touched", "started")]
    assert len(await shelf.files.history(saved.file_id)) == 1


async def test_a_version_is_settled_once_the_disk_is_synced_and_the_caller_waits_for_neither(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    plain = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        plain(descriptor)

    monkeypatch.setattr(os, "fsync", noted)

    saved = await shelf.files.save(shelf.at("d/a"), "1")
    assert synced == []
    assert (await shelf.files.history(saved.file_id))[0].state == "pending"

    await shelf.ledger.flush()
    assert {str(shelf.root / "d/a"), str(shelf.root / "d"), str(shelf.root)} <= set(synced)
    assert (await shelf.files.history(saved.file_id))[0].state == "settled"


async def test_many_changes_are_synced_at_once(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    await asyncio.gather(*(shelf.files.save(shelf.at(f"{number}"), "x") for number in range(40)))

    def one_by_one(descriptor: int) -> None:
        pytest.fail(f"{descriptor} is synced alone")

    monkeypatch.setattr(os, "fsync", one_by_one)

    await shelf.ledger.flush()

    assert await shelf.rows("SELECT state, count(*) FROM versions GROUP BY state") == [("settled", 40)]


async def test_a_change_that_fails_after_its_record_is_taken_back_before_the_caller_hears(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")

    def broken(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as failing:
        failing.setattr(Staged, "put", broken)
        with pytest.raises(Broken):
            await shelf.files.save(shelf.at("a"), "2", overwrite=True)
        with pytest.raises(Broken):
            await shelf.files.save(shelf.at("new/deep/er"), "2")

    assert [(version.number, version.state) for version in await shelf.files.history(saved.file_id)] == [(2, "aborted"), (1, "pending")]
    assert (await shelf.files.item(shelf.at("a"))).synced
    assert [item.path for item in await shelf.files.items(shelf.at(""), recursive=True)] == ["a"]
    assert (shelf.text("a"), leftovers(shelf.root)) == ("1", [])
    await shelf.files.save(shelf.at("a"), "3", overwrite=True)
    assert await shelf.kinds(saved.file_id) == ["write", "write", "write"]


async def test_a_file_that_somebody_else_replaces_at_the_last_moment_is_looked_at_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1\n")
    plain, raced = Staged.put, iter([True])

    def race(self: Staged, name: str, *, instead_of: object) -> None:
        if next(raced, False):
            shelf.put("a", "theirs\n1\n")
        plain(self, name, instead_of=instead_of)  # pyright: ignore[reportArgumentType] - passed on as it is

    monkeypatch.setattr(Staged, "put", race)
    await shelf.files.replace_saved(shelf.at("a"), "1", "2")

    assert shelf.text("a") == "theirs\n2\n"
    history = await shelf.files.history(saved.file_id)
    assert [(version.kind, version.state) for version in reversed(history)] == [
        ("write", "pending"),
        ("edit", "aborted"),
        ("external", "settled"),
        ("edit", "pending"),
    ]


@carries("SERVE-9")
async def test_whoever_has_lost_the_workspace_changes_nothing(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), "1")
    await taken_over(shelf.database, shelf.records.workspace_id)

    for change in (
        shelf.files.save(shelf.at("a"), "2", overwrite=True),
        shelf.files.discard(shelf.at("a")),
        shelf.files.relocate(shelf.at("a"), shelf.at("b")),
        shelf.files.make_folder(shelf.at("folder")),
        shelf.files.touch_item(shelf.at("new")),
    ):
        with pytest.raises(LostLease):
            await change

    assert [path.name for path in shelf.root.iterdir()] == ["a"]
    assert shelf.text("a") == "1"


async def test_large_contents_lie_in_the_data_folder_once(shelf: Shelf) -> None:
    shelf.put("big", _BIG)

    await shelf.files.write(shelf.at("copy"), _BIG)
    await shelf.files.discard(shelf.at("big"))
    await shelf.files.write(shelf.at("copy"), b"small")

    [kept] = shelf.records.content_folder.iterdir()
    assert (kept.name, kept.read_bytes()) == (sha256(_BIG), _BIG)
    [deleted] = await shelf.files.deleted_items()
    await shelf.files.undelete(deleted.file_id or "")
    assert (shelf.root / "big").read_bytes() == _BIG


async def test_a_large_file_is_not_written_when_there_is_no_room_for_its_version(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = os.write

    def full(descriptor: int, data: bytes) -> int:
        if str(shelf.records.content_folder) in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return plain(descriptor, data)

    with monkeypatch.context() as failing:
        failing.setattr(os, "write", full)
        with pytest.raises(NoSpace):
            await shelf.files.write(shelf.at("big"), _BIG)

    assert (list(shelf.root.iterdir()), list(shelf.records.content_folder.iterdir())) == ([], [])
    await shelf.files.write(shelf.at("big"), _BIG)


async def test_of_contents_that_are_too_large_only_hash_and_size_are_known(shelf: Shelf) -> None:
    records = Records(shelf.database, shelf.records.lease, shelf.records.content_folder, max_kept_bytes=1_200_000)
    shelf.ledger.records = records
    files = Files(shelf.files.sight, shelf.files.changes, records, {"project": shelf.mount})

    await files.write(shelf.at("huge"), _BIG)
    await files.write(shelf.at("huge"), b"small")

    item = await files.item(shelf.at("huge"))
    newest, first = await files.history(item.file_id or "")
    assert (first.hash, first.size) == (sha256(_BIG), len(_BIG))
    with pytest.raises(NotKept):
        await files.restore(first.file_id, first.version_id)
    assert (await files.content_of(first.file_id, newest.version_id)).content == "small"
    assert not shelf.records.content_folder.exists()


@pytest.mark.parametrize(
    ("data", "kind"), [(b"", "text"), (b"text", "text"), (b"\xff\xfea\0", "text"), (b"a\0b", "binary"), (b'{"a":1}', "text")]
)
async def test_bytes_tell_by_themselves_what_they_are(shelf: Shelf, data: bytes, kind: str) -> None:
    await shelf.files.write(shelf.at("a"), data)

    item = await shelf.files.item(shelf.at("a"))
    assert (await shelf.files.history(item.file_id or ""))[0].content_kind == kind
    assert (await shelf.files.view(shelf.at("a"))).kind is ContentKind(kind)


async def test_logs_of_a_run_have_no_versions_and_runs_are_kept_apart(shelf: Shelf, tmp_path: Path) -> None:
    mounts: list[Mount] = []
    for run in ("first", "second"):
        (tmp_path / "state" / run).mkdir(parents=True)
        mounts.append(Mount("state", tmp_path / "state" / run))

    for mount in mounts:
        await shelf.files.write(resolve_now(mount, "logs/a.jsonl", written="a"), b"line\n")
        await shelf.files.write(resolve_now(mount, "workflow.md", written="a"), b"text\n")
    await shelf.ledger.flush()

    assert await shelf.rows("SELECT mount, path FROM files ORDER BY mount") == [
        ("state/first", "workflow.md"),
        ("state/second", "workflow.md"),
    ]
    assert await shelf.rows("SELECT count(*) FROM versions") == [(2,)]
    for mount in mounts:
        mount.close()


async def test_a_folder_that_became_a_file_behind_our_back_is_a_file(shelf: Shelf) -> None:
    folder = await shelf.files.make_folder(shelf.at("thing"))
    (shelf.root / "thing").rmdir()
    shelf.put("thing", "1")

    assert not (await shelf.files.item(shelf.at("thing"))).synced
    saved = await shelf.files.replace_saved(shelf.at("thing"), "1", "2")

    assert saved.file_id != folder.file_id
    assert await shelf.kinds(saved.file_id) == ["baseline", "edit"]
    assert await shelf.files.discard(shelf.at("thing")) == saved.file_id


async def test_closing_settles_what_is_left(shelf: Shelf) -> None:
    other = shelved(shelf.mount, shelf.database, shelf.records.lease, shelf.records.content_folder)
    saved = await other.files.save(shelf.at("a"), "1")

    await other.ledger.close()

    assert (await shelf.files.history(saved.file_id))[0].state == "settled"
