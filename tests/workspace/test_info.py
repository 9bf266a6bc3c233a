"""What is told of one entry."""

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import NotFound
from holdfast.workspace.entry import Kind
from holdfast.workspace.info import info
from holdfast.workspace.mount import Mount
from holdfast.workspace.resolve import resolve_now
from tests.promises import carries
from tests.workspace.looking import at, make


async def test_a_file_is_told_with_size_mode_and_times(mount: Mount, root: Path) -> None:
    make(root, "file")
    (root / "file").chmod(0o640)
    os.utime(root / "file", (5, 5))

    told = await info(at(mount, "file"))

    about = (root / "file").stat()
    assert (told.kind, told.size, told.mode, told.modified) == (Kind.FILE, len("file\n"), 0o640, 5)
    assert (told.inode, told.device, told.links, told.owner, told.group) == (about.st_ino, about.st_dev, 1, about.st_uid, about.st_gid)


async def test_a_file_was_created_when_it_was_made_whatever_its_other_times(mount: Mount, root: Path) -> None:
    started = time.time()
    make(root, "file")
    made = time.time()
    await asyncio.sleep(0.05)
    os.utime(root / "file", (5, 5))

    created = (await info(at(mount, "file"))).created

    # File systems that do not remember it tell of the last change instead.
    assert started - 0.02 <= created <= made + 0.02 or created == (root / "file").stat().st_ctime


async def test_a_directory_has_no_size(mount: Mount, root: Path) -> None:
    make(root, "folder/file")

    told = await info(at(mount, "folder"))

    assert (told.kind, told.size) == (Kind.DIRECTORY, None)


async def test_a_link_is_told_of_itself(mount: Mount, root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)

    told = await info(resolve_now(mount, "link", written="link", follow=False))

    assert (told.kind, told.size) == (Kind.LINK, None)


@carries("PATH-4")
async def test_special_files_are_told_of_without_being_opened(mount: Mount, root: Path) -> None:
    os.mkfifo(root / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(root / "socket"))
    server.close()

    assert [(await info(at(mount, name))).kind for name in ("pipe", "socket")] == [Kind.OTHER, Kind.OTHER]


async def test_what_is_not_there_is_not_found(mount: Mount) -> None:
    with pytest.raises(NotFound, match="not found"):
        await info(at(mount, "gone"))
