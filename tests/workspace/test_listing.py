"""Listing one directory."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import NotDirectory, NotFound
from holdfast.workspace.entry import Kind
from holdfast.workspace.kernel import WouldBlock
from holdfast.workspace.listing import MAX_ENTRIES_ON_LOOP, list_directory, list_now
from holdfast.workspace.mount import Mount
from tests.promises import carries
from tests.workspace.looking import ALL, GUARDED, at, make, paths

on_all_kernels = pytest.mark.usefixtures("kernels")


@on_all_kernels
async def test_the_entries_of_a_directory_come_by_name_with_kind_and_size(mount: Mount, root: Path) -> None:
    make(root, "docs/b.md", "docs/a/deeper.md", "docs/.hidden")
    os.mkfifo(root / "docs" / "pipe")

    entries = await list_directory(at(mount, "docs"), ALL)

    assert paths(entries) == ["docs/.hidden", "docs/a", "docs/b.md", "docs/pipe"]
    assert [(entry.kind, entry.size) for entry in entries] == [
        (Kind.FILE, len("docs/.hidden\n")),
        (Kind.DIRECTORY, None),
        (Kind.FILE, len("docs/b.md\n")),
        (Kind.OTHER, None),
    ]
    assert entries[2].modified == (root / "docs" / "b.md").stat().st_mtime


@on_all_kernels
@carries("PATH-7")
async def test_links_are_listed_as_links_wherever_they_lead(mount: Mount, root: Path, outside: Path) -> None:
    (root / "away").symlink_to(outside)
    (root / "nowhere").symlink_to("missing")

    entries = await list_directory(at(mount), ALL)

    assert [(entry.path, entry.kind, entry.size) for entry in entries] == [("away", Kind.LINK, None), ("nowhere", Kind.LINK, None)]


@on_all_kernels
async def test_a_directory_that_is_missing_is_not_found(mount: Mount) -> None:
    with pytest.raises(NotFound, match="directory not found: gone"):
        await list_directory(at(mount, "gone"), ALL)


@on_all_kernels
async def test_a_file_is_not_a_directory(mount: Mount, root: Path) -> None:
    make(root, "file")

    with pytest.raises(NotDirectory, match="not a directory"):
        await list_directory(at(mount, "file"), ALL)


async def test_what_is_kept_from_sight_is_not_listed(mount: Mount, root: Path) -> None:
    make(root, ".env", "a", ".holdfast-0123456789abcdef")

    assert paths(await list_directory(at(mount), GUARDED)) == ["a"]
    assert paths(await list_directory(at(mount), ALL)) == [".env", "a"]


async def test_a_name_that_is_not_utf8_is_shown_with_replacement_characters(mount: Mount, root: Path) -> None:
    os.mknod(os.fsencode(root) + b"/caf\xe9")

    assert paths(await list_directory(at(mount), ALL)) == ["caf\ufffd"]


@carries("PATH-11")
async def test_a_long_listing_is_not_made_on_the_loop(mount: Mount, root: Path) -> None:
    make(root, *(f"{number:04}" for number in range(MAX_ENTRIES_ON_LOOP)))
    assert len(list_now(at(mount), ALL, wait=False)) == MAX_ENTRIES_ON_LOOP
    make(root, "one-more")

    with pytest.raises(WouldBlock):
        list_now(at(mount), ALL, wait=False)
    assert len(await list_directory(at(mount), ALL)) == MAX_ENTRIES_ON_LOOP + 1


@on_all_kernels
async def test_entries_that_go_away_meanwhile_are_left_out(mount: Mount, root: Path) -> None:
    make(root, *(f"{number:03}" for number in range(200)))
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            (root / "199").unlink()
            make(root, "199")

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(30):
            assert len(await list_directory(at(mount), ALL)) in (199, 200)
    finally:
        done.set()
        thread.join()
