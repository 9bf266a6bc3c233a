"""Finding entries by name, kind, size and time."""

import os
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import InvalidPattern, NotDirectory, NotFound
from holdfast.workspace.entry import Kind
from holdfast.workspace.find import Criteria, find
from holdfast.workspace.mount import Mount
from tests.promises import carries
from tests.workspace.looking import ALL, GUARDED, at, make, paths


async def found(mount: Mount, criteria: Criteria, path: str = "") -> list[str]:
    return paths((await find(at(mount, path), criteria, ALL)).entries)


@carries("ENGINE-6")
@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("*.txt", ["a.txt", "d/b.txt", "d/e/.c.txt"]),
        ("?.txt", ["a.txt", "d/b.txt"]),
        ("[ab].txt", ["a.txt", "d/b.txt"]),
        ("e", ["d/e"]),
        ("d/b.txt", []),
        (None, ["a.txt", "d", "d/b.txt", "d/e", "d/e/.c.txt"]),
    ],
)
async def test_a_name_is_matched_at_any_depth(mount: Mount, root: Path, name: str | None, matches: list[str]) -> None:
    make(root, "a.txt", "d/b.txt", "d/e/.c.txt")

    assert await found(mount, Criteria(name=name)) == matches


@carries("ENGINE-6")
async def test_sizes_are_inclusive_and_only_files_have_one(mount: Mount, root: Path) -> None:
    for size in (0, 1, 2, 3):
        (root / str(size)).write_bytes(b"x" * size)
    (root / "folder").mkdir()

    assert await found(mount, Criteria(min_bytes=1, max_bytes=2)) == ["1", "2"]
    assert await found(mount, Criteria(min_bytes=2)) == ["2", "3"]
    assert await found(mount, Criteria(max_bytes=0)) == ["0"]


@carries("ENGINE-6")
async def test_kinds_are_told_apart(mount: Mount, root: Path, outside: Path) -> None:
    make(root, "file", "folder/")
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "pipe")

    assert await found(mount, Criteria(kinds=frozenset({Kind.FILE}))) == ["file"]
    assert await found(mount, Criteria(kinds=frozenset({Kind.DIRECTORY, Kind.LINK}))) == ["folder", "link"]
    assert await found(mount, Criteria(kinds=frozenset({Kind.OTHER}))) == ["pipe"]


@carries("ENGINE-6")
async def test_times_are_inclusive(mount: Mount, root: Path) -> None:
    for time in (100, 200, 300):
        make(root, str(time))
        os.utime(root / str(time), (time, time))

    assert await found(mount, Criteria(modified_from=200)) == ["200", "300"]
    assert await found(mount, Criteria(modified_from=150, modified_until=200)) == ["200"]


async def test_without_recursion_only_the_directory_itself_is_looked_at(mount: Mount, root: Path) -> None:
    make(root, "top/a", "top/deeper/a")

    assert await found(mount, Criteria(name="a", recursive=False), path="top") == ["top/a"]


async def test_the_first_of_many_come_in_order_and_the_rest_is_told(mount: Mount, root: Path) -> None:
    make(root, "c", "a", "b")

    some = await find(at(mount), Criteria(), ALL, limit=2)

    assert (paths(some.entries), some.truncated) == (["a", "b"], True)


async def test_what_is_kept_from_sight_is_not_found(mount: Mount, root: Path) -> None:
    make(root, "a.pem", "a", ".ssh/id_rsa")

    assert paths((await find(at(mount), Criteria(), GUARDED)).entries) == [".ssh", "a"]


async def test_what_cannot_be_searched_is_refused(mount: Mount, root: Path) -> None:
    make(root, "file")

    with pytest.raises(NotFound, match="not found"):
        await find(at(mount, "gone"), Criteria(), ALL)
    with pytest.raises(NotDirectory, match="not a directory"):
        await find(at(mount, "file"), Criteria(), ALL)
    with pytest.raises(InvalidPattern):
        await find(at(mount), Criteria(name=""), ALL)
