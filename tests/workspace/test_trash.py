"""What goes to the trash comes back as it was, also from another disk, and hostile trees hold nothing up."""

import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.workspace.trash import Trash, remove
from tests.workspace.keeping import Workbench, everything
from tests.workspace.shelf import Shelf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "tree/deep").mkdir(parents=True)
    (folder / "tree/deep/file").write_text("file\n")
    (folder / "tree/deep/file").chmod(0o751)
    (folder / "tree/link").symlink_to("/etc")
    (folder / "tree/deep").chmod(0o550)
    return folder


@pytest.fixture(params=["same disk", "another disk"])
def trash(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Trash]:
    if request.param == "same disk":
        yield Trash(tmp_path / "trash")
        return
    elsewhere = Path(tempfile.mkdtemp(dir="/dev/shm"))
    if elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is only one disk")
    yield Trash(elsewhere / "trash")
    shutil.rmtree(elsewhere)


def test_a_tree_comes_back_as_it_was(folder: Path, trash: Trash) -> None:
    before = everything(folder)
    opened = os.open(folder, os.O_RDONLY)

    trash.take(opened, "tree", "layer/1", leave=False)
    between = everything(folder)
    trash.give("layer/1", opened, "tree")

    os.close(opened)
    assert between == {}
    assert everything(folder) == before
    assert not trash.has("layer/1")


def test_a_file_that_is_about_to_be_replaced_stays_until_then(folder: Path, trash: Trash) -> None:
    opened = os.open(folder / "tree/deep", os.O_RDONLY)

    trash.take(opened, "file", "layer/1", leave=True)

    os.close(opened)
    assert (folder / "tree/deep/file").read_text() == "file\n"
    assert (trash.folder / "layer/1").read_text() == "file\n"
    assert (trash.folder / "layer/1").stat().st_mode & 0o777 == 0o751


async def test_a_command_is_taken_back_with_the_trash_on_another_disk(shelf: Shelf, trash: Trash, tmp_path: Path) -> None:
    bench = Workbench(shelf, tmp_path / "home")
    shelf.put(".gitignore", "out\nbuild\n")
    shelf.put("out/deep/x", "x\n")
    shelf.put("build/a", "a\n")
    shelf.put("build/b", "b\n")
    before = everything(shelf.root)
    await bench.do("rm -r out; rm build/a; echo new >build/b", trash=trash)
    after = everything(shelf.root)

    await replace(bench.by("c2"), trash=trash).undo("c1")
    between = everything(shelf.root)
    await replace(bench.by("c3"), trash=trash).undo("c2")

    assert between == before
    assert everything(shelf.root) == after


def test_the_oldest_goes_when_there_is_too_much(tmp_path: Path) -> None:
    trash = Trash(tmp_path / "trash", max_bytes=100)
    for number in range(4):
        file = tmp_path / "file"
        file.write_text("x" * 40)
        opened = os.open(tmp_path, os.O_RDONLY)
        trash.take(opened, "file", f"layer{number}/1", leave=False)
        os.close(opened)
        trash.note(f"layer{number}", 40)
        os.utime(trash.folder / f"layer{number}", ns=(number, number))

    removed = trash.limit()

    assert removed == ["layer0", "layer1"]
    assert sorted(path.name for path in trash.folder.iterdir()) == ["layer2", "layer3"]


def test_a_tree_that_is_deeper_than_any_path_can_be_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("deep", dir_fd=here)
    current = os.open("deep", os.O_RDONLY, dir_fd=here)
    for _ in range(300):
        os.mkdir("n" * 100, dir_fd=current)
        os.mkdir(".1", dir_fd=current)
        below = os.open("n" * 100, os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = below
    os.close(current)

    remove(here, "deep")

    os.close(here)
    assert list(tmp_path.iterdir()) == []
