"""What is remembered of files that were searched, and for how long."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.workspace import recent
from holdfast.workspace.match import Query
from holdfast.workspace.mount import Mount
from holdfast.workspace.search import search
from tests.workspace.looking import ALL, at, make


async def finds(mount: Mount, text: str) -> int:
    return len((await search(at(mount), Query(text, regex=False, case_sensitive=True), ALL)).matches)


def _not_again(*_given: object, **_more: object) -> bytes:
    pytest.fail("it was read again")


def _settle() -> None:
    time.sleep(0.05)


async def test_a_file_that_has_not_changed_is_not_read_again(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a", "folder/b")
    (root / "a").write_text("needle\n")
    _settle()
    assert await finds(mount, "needle") == 1
    monkeypatch.setattr("holdfast.workspace.scan.contents", _not_again)

    assert await finds(mount, "needle") == 1


def _written(file: Path) -> None:
    file.write_bytes(b"thread\n")


def _replaced(file: Path) -> None:
    file.with_name("other").write_bytes(b"thread\n")
    file.with_name("other").rename(file)


def _forged(file: Path) -> None:
    before = file.stat()
    _written(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("change", [_written, _replaced, _forged])
async def test_a_file_that_has_changed_is_searched_as_it_is_now(mount: Mount, root: Path, change: Callable[[Path], None]) -> None:
    (root / "a").write_bytes(b"needle\n")
    _settle()
    assert await finds(mount, "needle") == 1

    change(root / "a")

    assert (await finds(mount, "needle"), await finds(mount, "thread")) == (0, 1)


async def test_a_link_in_the_place_of_a_file_gives_nothing(mount: Mount, root: Path, outside: Path) -> None:
    (root / "a").write_bytes(b"outside\n")
    _settle()
    assert await finds(mount, "outside") == 1
    (root / "a").unlink()

    (root / "a").symlink_to(outside / "secret.txt")

    assert await finds(mount, "outside") == 0


async def test_a_file_that_has_just_changed_is_not_remembered(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"needle\n")

    await finds(mount, "needle")

    assert mount.recent.size == 0


async def test_no_more_is_remembered_than_there_is_room_for(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MAX_BYTES", 1_000)
    for number in range(10):
        (root / str(number)).write_bytes(b"x" * 300)
    _settle()

    await finds(mount, "needle")

    assert mount.recent.size == 900
