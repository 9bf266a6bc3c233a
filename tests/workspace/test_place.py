"""Places: only `resolve` makes them, and from one of them only its own entries can be reached."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.vocabulary.errors import InvalidPath
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Maker, Place
from holdfast.workspace.resolve import resolve, resolve_now
from tests.promises import carries


@carries("PATH-14")
def test_a_place_that_somebody_makes_by_hand_is_a_type_error(mount: Mount) -> None:
    with pytest.raises(TypeError, match="resolve"):
        Place(mount, "file", "file", Maker())


@carries("PATH-14")
def test_a_place_changed_into_another_is_an_error(mount: Mount) -> None:
    place = resolve_now(mount, "file", written="file")

    with pytest.raises((TypeError, ValueError)):
        replace(place, path=".env")


@carries("PATH-14")
def test_the_right_to_make_places_is_asked_for_by_resolve_alone() -> None:
    package = Path(holdfast.__file__).parent

    asking = {file.name for file in package.rglob("*.py") if "grant_maker" in file.read_text(encoding="utf-8")}

    assert asking == {"place.py", "resolve.py"}


async def test_a_place_says_its_name_its_parent_and_its_alias(mount: Mount) -> None:
    place = await resolve(mount, "docs/old/notes.md", written="./docs/old/notes.md")

    assert (place.path, place.name, place.parent_path) == ("docs/old/notes.md", "notes.md", "docs/old")
    assert place.alias == "@project/docs/old/notes.md"
    assert str(place) == "./docs/old/notes.md"


async def test_the_root_s_place_has_an_empty_path_and_the_mount_s_name_as_its_alias(mount: Mount) -> None:
    place = await resolve(mount, "", written=".")

    assert (place.path, place.name, place.parent_path) == ("", "", "")
    assert place.alias == "@project"


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("", ".", "./entry"),
        ("", "/", "/entry"),
        ("", "@project", "@project/entry"),
        ("docs", "docs", "docs/entry"),
        ("docs", "docs/", "docs/entry"),
    ],
)
def test_a_child_is_written_as_its_parent_was(mount: Mount, path: str, written: str, expected: str) -> None:
    child = resolve_now(mount, path, written=written).child("entry")

    assert child.path == f"{path}/entry".lstrip("/")
    assert str(child) == expected
    assert child.mount is mount


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/b", "../a", "/etc/passwd", "a\0b", "a/"])
def test_a_child_that_is_not_one_entry_s_name_is_an_invalid_path(mount: Mount, name: str) -> None:
    place = resolve_now(mount, "docs", written="docs")

    with pytest.raises(InvalidPath):
        place.child(name)


@pytest.mark.parametrize("name", ["...", " ", "..a", "a..", "-", "~", "\udcff", "n" * 255, "line\nbreak"])
def test_any_other_name_that_a_disk_can_hold_is_a_child(mount: Mount, name: str) -> None:
    assert resolve_now(mount, "docs", written="docs").child(name).path == f"docs/{name}"


@pytest.mark.parametrize(
    ("path", "written", "sibling", "said"),
    [
        ("docs/a.md", "docs/a.md", "docs/b.md", "docs/b.md"),
        ("docs/a", "@project/docs/a/", "docs/b.md", "@project/docs/b.md"),
        ("a.md", "a.md", "b.md", "b.md"),
        ("a.md", "/a.md", "b.md", "/b.md"),
        ("a.md", "@project/a.md", "b.md", "@project/b.md"),
    ],
)
def test_a_sibling_is_another_entry_of_the_same_directory(mount: Mount, path: str, written: str, sibling: str, said: str) -> None:
    place = resolve_now(mount, path, written=written).sibling("b.md")

    assert (place.path, str(place), place.mount) == (sibling, said, mount)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_sibling_that_is_not_one_entry_s_name_is_an_invalid_path(mount: Mount, name: str) -> None:
    place = resolve_now(mount, "docs/a.md", written="docs/a.md")

    with pytest.raises(InvalidPath):
        place.sibling(name)


@given(st.lists(st.text(), max_size=5))
def test_however_one_goes_down_the_path_never_goes_up(names: list[str]) -> None:
    mount = Mount("project", Path("/"))
    place = resolve_now(mount, "", written=".")

    for name in names:
        try:
            place = place.child(name)
        except InvalidPath:
            continue

    mount.close()
    assert not place.path.startswith("/")
    assert not {"", ".", ".."} & set(place.path.split("/")) or place.path == ""
