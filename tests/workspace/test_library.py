"""Disk and store as one library: listed, read, saved, moved and removed together."""

import base64
import os
import shutil

import pytest

from holdfast.vocabulary.errors import (
    Exists,
    InvalidArguments,
    IsDirectory,
    MergeConflict,
    NoMatch,
    NotDirectory,
    NotEmpty,
    NotFound,
    StaleHash,
    Virtual,
)
from holdfast.workspace.entry import Kind
from holdfast.workspace.find import Criteria
from holdfast.workspace.item import ContentKind
from holdfast.workspace.lines import Lines
from holdfast.workspace.match import Query
from tests.promises import carries
from tests.workspace.shelf import Shelf
from tests.workspace.writing import sha256


@carries("WS-SYNC-1", "WS-SYNC-2")
async def test_a_listing_has_what_the_disk_has_and_what_the_store_has(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("docs/known.md"), "known\n")
    shelf.put("docs/unknown.md", "unknown\n")
    await shelf.files.save(shelf.at("docs/gone.md"), "gone\n")
    (shelf.root / "docs/gone.md").unlink()
    shelf.put("docs/sub/deep.txt", "deep\n")

    items = await shelf.files.items(shelf.at("docs"), recursive=False)

    assert [(item.path, item.file_type, item.synced, item.size) for item in items] == [
        ("docs/sub", "folder", False, None),
        ("docs/gone.md", "document", True, 5),
        ("docs/known.md", "document", True, 6),
        ("docs/unknown.md", "document", False, 8),
    ]
    assert [item.path for item in await shelf.files.items(shelf.at(""), recursive=True)] == [
        "docs",
        "docs/sub",
        "docs/gone.md",
        "docs/known.md",
        "docs/sub/deep.txt",
        "docs/unknown.md",
    ]


async def test_a_listing_of_a_file_or_of_nothing_is_refused(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a.md"), "x")
    await shelf.files.save(shelf.at("gone.md"), "x")
    (shelf.root / "gone.md").unlink()

    for path in ("a.md", "gone.md"):
        with pytest.raises(NotDirectory):
            await shelf.files.items(shelf.at(path), recursive=False)
    with pytest.raises(NotFound):
        await shelf.files.items(shelf.at("nothing"), recursive=False)


@carries("WS-SYNC-2")
async def test_finding_and_globbing_look_at_both(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a/plan.plan"), "p", file_type="plan")
    await shelf.files.save(shelf.at("a/gone.txt"), "12345")
    (shelf.root / "a/gone.txt").unlink()
    await shelf.files.save(shelf.at("a/grown.txt"), "12345")
    shelf.put("a/grown.txt", "123456789")
    shelf.put("b/new.txt", "12345")
    await shelf.add_virtual("chats/one.chat", "hello")
    top = shelf.at("")

    async def found(criteria: Criteria, file_type: str | None = None) -> list[str]:
        return [item.path for item in await shelf.files.find_items(top, criteria, file_type=file_type)]

    assert await found(Criteria(name="*.txt")) == ["a/gone.txt", "a/grown.txt", "b/new.txt"]
    assert await found(Criteria(min_bytes=5, max_bytes=5)) == ["a/gone.txt", "b/new.txt", "chats/one.chat"]
    assert await found(Criteria(), "plan") == ["a/plan.plan"]
    assert await found(Criteria(kinds=frozenset({Kind.DIRECTORY}))) == ["a", "b", "chats"]
    assert await found(Criteria(recursive=False)) == ["a", "b", "chats"]
    globbed = await shelf.files.glob_items(top, ["**/*.txt", "chats/*"])
    assert [(item.path, item.synced) for item in globbed] == [
        ("a/gone.txt", True),
        ("a/grown.txt", True),
        ("b/new.txt", False),
        ("chats/one.chat", True),
    ]
    assert [item.path for item in await shelf.files.glob_items(shelf.at("a"), ["*.txt"])] == ["a/gone.txt", "a/grown.txt"]


@carries("WS-READ-8", "WS-READ-9", "WS-VERSION-3")
async def test_what_was_written_is_read_as_it_was_written(shelf: Shelf) -> None:
    value = {"b": [1, 2.5, None, True], "a": "ä\n"}
    saved = await shelf.files.save(shelf.at("data.json"), value)
    await shelf.files.save(shelf.at("text.json"), '{"a": 1}\n')
    shelf.put("disk.json", '{"a": 1}\n')
    shelf.put("blob.bin", b"\0\1\2")

    view = await shelf.files.view(shelf.at("data.json"))

    assert (view.kind, view.content, view.total_lines, view.truncated) == (ContentKind.JSON, value, None, None)
    assert (shelf.root / "data.json").read_bytes() == '{"b":[1,2.5,null,true],"a":"ä\\n"}'.encode()
    assert view.hash == saved.hash == sha256((shelf.root / "data.json").read_bytes())
    for name in ("text.json", "disk.json"):
        view = await shelf.files.view(shelf.at(name))
        assert (view.kind, view.content, view.total_lines) == (ContentKind.TEXT, '{"a": 1}\n', 1)
    view = await shelf.files.view(shelf.at("blob.bin"))
    assert (view.kind, view.content) == (ContentKind.BINARY, base64.b64encode(b"\0\1\2").decode())


@carries("WS-SYNC-3")
async def test_lines_are_counted_and_cut_alike_on_disk_and_in_the_store(shelf: Shelf) -> None:
    text = "".join(f"line {number}\n" for number in range(10)) + "end"
    await shelf.files.save(shelf.at("disk.txt"), text)
    await shelf.files.save(shelf.at("store.txt"), text)
    (shelf.root / "store.txt").unlink()

    for wanted in (Lines(), Lines(2, 3), Lines(-3), Lines(-5, 2), Lines(9), Lines(100), Lines(0, 0), Lines(10, 1)):
        views = [await shelf.files.view(shelf.at(name), wanted, max_bytes=50) for name in ("disk.txt", "store.txt")]
        first, second = ((v.content, v.total_lines, v.first, v.lines, v.truncated, v.hash, v.size, v.item.synced) for v in views)
        assert first == second, wanted


@carries("WS-SYNC-6")
async def test_the_disk_is_right_about_what_a_file_is_now(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a.json"), {"a": 1})
    shelf.put("a.json", '{"a": 2}')

    view = await shelf.files.view(shelf.at("a.json"))

    assert (view.kind, view.content, view.item.synced) == (ContentKind.TEXT, '{"a": 2}', True)
    shelf.put("a.json", '{"a":1}')
    assert (await shelf.files.view(shelf.at("a.json"))).content == {"a": 1}


async def test_a_folder_is_not_read_and_not_written(shelf: Shelf) -> None:
    await shelf.files.make_folder(shelf.at("folder"))
    await shelf.files.make_folder(shelf.at("gone"))
    (shelf.root / "gone").rmdir()

    for path in ("folder", "gone"):
        with pytest.raises(IsDirectory):
            await shelf.files.view(shelf.at(path))
        with pytest.raises(IsDirectory):
            await shelf.files.save(shelf.at(path), "x", overwrite=True)
        with pytest.raises(IsDirectory):
            await shelf.files.touch_item(shelf.at(path))
    assert (await shelf.files.item(shelf.at("gone"))).synced


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


@carries("WS-WRITE-7")
async def test_a_virtual_file_is_seen_and_never_changed(shelf: Shelf) -> None:
    await shelf.add_virtual("chats/one.chat", "hello\nworld\n")
    place = shelf.at("chats/one.chat")

    assert (await shelf.files.view(place)).content == "hello\nworld\n"
    [item] = await shelf.files.items(shelf.at("chats"), recursive=False)
    assert (item.path, item.is_virtual, item.synced, item.file_type) == ("chats/one.chat", True, True, "chat")
    for change in (
        shelf.files.save(place, "x", overwrite=True),
        shelf.files.save(place, "x"),
        shelf.files.replace_saved(place, "hello", "x"),
        shelf.files.insert_saved(place, 0, "x"),
        shelf.files.discard(place),
        shelf.files.touch_item(place),
        shelf.files.relocate(place, shelf.at("b")),
        shelf.files.relocate(shelf.at("chats"), shelf.at("b")),
        shelf.files.write(place, b"x"),
        shelf.files.save(shelf.at("chats/one.chat/below"), "x"),
        shelf.files.make_folder(place),
    ):
        with pytest.raises(Virtual):
            await change
    with pytest.raises(NotEmpty):
        await shelf.files.discard(shelf.at("chats"))
    assert (await shelf.files.view(place)).content == "hello\nworld\n"
    assert not (shelf.root / "chats/one.chat").exists()


@carries("WS-SYNC-7", "WS-GREP-7")
async def test_a_search_finds_lines_on_disk_in_the_store_and_in_chats(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("a/known.txt"), "one\nneedle 1\nthree\n")
    shelf.put("b/unknown.txt", "needle 2\n")
    await shelf.files.save(shelf.at("c/gone.txt"), "first\nNeedle 3\nlast")
    (shelf.root / "c/gone.txt").unlink()
    await shelf.add_virtual("chats/one.chat", '{"messages":[{"role":"user","content":"a needle 4\\nand more"}]}', content_kind="json")

    found = await shelf.files.grep(Query("needle \\d", case_sensitive=False, before=1, after=1), None, shelf.at(""))

    assert [(match.place.path, match.line, match.text, match.before, match.after) for match in found.matches] == [
        ("a/known.txt", 2, "needle 1", ("one",), ("three",)),
        ("b/unknown.txt", 1, "needle 2", (), ()),
        ("c/gone.txt", 2, "Needle 3", ("first",), ("last",)),
        ("chats/one.chat", 2, "content: a needle 4", ("role: user",), ("and more",)),
    ]
    limited = await shelf.files.grep(
        Query("needle", case_sensitive=False, max_matches=2), lambda path: path != "b/unknown.txt", shelf.at("")
    )
    assert ([match.place.path for match in limited.matches], limited.truncated) == (["a/known.txt", "c/gone.txt"], True)
    alone = await shelf.files.grep(Query("needle"), None, shelf.at("chats/one.chat"))
    assert [match.line for match in alone.matches] == [2]


async def test_plans_are_those_of_that_type_and_those_that_lie_where_plans_lie(shelf: Shelf) -> None:
    await shelf.files.save(shelf.at("plans/one.plan"), "1", file_type="plan")
    await shelf.files.save(shelf.at("elsewhere/two.plan"), "2", file_type="plan")
    await shelf.files.save(shelf.at("plans/document.plan"), "no")
    shelf.put("plans/three.plan", "3")
    shelf.put("other/four.plan", "no")

    assert [(item.path, data) for item, data in await shelf.files.plan_files()] == [
        ("elsewhere/two.plan", b"2"),
        ("plans/one.plan", b"1"),
        ("plans/three.plan", b"3"),
    ]
