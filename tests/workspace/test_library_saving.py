"""Disk and store as one library: what is saved, edited and merged."""

import shutil

import pytest

from holdfast.vocabulary.errors import (
    Exists,
    InvalidArguments,
    MergeConflict,
    NoMatch,
    StaleHash,
)
from tests.promises import carries
from tests.workspace.shelf import Shelf
from tests.workspace.writing import sha256


async def test_a_file_that_is_there_is_only_overwritten_when_that_is_said(shelf: Shelf) -> None:
    first = await shelf.files.save(shelf.at("known.md"), "1")
    await shelf.files.save(shelf.at("gone.md"), "1")
    (shelf.root / "gone.md").unlink()
    shelf.put("unknown.md", "1")

    for path in ("known.md", "gone.md", "unknown.md"):
        with pytest.raises(Exists):
            await shelf.files.save(shelf.at(path), "2")
    second = await shelf.files.save(shelf.at("known.md"), "2", overwrite=True, file_type="canvas")
    assert second.file_id == first.file_id
    assert (await shelf.files.item(shelf.at("known.md"))).file_type == "canvas"
    third = await shelf.files.save(shelf.at("unknown.md"), "2", overwrite=True)
    assert await shelf.kinds(third.file_id) == ["baseline", "write"]


@pytest.mark.parametrize("content", ["\ud800", {"a": float("nan")}, {"a": "\udfff"}])
async def test_what_cannot_be_written_is_a_mistake_of_the_caller(shelf: Shelf, content: object) -> None:
    with pytest.raises(InvalidArguments):
        await shelf.files.save(shelf.at("a"), content)  # pyright: ignore[reportArgumentType] - on purpose
    assert list(shelf.root.iterdir()) == []


@carries("WS-SYNC-4")
async def test_an_edit_of_an_unknown_file_keeps_what_it_was(shelf: Shelf) -> None:
    shelf.put("a.txt", "one\n")

    saved = await shelf.files.replace_saved(shelf.at("a.txt"), "one", "two")

    assert shelf.text("a.txt") == "two\n"
    history = await shelf.files.history(saved.file_id)
    assert [(version.kind, version.number) for version in history] == [("edit", 2), ("baseline", 1)]
    assert (await shelf.files.content_of(saved.file_id, history[1].version_id)).content == "one\n"
    assert (await shelf.files.item(shelf.at("a.txt"))).synced


async def test_an_edit_of_what_only_the_store_has_brings_it_back(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("d/a.txt"), "one\n")
    shutil.rmtree(shelf.root / "d")

    await shelf.files.insert_saved(shelf.at("d/a.txt"), 1, "two")

    assert shelf.text("d/a.txt") == "one\ntwo\n"
    assert await shelf.kinds(saved.file_id) == ["write", "restore", "edit"]


async def test_an_edited_json_value_stays_one_as_long_as_it_is_one(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a"), {"a": 1})

    await shelf.files.replace_saved(shelf.at("a"), "1", "2")
    assert (await shelf.files.view(shelf.at("a"))).content == {"a": 2}

    await shelf.files.replace_saved(shelf.at("a"), "}", "")
    assert (await shelf.files.view(shelf.at("a"))).content == '{"a":2'


@carries("WS-EDIT-6")
async def test_a_stale_edit_is_merged_when_that_is_asked_for_and_clean(shelf: Shelf) -> None:
    read = await shelf.files.save(shelf.at("a"), "1\n2\n3\n4\n5\n")
    await shelf.files.replace_saved(shelf.at("a"), "2\n", "two\nand more\n")

    with pytest.raises(StaleHash):
        await shelf.files.replace_saved(shelf.at("a"), "5", "five", only_if=read.hash)
    saved = await shelf.files.replace_saved(shelf.at("a"), "5", "five", only_if=read.hash, merge=True)

    assert shelf.text("a") == "1\ntwo\nand more\n3\n4\nfive\n"
    assert saved.merged == (2, 3)
    assert saved.hash == sha256(shelf.text("a").encode())


async def test_a_stale_edit_is_merged_with_what_was_written_behind_our_back(shelf: Shelf) -> None:
    read = await shelf.files.save(shelf.at("a"), "1\n2\n3\n4\n5\n")
    shelf.put("a", "1\ntwo\n3\n4\n5\n")

    saved = await shelf.files.insert_saved(shelf.at("a"), 5, "6", only_if=read.hash, merge=True)

    assert shelf.text("a") == "1\ntwo\n3\n4\n5\n6\n"
    assert await shelf.kinds(saved.file_id) == ["write", "external", "edit"]


@carries("WS-EDIT-7")
async def test_a_merge_that_is_not_clean_changes_nothing_and_shows_both_sides(shelf: Shelf) -> None:
    read = await shelf.files.save(shelf.at("a"), "1\n2\n3\n")
    await shelf.files.replace_saved(shelf.at("a"), "2", "two")

    with pytest.raises(MergeConflict) as caught:
        await shelf.files.replace_saved(shelf.at("a"), "2", "zwei", only_if=read.hash, merge=True)

    assert shelf.text("a") == "1\ntwo\n3\n"
    assert caught.value.facts["conflicts"] == [{"line": 2, "yours": "zwei\n", "theirs": "two\n", "read": "2\n"}]
    assert len(await shelf.files.history(read.file_id)) == 2


async def test_a_hash_that_the_file_never_had_cannot_be_merged_with(shelf: Shelf) -> None:
    other = await shelf.files.save(shelf.at("other"), "secret\n2\n")
    await shelf.files.save(shelf.at("a"), "1\n")

    with pytest.raises(StaleHash):
        await shelf.files.replace_saved(shelf.at("a"), "secret", "x", only_if=other.hash, merge=True)


@carries("WS-VERSION-2")
async def test_a_failed_edit_makes_no_version(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1\n")

    with pytest.raises(NoMatch):
        await shelf.files.replace_saved(shelf.at("a"), "2", "x")

    assert len(await shelf.files.history(saved.file_id)) == 1
