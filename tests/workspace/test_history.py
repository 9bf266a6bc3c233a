"""What a person does with the memory of files."""

import pytest

from holdfast.vocabulary.errors import Conflict, Exists, InvalidArguments, NotFound
from holdfast.workspace.item import ContentKind
from tests.promises import carries
from tests.workspace.shelf import Shelf


@carries("PERSON-1")
async def test_every_version_can_be_looked_at(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), {"a": 1})
    await shelf.files.save(shelf.at("a"), "two\n", overwrite=True)
    await shelf.files.write(shelf.at("a"), b"\0three")

    history = await shelf.files.history(saved.file_id)
    views = [await shelf.files.content_of(saved.file_id, version.version_id) for version in reversed(history)]

    assert [(view.kind, view.content) for view in views] == [
        (ContentKind.JSON, {"a": 1}),
        (ContentKind.TEXT, "two\n"),
        (ContentKind.BINARY, "AHRocmVl"),
    ]
    assert (await shelf.files.content_of(saved.file_id, None)).content == "AHRocmVl"


@carries("PERSON-2")
async def test_two_versions_are_compared_line_by_line(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1\n2\n3\n")
    edited = await shelf.files.replace_saved(shelf.at("a"), "2", "two")
    cut = await shelf.files.replace_saved(shelf.at("a"), "3\n", "3")
    first, second, third = saved.version_id or "", edited.version_id or "", cut.version_id or ""

    assert await shelf.files.difference(saved.file_id, first, second) == "--- a@1\n+++ a@2\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
    assert "\n\\ No newline at end of file\n" in await shelf.files.difference(saved.file_id, second, third)
    assert await shelf.files.difference(saved.file_id, first, first) == ""


@carries("PERSON-3")
async def test_an_old_version_becomes_the_newest_again_with_its_kind(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), {"a": 1})
    await shelf.files.save(shelf.at("a"), "two", overwrite=True)
    await shelf.files.relocate(shelf.at("a"), shelf.at("b"))

    restored = await shelf.files.restore(saved.file_id, saved.version_id or "")

    assert (restored.path, restored.hash) == ("b", saved.hash)
    assert (await shelf.files.view(shelf.at("b"))).content == {"a": 1}
    assert await shelf.kinds(saved.file_id) == ["write", "write", "move", "restore"]


async def test_what_was_changed_behind_our_back_is_not_lost_by_a_restore(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    shelf.put("a", "theirs")

    await shelf.files.restore(saved.file_id, saved.version_id or "")

    assert shelf.text("a") == "1"
    assert await shelf.kinds(saved.file_id) == ["write", "external", "restore"]


@carries("PERSON-4")
async def test_a_removed_folder_comes_back_empty_and_a_removed_file_with_its_folders(shelf: Shelf) -> None:
    folder = await shelf.files.make_folder(shelf.at("d"))
    saved = await shelf.files.save(shelf.at("d/e/a"), "1")
    await shelf.files.discard(shelf.at("d/e/a"))
    await shelf.files.discard(shelf.at("d/e"))
    await shelf.files.discard(shelf.at("d"))

    await shelf.files.undelete(saved.file_id)

    assert shelf.text("d/e/a") == "1"
    with pytest.raises(Exists):
        await shelf.files.undelete(folder.file_id or "")
    item = await shelf.files.item_by_id(saved.file_id)
    assert (item.path, item.synced, item.size) == ("d/e/a", True, 1)


@carries("PERSON-5")
async def test_what_is_not_there_or_not_deleted_is_told(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    other = await shelf.files.save(shelf.at("b"), "2")
    folder = await shelf.files.make_folder(shelf.at("d"))
    made = (await shelf.files.history(folder.file_id or ""))[0]

    for looking in (
        shelf.files.history("nothing"),
        shelf.files.item_by_id("nothing"),
        shelf.files.content_of(saved.file_id, "nothing"),
        shelf.files.content_of(saved.file_id, other.version_id),
        shelf.files.difference(saved.file_id, saved.version_id or "", other.version_id or ""),
        shelf.files.restore(saved.file_id, other.version_id or ""),
        shelf.files.undelete("nothing"),
    ):
        with pytest.raises(NotFound):
            await looking
    with pytest.raises(Conflict):
        await shelf.files.undelete(saved.file_id)
    with pytest.raises(InvalidArguments):
        await shelf.files.restore(folder.file_id or "", made.version_id)
    await shelf.files.discard(shelf.at("a"))
    with pytest.raises(NotFound):
        await shelf.files.restore(saved.file_id, saved.version_id or "")
    assert (await shelf.files.item_by_id(saved.file_id)).synced is False


async def test_a_file_that_was_put_where_a_removed_one_was_is_not_overwritten(shelf: Shelf) -> None:
    saved = await shelf.files.save(shelf.at("a"), "1")
    await shelf.files.discard(shelf.at("a"))
    shelf.put("a", "theirs")

    with pytest.raises(Exists):
        await shelf.files.undelete(saved.file_id)

    assert shelf.text("a") == "theirs"
