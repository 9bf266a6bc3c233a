"""Moving files, links and folders."""

import asyncio
import os
from pathlib import Path

import pytest

from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import Exists, InvalidArguments, NotFound, ReadOnly, SpecialFile
from holdfast.workspace.change import Change, Ticket, Verb
from holdfast.workspace.changes import Changes
from holdfast.workspace.entry import Kind
from holdfast.workspace.mount import Mount
from holdfast.workspace.move import move
from holdfast.workspace.write import write
from tests.promises import carries
from tests.workspace.writing import Recording, at, everything


async def test_a_file_is_moved_with_its_inode(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"x")
    (root / "folder").mkdir()
    number = (root / "a").stat().st_ino

    moved = await move(Changes(), at(mount, "a"), at(mount, "folder/b"))

    assert everything(root) == {"folder": None, "folder/b": b"x"}
    assert (root / "folder/b").stat().st_ino == number
    assert (moved.kind, moved.size) == (Kind.FILE, 1)


async def test_a_folder_is_moved_with_all_that_is_in_it(mount: Mount, root: Path) -> None:
    (root / "a/deep").mkdir(parents=True)
    (root / "a/deep/file").write_bytes(b"x")

    moved = await move(Changes(), at(mount, "a"), at(mount, "b"))

    assert everything(root) == {"b": None, "b/deep": None, "b/deep/file": b"x"}
    assert moved.kind is Kind.DIRECTORY


async def test_a_link_is_moved_itself(mount: Mount, root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside / "secret.txt")

    await move(Changes(), at(mount, "link", follow=False), at(mount, "moved"))

    assert os.readlink(root / "moved") == str(outside / "secret.txt")
    assert everything(outside) == {"secret.txt": b"outside\n"}


@carries("ENGINE-7")
@pytest.mark.parametrize("taken", ["file", "folder", "link"])
async def test_nothing_is_moved_onto_something(mount: Mount, root: Path, taken: str) -> None:
    (root / "a").write_bytes(b"mine")
    (root / "file").write_bytes(b"theirs")
    (root / "folder").mkdir()
    (root / "link").symlink_to("nowhere")
    before = everything(root)

    with pytest.raises(Exists):
        await move(Changes(), at(mount, "a"), at(mount, taken, follow=False))
    with pytest.raises(Exists):
        await move(Changes(), at(mount, "a"), at(mount, "a"))

    assert everything(root) == before


@carries("ENGINE-7")
async def test_what_appears_at_the_target_in_the_last_moment_is_not_overwritten(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"mine")
    ledger = Recording(root / "b", b"theirs")

    with pytest.raises(Exists):
        await move(Changes(ledger), at(mount, "a"), at(mount, "b"))

    assert everything(root) == {"a": b"mine", "b": b"theirs"}
    assert ledger.heard == ["pending", "aborted Exists"]


async def test_a_source_that_is_replaced_in_the_last_moment_is_recorded_as_what_it_is(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"old")

    class Replacing(Recording):
        async def pending(self, change: Change) -> Ticket:
            ticket = await super().pending(change)
            if len(self.changes) == 1:
                (root / "new").write_bytes(b"new")
                (root / "new").rename(root / "a")
            return ticket

    ledger = Replacing()
    await move(Changes(ledger), at(mount, "a"), at(mount, "b"))

    assert everything(root) == {"b": b"new"}
    assert ledger.heard == ["pending", "aborted Again", "pending", "applied"]
    assert ledger.contents[-1] == (b"new", b"new")


@carries("ENGINE-7")
async def test_a_missing_source_or_folder_is_told(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"x")

    with pytest.raises(NotFound) as source:
        await move(Changes(), at(mount, "missing"), at(mount, "b"))
    with pytest.raises(NotFound) as target:
        await move(Changes(), at(mount, "a"), at(mount, "missing/b"))

    assert everything(root) == {"a": b"x"}
    assert (source.value.facts["path"], target.value.facts["path"]) == ("missing", "missing/b")

    await move(Changes(), at(mount, "a"), at(mount, "missing/b"), parents=True)
    assert everything(root) == {"missing": None, "missing/b": b"x"}


async def test_folders_made_for_a_move_that_fails_are_gone_again(mount: Mount, root: Path) -> None:
    with pytest.raises(NotFound):
        await move(Changes(), at(mount, "missing"), at(mount, "a/b/c"), parents=True)

    assert everything(root) == {}


@carries("ENGINE-7")
async def test_a_folder_cannot_go_into_itself_and_a_root_cannot_go_at_all(mount: Mount, root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    overlapping = Mount("part", root / "a")

    with pytest.raises(InvalidArguments):
        await move(Changes(), at(mount, "a"), at(mount, "a/b/c"))
    with pytest.raises(InvalidArguments):
        await move(Changes(), at(mount, "a"), at(overlapping, "b/c"))
    with pytest.raises(InvalidArguments):
        await move(Changes(), at(mount, ""), at(mount, "a/c"))
    with pytest.raises(InvalidArguments):
        await move(Changes(), at(mount, "a"), at(overlapping, ""))

    overlapping.close()
    assert everything(root) == {"a": None, "a/b": None}


async def test_a_fifo_stays_where_it_is(mount: Mount, root: Path) -> None:
    os.mkfifo(root / "fifo")

    with pytest.raises(SpecialFile):
        await move(Changes(), at(mount, "fifo"), at(mount, "b"))

    assert (root / "fifo").exists()


async def test_nothing_leaves_or_enters_a_mount_that_may_only_be_read(mount: Mount, root: Path, outside: Path) -> None:
    (root / "a").write_bytes(b"x")
    package = Mount("pkg", outside, MountMode.READ_ONLY)

    with pytest.raises(ReadOnly):
        await move(Changes(), at(mount, "a"), at(package, "a"))
    with pytest.raises(ReadOnly):
        await move(Changes(), at(package, "secret.txt"), at(mount, "b"))

    package.close()
    assert (everything(root), everything(outside)) == ({"a": b"x"}, {"secret.txt": b"outside\n"})


async def test_a_ledger_learns_which_inode_goes_where(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"x")
    ledger = Recording()

    await move(Changes(ledger), at(mount, "a"), at(mount, "folder/b"), parents=True)

    (change,) = ledger.changes
    assert change.before is not None
    assert change.target is not None
    assert (change.verb, change.place.path, change.target.path, change.folders) == (Verb.MOVE, "a", "folder/b", ("folder",))
    assert change.before.number == (root / "folder/b").stat().st_ino


async def test_a_folder_is_moved_between_the_writes_in_it_and_none_of_them_is_lost(mount: Mount, root: Path) -> None:
    (root / "a").mkdir()
    changes = Changes()
    files = [at(mount, f"a/{number}") for number in range(20)]

    await asyncio.gather(*(write(changes, file, b"x") for file in files), move(changes, at(mount, "a"), at(mount, "b")))

    assert sorted(everything(root)) == sorted(["b", *(f"b/{number}" for number in range(20))])


async def test_files_that_change_places_by_way_of_a_third_are_both_still_there(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"a")
    (root / "b").write_bytes(b"b")
    changes = Changes()

    for source, target in (("a", "c"), ("b", "a"), ("c", "b")):
        await move(changes, at(mount, source), at(mount, target))

    assert everything(root) == {"a": b"b", "b": b"a"}
