"""Disk and store as one library: removed, brought back, moved, touched and made together."""

import os
import shutil

import pytest

from holdfast.vocabulary.errors import (
    Exists,
    InvalidArguments,
    NotEmpty,
    NotFound,
)
from tests.promises import carries
from tests.workspace.shelf import Shelf
from tests.workspace.writing import sha256


@carries("WS-RM-2")
async def test_a_removed_file_can_be_brought_back_also_one_that_was_unknown(shelf: Shelf) -> None:
    known = await shelf.files.save(shelf.at("known"), "1")
    shelf.put("unknown", "2")

    assert await shelf.files.discard(shelf.at("known")) == known.file_id
    assert await shelf.files.discard(shelf.at("unknown")) is None
    assert list(shelf.root.iterdir()) == []
    deleted = {item.path: item for item in await shelf.files.deleted_items()}
    assert set(deleted) == {"known", "unknown"}
    for item in deleted.values():
        await shelf.files.undelete(item.file_id or "")

    assert (shelf.text("known"), shelf.text("unknown")) == ("1", "2")
    assert (await shelf.files.item(shelf.at("known"))).file_id == known.file_id


@carries("WS-RM-5")
async def test_a_path_that_is_used_again_is_a_new_file(shelf: Shelf) -> None:
    first = await shelf.files.save(shelf.at("a"), "1")
    await shelf.files.discard(shelf.at("a"))

    second = await shelf.files.save(shelf.at("a"), "2")

    assert second.file_id != first.file_id
    with pytest.raises(Exists):
        await shelf.files.undelete(first.file_id)
    assert shelf.text("a") == "2"


async def test_what_only_the_store_has_is_removed_from_it(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    (shelf.root / "a").unlink()

    assert await shelf.files.discard(shelf.at("a")) == saved.file_id
    with pytest.raises(NotFound):
        await shelf.files.item(shelf.at("a"))
    with pytest.raises(NotFound):
        await shelf.files.discard(shelf.at("a"))
    await shelf.files.undelete(saved.file_id)
    assert shelf.text("a") == "1"


@carries("WS-RM-3")
async def test_a_folder_with_anything_in_it_is_not_removed(shelf: Shelf) -> None:
    await shelf.files.make_folder(shelf.at("empty"))
    await shelf.files.save(shelf.at("full/a"), "1")
    await shelf.files.save(shelf.at("store/a"), "1")
    (shelf.root / "store/a").unlink()

    for path in ("full", "store"):
        with pytest.raises(NotEmpty):
            await shelf.files.discard(shelf.at(path))
    with pytest.raises(InvalidArguments):
        await shelf.files.discard(shelf.at(""))
    assert await shelf.files.discard(shelf.at("empty")) is not None
    assert not (shelf.root / "empty").exists()


async def test_a_link_is_removed_and_brought_back_itself(shelf: Shelf) -> None:
    shelf.put("a", "1")
    os.symlink("a", shelf.root / "link")

    assert await shelf.files.discard(shelf.at("link", follow=False)) is None
    assert shelf.text("a") == "1"
    [item] = await shelf.files.deleted_items()
    await shelf.files.undelete(item.file_id or "")

    assert os.readlink(shelf.root / "link") == "a"


async def test_a_file_keeps_its_history_when_it_moves(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a.txt"), "1")
    await shelf.files.make_folder(shelf.at("folder"))

    moved = await shelf.files.relocate(shelf.at("a.txt"), shelf.at("folder"))

    assert (moved.path, moved.file_id) == ("folder/a.txt", saved.file_id)
    assert await shelf.kinds(saved.file_id) == ["write", "move"]
    assert shelf.text("folder/a.txt") == "1"
    renamed = await shelf.files.relocate(shelf.at("folder/a.txt"), shelf.at("folder/b.txt"))
    assert (await shelf.files.item(shelf.at("folder/b.txt"))).file_id == renamed.file_id == saved.file_id


@carries("WS-MV-5")
async def test_a_folder_moves_with_all_that_is_in_it(shelf: Shelf) -> None:
    inside = await shelf.files.save(shelf.at("old/deep/a.txt"), "1")
    shelf.put("old/unknown.txt", "2")

    await shelf.files.relocate(shelf.at("old"), shelf.at("new"))

    assert (await shelf.files.item(shelf.at("new/deep/a.txt"))).file_id == inside.file_id
    assert [(item.path, item.synced) for item in await shelf.files.items(shelf.at(""), recursive=True)] == [
        ("new", True),
        ("new/deep", True),
        ("new/deep/a.txt", True),
        ("new/unknown.txt", False),
    ]


@carries("WS-SYNC-4")
async def test_an_unknown_file_is_known_after_it_has_moved(shelf: Shelf) -> None:
    shelf.put("a.txt", "1")

    moved = await shelf.files.relocate(shelf.at("a.txt"), shelf.at("b.txt"))

    assert await shelf.kinds(moved.file_id) == ["baseline", "move"]
    assert moved.hash == sha256(b"1")


async def test_what_only_the_store_has_is_moved_too(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("d/a"), "1")
    shutil.rmtree(shelf.root / "d")

    await shelf.files.relocate(shelf.at("d/a"), shelf.at("b"))

    assert shelf.text("b") == "1"
    assert (await shelf.files.item(shelf.at("b"))).file_id == saved.file_id


async def test_moves_that_cannot_be_are_refused(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), "1")
    await shelf.files.save(shelf.at("b"), "2")
    await shelf.files.save(shelf.at("gone"), "3")
    (shelf.root / "gone").unlink()
    await shelf.files.save(shelf.at("d/a"), "4")

    for source, target, error in [
        ("a", "b", Exists),
        ("a", "gone", Exists),
        ("a", "d", Exists),
        ("a", "a", Exists),
        ("nothing", "c", NotFound),
        ("a", "missing/c", NotFound),
        ("d", "d/e", InvalidArguments),
        ("d", "d", InvalidArguments),
        ("", "c", InvalidArguments),
    ]:
        with pytest.raises(error):
            await shelf.files.relocate(shelf.at(source), shelf.at(target))
    assert (shelf.text("a"), shelf.text("b"), shelf.text("d/a")) == ("1", "2", "4")


@carries("WS-SYNC-5", "WS-TOUCH-2")
async def test_touching_makes_files_known_and_no_versions(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    before = await shelf.files.item(shelf.at("a"))
    shelf.put("unknown", "2")
    os.utime(shelf.root / "unknown", (1, 1))

    touched = await shelf.files.touch_item(shelf.at("a"))
    known = await shelf.files.touch_item(shelf.at("unknown"))
    new = await shelf.files.touch_item(shelf.at("deep/new"))

    assert touched.updated_at > before.updated_at
    assert len(await shelf.files.history(saved.file_id)) == 1
    assert (known.synced, (shelf.root / "unknown").stat().st_mtime > 1) == (True, True)
    assert await shelf.kinds(known.file_id or "") == ["baseline"]
    assert (new.synced, new.file_type, new.size) == (True, "document", 0)
    assert (await shelf.files.view(shelf.at("deep/new"))).content == ""


@carries("WS-SYNC-5")
async def test_making_a_folder_makes_it_known_and_does_so_twice(shelf: Shelf) -> None:
    (shelf.root / "unknown").mkdir()
    shelf.put("file", "1")

    first = await shelf.files.make_folder(shelf.at("a/b/c"))
    again = await shelf.files.make_folder(shelf.at("a/b/c"))
    known = await shelf.files.make_folder(shelf.at("unknown"))

    assert first.file_id == again.file_id is not None
    assert (known.synced, known.file_type) == (True, "folder")
    with pytest.raises(Exists):
        await shelf.files.make_folder(shelf.at("file"))
    assert (await shelf.files.item(shelf.at("a/b"))).synced
