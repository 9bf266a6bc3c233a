"""What is remembered of directories, and for how long."""

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.workspace import directories
from holdfast.workspace.directories import Directories, Names
from tests.workspace.looking import make


@pytest.fixture
def opened(root: Path) -> Generator[int]:
    descriptor = os.open(root, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_names_are_told_by_kind_and_in_order(root: Path, opened: int) -> None:
    make(root, "b", "a", "folder/", ".hidden")
    (root / "link").symlink_to("folder")
    os.mkfifo(root / "pipe")

    names = Directories().names(opened)

    assert (names.files, names.directories, names.others) == ([".hidden", "a", "b"], ["folder"], ["link", "pipe"])
    assert len(names) == 6


def test_an_empty_directory_has_no_names(opened: int) -> None:
    names = Directories().names(opened)

    assert (names.files, len(names), names.files_ending("")) == ([], 0, [])


@given(st.sets(st.text("ab.", min_size=1, max_size=4)), st.text("ab.", max_size=3))
def test_files_are_found_by_their_ending(files: set[str], ending: str) -> None:
    assert Names.of(files).files_ending(ending) == sorted(name for name in files if name.endswith(ending))


def test_a_directory_that_has_not_changed_is_not_read_again(root: Path, opened: int, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a", "b")
    remembered = Directories()
    _settle()
    first = remembered.names(opened)

    monkeypatch.delattr(os, "scandir")

    assert remembered.names(opened) == first


def test_a_directory_that_has_just_changed_is_read_again(root: Path, opened: int, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = Directories()
    make(root, "a")
    remembered.names(opened)

    monkeypatch.delattr(os, "scandir")

    with pytest.raises(AttributeError):
        remembered.names(opened)


def test_every_change_of_names_is_seen(root: Path, opened: int) -> None:
    make(root, "a", "b")
    remembered = Directories()

    def names() -> Names:
        _settle()
        assert remembered.names(opened) == remembered.names(opened)
        return remembered.names(opened)

    assert names().files == ["a", "b"]
    make(root, "c")
    assert names().files == ["a", "b", "c"]
    (root / "a").unlink()
    assert names().files == ["b", "c"]
    (root / "b").rename(root / "d")
    assert names().files == ["c", "d"]
    (root / "c").unlink()
    (root / "c").mkdir()
    assert names() == Names.of(["d"], ["c"])


def test_changes_that_follow_one_another_closely_are_all_seen(root: Path, opened: int) -> None:
    remembered = Directories()

    for number in range(300):
        make(root, str(number))
        assert len(remembered.names(opened)) == number + 1


def test_only_so_many_names_are_remembered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, *(f"{folder}/{file}" for folder in range(6) for file in range(9)))
    monkeypatch.setattr(directories, "MAX_KEPT_NAMES", 35)
    remembered = Directories()
    _settle()

    for folder in range(6):
        descriptor = os.open(root / str(folder), os.O_RDONLY)
        remembered.names(descriptor)
        os.close(descriptor)

    assert remembered.size <= 35


def _settle() -> None:
    """Wait until a change is old enough to be told from the next one."""
    time.sleep(0.03)
