"""Walking through a tree."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from holdfast.vocabulary.errors import NotDirectory, NotFound
from holdfast.workspace.directories import Names
from holdfast.workspace.entry import Entry, Kind
from holdfast.workspace.mount import Mount
from holdfast.workspace.survey import Stopped
from holdfast.workspace.walk import Tally, runs, walk
from tests.promises import carries
from tests.workspace.looking import ALL, GUARDED, at, make, paths

on_all_kernels = pytest.mark.usefixtures("kernels")
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")


def everywhere(_: Entry) -> bool:
    return True


@on_all_kernels
def test_a_directory_comes_right_before_what_is_in_it(mount: Mount, root: Path) -> None:
    make(root, "a/x", "a-b", "a.txt", ".hidden/deep/file", "empty/")

    entries = list(walk(at(mount), ALL, descend=everywhere))

    assert paths(entries) == [".hidden", ".hidden/deep", ".hidden/deep/file", "a", "a/x", "a-b", "a.txt", "empty"]


def test_a_walk_begins_anywhere(mount: Mount, root: Path) -> None:
    make(root, "top/sub/file", "beside")

    assert paths(walk(at(mount, "top"), ALL, descend=everywhere)) == ["top/sub", "top/sub/file"]


def test_what_changes_between_two_looks_is_passed_over(mount: Mount, root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "inner/file", "swapped/file", "vanishing", "z")
    names = mount.directories.names

    def meanwhile(descriptor: int, *, wait: bool = True) -> Names:
        met = names(descriptor)
        if "vanishing" in met.files:
            (root / "vanishing").unlink()
            (root / "swapped").rename(outside / "swapped")
            (root / "swapped").symlink_to("inner")
        return met

    monkeypatch.setattr(mount.directories, "names", meanwhile)

    assert paths(walk(at(mount), ALL, descend=everywhere)) == ["inner", "inner/file", "swapped", "z"]


@on_all_kernels
@carries("PATH-7")
def test_links_are_entries_and_nothing_is_looked_for_behind_them(mount: Mount, root: Path, outside: Path) -> None:
    make(root, "folder/file")
    (root / "away").symlink_to(outside)
    (root / "round").symlink_to("folder")
    (root / "folder" / "up").symlink_to("..")

    entries = list(walk(at(mount), ALL, descend=everywhere))

    assert paths(entries) == ["away", "folder", "folder/file", "folder/up", "round"]
    assert [entry.kind for entry in entries] == [Kind.LINK, Kind.DIRECTORY, Kind.FILE, Kind.LINK, Kind.LINK]


def test_a_walk_stays_out_of_directories_that_it_is_told_to_leave(mount: Mount, root: Path) -> None:
    make(root, "skipped/file", "taken/file")

    entries = walk(at(mount), ALL, descend=lambda entry: entry.name != "skipped")

    assert paths(entries) == ["skipped", "taken", "taken/file"]


def test_what_is_kept_from_sight_is_neither_met_nor_entered(mount: Mount, root: Path) -> None:
    make(root, ".git/hooks/pre-commit", ".git/config", ".git/HEAD", "my-secrets/file", "src/.env", "src/a.py")

    assert paths(walk(at(mount), GUARDED, descend=everywhere)) == [".git", ".git/HEAD", "src", "src/a.py"]


@on_all_kernels
def test_a_walk_from_what_is_not_a_directory_is_refused(mount: Mount, root: Path) -> None:
    make(root, "file")

    with pytest.raises(NotFound, match="not found"):
        list(walk(at(mount, "gone"), ALL, descend=everywhere))
    with pytest.raises(NotDirectory):
        list(walk(at(mount, "file"), ALL, descend=everywhere))


@on_all_kernels
def test_a_directory_that_vanishes_on_the_way_is_passed_over(mount: Mount, root: Path) -> None:
    make(root, "a/", "b/", "c/file")
    tally = Tally()

    met: list[str] = []
    for entry in walk(at(mount), ALL, descend=everywhere, tally=tally):
        met.append(entry.path)
        if entry.path == "a":
            (root / "b").rmdir()

    assert met == ["a", "b", "c", "c/file"]
    assert tally.unreadable == 0


@as_user
@on_all_kernels
def test_a_directory_that_may_not_be_read_is_counted_and_passed_over(mount: Mount, root: Path) -> None:
    make(root, "closed/file", "open/file")
    (root / "closed").chmod(0)
    tally = Tally()

    met = paths(walk(at(mount), ALL, descend=everywhere, tally=tally))
    (root / "closed").chmod(0o700)

    assert met == ["closed", "open", "open/file"]
    assert tally.unreadable == 1


def test_a_tree_deeper_than_any_stack_is_walked_to_its_end(mount: Mount, root: Path) -> None:
    with _dug(root, levels=1_500):
        deepest = list(walk(at(mount), ALL, descend=everywhere))[-1]

    assert deepest.path == "/".join("d" * 1_500)


def test_what_lies_deeper_than_a_path_can_say_is_counted(mount: Mount, root: Path) -> None:
    tally = Tally()

    with _dug(root, levels=2_100):
        met = list(walk(at(mount), ALL, descend=everywhere, tally=tally))

    assert len(met[-1].path) > 4_000
    assert tally.unreadable == 1


def test_an_abandoned_walk_leaves_no_descriptor_open(mount: Mount, root: Path) -> None:
    make(root, "a/b/c/d/file", "z")
    before = len(os.listdir("/proc/self/fd"))

    for entry in walk(at(mount), ALL, descend=everywhere):
        if entry.path == "a/b/c/d":
            break

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_walk_that_nobody_waits_for_stops(mount: Mount, root: Path) -> None:
    make(root, "a/file", "b")
    stop = Event()
    walking = runs(at(mount), ALL, True, _everything, stop=stop)
    next(walking)

    stop.set()

    with pytest.raises(Stopped):
        next(walking)


def test_a_name_that_is_not_utf8_is_walked_through_and_shown_with_replacement_characters(mount: Mount, root: Path) -> None:
    os.makedirs(os.fsencode(root) + b"/caf\xe9/\xff")

    assert paths(walk(at(mount), ALL, descend=everywhere)) == ["caf\ufffd", "caf\ufffd/\ufffd"]


def _everything(state: bool, names: Names) -> tuple[list[str], list[tuple[str, bool]]]:
    return [*names.files, *names.directories], [(name, state) for name in names.directories]


@contextmanager
def _dug(root: Path, *, levels: int) -> Generator[None]:
    """Folders in folders, made and removed one by one because no path could name the last."""
    descriptor = os.open(root, os.O_PATH)
    for _ in range(levels):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_PATH, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    yield
    for _ in range(levels - 1):
        (root / "d" / "d").rename(root / "rest")
        (root / "d").rmdir()
        (root / "rest").rename(root / "d")
