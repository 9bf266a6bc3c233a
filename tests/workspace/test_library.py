"""Disk and store as one library: listed, read and searched together."""

import base64

import pytest

from holdfast.vocabulary.errors import (
    IsDirectory,
    NotDirectory,
    NotEmpty,
    NotFound,
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
