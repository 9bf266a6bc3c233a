"""Entries that are made when they are looked at."""

import os
import stat
from pathlib import Path

from holdfast.workspace.entry import Entry, Kind
from holdfast.workspace.finds import Columns, entries


def columns(root: Path, *names: str) -> Columns:
    found = Columns()
    for name in names:
        (root / name).write_text(name)
    found.add([*names], [os.lstat(root / name) for name in names])
    return found


def test_finds_are_a_sequence_of_entries(tmp_path: Path) -> None:
    found = entries(columns(tmp_path, "a", "bb", "ccc"))

    assert [entry.path for entry in found] == ["a", "bb", "ccc"]
    assert (len(found), found[-1].path, [entry.size for entry in found[1:]]) == (3, "ccc", [2, 3])
    assert found[0] == Entry.of("a", os.lstat(tmp_path / "a"))


def test_only_files_have_a_size(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    found = columns(tmp_path, "a")
    found.add(["link", "."], [os.lstat(tmp_path / "link"), os.lstat(tmp_path)])

    assert [(entry.kind, entry.size) for entry in entries(found)] == [(Kind.FILE, 1), (Kind.LINK, None), (Kind.DIRECTORY, None)]


def test_the_same_columns_can_be_seen_as_something_else_and_cut(tmp_path: Path) -> None:
    found = columns(tmp_path, "a", "bb")
    kinds = entries(found).made(lambda path, mode, size, _: (path, stat.S_ISREG(mode), size))

    found.cut(1)

    assert list(kinds) == [("a", True, 1)]
