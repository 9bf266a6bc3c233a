"""Making folders, and touching files."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import Exists, IsDirectory, NotDirectory, NotFound, Outside, SpecialFile
from holdfast.workspace.change import Verb
from holdfast.workspace.changes import Changes
from holdfast.workspace.make import make_directory, touch
from holdfast.workspace.mount import Mount
from tests.promises import carries
from tests.workspace.writing import Recording, at, everything

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


async def test_a_folder_is_made_with_those_above_it(mount: Mount, root: Path) -> None:
    made = await make_directory(Changes(), at(mount, "a/b/c"))

    assert everything(root) == {"a": None, "a/b": None, "a/b/c": None}
    assert made.created


async def test_a_folder_that_is_there_stays_as_it_is(mount: Mount, root: Path) -> None:
    (root / "a").mkdir(mode=0o700)
    (root / "a/file").write_bytes(b"x")

    made = await make_directory(Changes(), at(mount, "a"))
    of_the_root = await make_directory(Changes(), at(mount, ""))

    assert (made.created, of_the_root.created) == (False, False)
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o700
    assert everything(root) == {"a": None, "a/file": b"x"}


async def test_a_missing_folder_above_is_told_when_it_is_not_to_be_made(mount: Mount, root: Path) -> None:
    with pytest.raises(NotFound):
        await make_directory(Changes(), at(mount, "a/b"), parents=False)

    assert everything(root) == {}


@carries("ENGINE-7")
async def test_a_file_in_the_place_or_on_the_way_stays(mount: Mount, root: Path) -> None:
    below = at(mount, "a/b/c")
    (root / "a").write_bytes(b"x")

    with pytest.raises(Exists):
        await make_directory(Changes(), at(mount, "a"))
    with pytest.raises(NotDirectory):
        await make_directory(Changes(), below)

    assert everything(root) == {"a": b"x"}


async def test_a_folder_is_not_made_through_a_link_that_appears_on_the_way(mount: Mount, root: Path, outside: Path) -> None:
    below = at(mount, "a/b/c")
    (root / "a").symlink_to(outside)

    with pytest.raises((NotDirectory, Outside)):
        await make_directory(Changes(), below)

    assert everything(outside) == {"secret.txt": b"outside\n"}


async def test_many_who_make_the_same_folders_at_once_all_succeed(mount: Mount, root: Path) -> None:
    changes = Changes()

    made = await asyncio.gather(*(make_directory(changes, at(mount, f"a/b/{number % 3}")) for number in range(30)))

    assert sorted(everything(root)) == ["a", "a/b", "a/b/0", "a/b/1", "a/b/2"]
    assert sum(one.created for one in made) == 3


async def test_a_ledger_knows_the_inode_before_the_folder_appears(mount: Mount, root: Path) -> None:
    ledger = Recording()

    await make_directory(Changes(ledger), at(mount, "a/b"))
    await make_directory(Changes(ledger), at(mount, "a/b"))

    (change,) = ledger.changes
    assert change.after is not None
    assert (change.verb, change.folders) == (Verb.MKDIR, ("a",))
    assert change.after.number == (root / "a/b").stat().st_ino


async def test_a_folder_that_the_ledger_refuses_is_not_made(mount: Mount, root: Path) -> None:
    with pytest.raises(Exception, match="closed"):
        await make_directory(Changes(Recording(refuse=True)), at(mount, "a/b"))

    assert everything(root) == {}


async def test_touching_nothing_makes_an_empty_file(mount: Mount, root: Path) -> None:
    with pytest.raises(NotFound):
        await touch(Changes(), at(mount, "a/file"))

    made = await touch(Changes(), at(mount, "a/file"), parents=True)

    assert everything(root) == {"a": None, "a/file": b""}
    assert made.created


async def test_touching_a_file_sets_its_time_and_nothing_else(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x")
    os.utime(root / "file", (1, 1))
    number = (root / "file").stat().st_ino

    made = await touch(Changes(), at(mount, "file"))

    about = (root / "file").stat()
    assert (made.created, about.st_ino, (root / "file").read_bytes()) == (False, number, b"x")
    assert about.st_mtime > 1


@carries("ENGINE-7")
async def test_a_folder_or_a_fifo_is_not_touched(mount: Mount, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")

    for path in ("folder", ""):
        with pytest.raises(IsDirectory):
            await touch(Changes(), at(mount, path))
    with pytest.raises(SpecialFile):
        await asyncio.wait_for(touch(Changes(), at(mount, "fifo")), 5)


@as_root
@carries("WRITE-4")
async def test_root_gives_new_folders_and_files_to_the_owner_of_the_one_above(mount: Mount, root: Path) -> None:
    os.chown(root, 1234, 2345)

    await make_directory(Changes(), at(mount, "a/b"))
    await touch(Changes(), at(mount, "a/file"))

    assert {((about := (root / path).stat()).st_uid, about.st_gid) for path in ("a", "a/b", "a/file")} == {(1234, 2345)}
