"""Reading from real disks: large files, what cannot be read, and files that change meanwhile."""

import asyncio
import errno
import os
import threading
import time
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import AccessDenied, Broken, IsDirectory, NotFound
from holdfast.workspace.lines import Lines
from holdfast.workspace.mount import Mount
from holdfast.workspace.read import EVERYTHING, read
from tests.promises import carries
from tests.workspace.reading import PLENTY, at, sha256

# Large files


@pytest.fixture
def log(root: Path) -> bytes:
    """The bytes of a log of some megabytes."""
    data = b"".join(b"%07d something happened\n" % number for number in range(120_000))
    (root / "log").write_bytes(data)
    return data


@carries("ENGINE-1")
async def test_the_end_of_a_large_file_comes_with_numbers_total_and_hash(mount: Mount, log: bytes) -> None:
    part = await read(at(mount, "log"), Lines(-2), max_bytes=1000)

    assert part.text == "0119998 something happened\n0119999 something happened\n"
    assert (part.first, part.total_lines, part.sha256) == (119_998, 120_000, sha256(log))


async def test_without_a_survey_the_end_of_a_large_file_comes_without_them(mount: Mount, log: bytes) -> None:
    part = await read(at(mount, "log"), Lines(-2), max_bytes=1000, surveyed=False)

    assert part.text == "0119998 something happened\n0119999 something happened\n"
    assert (part.first, part.total_lines, part.sha256) == (None, None, None)


async def test_a_survey_that_is_kept_gives_the_number_of_the_line_and_not_what_was_not_asked_for(mount: Mount, log: bytes) -> None:
    await asyncio.sleep(0.03)
    await read(at(mount, "log"), Lines(0, 1), max_bytes=1000)

    part = await read(at(mount, "log"), Lines(-2), max_bytes=1000, surveyed=False)

    assert (part.first, part.total_lines, part.sha256) == (119_998, None, None)


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> set[threading.Thread]:
    """The threads that read from files, as they do."""
    seen: set[threading.Thread] = set()
    pread, preadv = os.pread, os.preadv

    def seen_pread(fd: int, length: int, offset: int) -> bytes:
        seen.add(threading.current_thread())
        return pread(fd, length, offset)

    def seen_preadv(fd: int, buffers: list[memoryview], offset: int, flags: int = 0) -> int:
        seen.add(threading.current_thread())
        return preadv(fd, buffers, offset, flags)

    monkeypatch.setattr(os, "pread", seen_pread)
    monkeypatch.setattr(os, "preadv", seen_preadv)
    return seen


@carries("PATH-11")
@pytest.mark.parametrize("surveyed", [True, False])
async def test_a_large_file_is_never_read_on_the_loop_s_thread(
    mount: Mount, log: bytes, readers: set[threading.Thread], surveyed: bool
) -> None:
    await read(at(mount, "log"), Lines(60_000, 10), max_bytes=1000, surveyed=surveyed)

    assert readers
    assert threading.main_thread() not in readers


async def test_a_small_file_that_is_in_memory_costs_no_thread(mount: Mount, root: Path, readers: set[threading.Thread]) -> None:
    (root / "file").write_text("in memory\n")
    probe = os.open(root / "file", os.O_RDONLY)
    try:
        os.preadv(probe, [bytearray(1)], 0, os.RWF_NOWAIT)
    except OSError:
        pytest.skip("this file system cannot say what is in memory")
    finally:
        os.close(probe)

    await read(at(mount, "file"), max_bytes=1000)

    assert readers == {threading.main_thread()}


@pytest.mark.parametrize("in_memory", [0, 3])
async def test_a_file_that_is_not_wholly_in_memory_is_read_in_the_pool(
    mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    (root / "file").write_text("on disk\n")
    preadv = os.preadv

    def cold(fd: int, buffers: list[memoryview], offset: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT and not in_memory:
            raise BlockingIOError(errno.EAGAIN, "not in memory")
        return preadv(fd, [memoryview(buffers[0])[:in_memory]] if flags & os.RWF_NOWAIT else buffers, offset, flags)

    monkeypatch.setattr(os, "preadv", cold)

    part = await read(at(mount, "file"), max_bytes=1000)

    assert (part.text, part.sha256) == ("on disk\n", sha256(b"on disk\n"))


async def test_a_reading_that_is_cancelled_stops_in_its_thread_too(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 36)
    blocks = 0
    preadv = os.preadv

    def counted(fd: int, buffers: list[memoryview], offset: int) -> int:
        nonlocal blocks
        blocks += 1
        return preadv(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", counted)
    reading = asyncio.create_task(read(at(mount, "huge"), max_bytes=10))
    while not blocks:  # noqa: ASYNC110 - it is a thread that we wait for
        await asyncio.sleep(0.001)

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await asyncio.sleep(0.1)
    afterwards = blocks
    await asyncio.sleep(0.1)

    assert blocks == afterwards


# What cannot be read


async def test_nothing_there_is_not_found(mount: Mount) -> None:
    with pytest.raises(NotFound, match="file not found"):
        await read(at(mount, "missing"), max_bytes=10)


async def test_a_directory_is_is_directory(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()

    with pytest.raises(IsDirectory):
        await read(at(mount, "docs"), max_bytes=10)
    with pytest.raises(IsDirectory):
        await read(at(mount, ""), max_bytes=10)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_file_that_we_may_not_read_is_access_denied(mount: Mount, root: Path) -> None:
    (root / "file").touch(mode=0o000)

    with pytest.raises(AccessDenied):
        await read(at(mount, "file"), max_bytes=10)


@pytest.mark.parametrize("size", [10, 100_000])
async def test_a_disk_that_fails_is_broken(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    (root / "file").write_bytes(b"x" * size)

    def failing(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "preadv", failing)
    monkeypatch.setattr(os, "pread", failing)

    with pytest.raises(Broken):
        await read(at(mount, "file"), max_bytes=10)


async def test_files_that_the_kernel_makes_up_are_no_crash() -> None:
    mount = Mount("proc", Path("/proc"))

    parts = [await read(at(mount, path), max_bytes=1000) for path in ("version", "self/status", "sys/kernel/ostype")]

    mount.close()
    assert [(part.cut, part.more) for part in parts] == [(False, False)] * 3


# Files that change


async def test_a_file_that_grows_during_the_reading_is_shown_and_hashed_as_it_was(
    mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "log").write_bytes(b"x" * 99_999 + b"\n")
    preadv = os.preadv

    def while_it_grows(fd: int, buffers: list[memoryview], offset: int) -> int:
        with (root / "log").open("ab") as log:
            log.write(b"more\n")
        return preadv(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", while_it_grows)

    part = await read(at(mount, "log"), max_bytes=PLENTY)

    assert (part.size, len(part.data), part.total_lines) == (100_000, 100_000, 1)
    assert part.sha256 == sha256(b"x" * 99_999 + b"\n")


@pytest.mark.parametrize("lines", [EVERYTHING, Lines(0, 50), Lines(3, 5), Lines(-5)])
@pytest.mark.parametrize("size", [600, 90_000])
@pytest.mark.parametrize("left", [0, 4])
async def test_a_file_that_shrinks_during_the_reading_gives_what_is_left(
    mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch, lines: Lines, size: int, left: int
) -> None:
    (root / "log").write_bytes(b"12345\n" * (size // 6))
    pread = os.pread

    def while_it_shrinks(fd: int, length: int, offset: int) -> bytes:
        os.truncate(root / "log", left)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", while_it_shrinks)

    part = await read(at(mount, "log"), lines, max_bytes=500, whole_lines=True)

    assert part.data in (b"", b"1234")


@carries("PATH-12")
async def test_a_file_rewritten_with_the_same_size_and_its_time_set_back_has_its_new_hash(mount: Mount, root: Path) -> None:
    file = root / "file"
    file.write_text("first")
    about = os.stat(file)
    time.sleep(0.03)  # noqa: ASYNC251 - so that the hash may be kept
    first = await read(at(mount, "file"), max_bytes=10)
    file.write_text("later")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))

    later = await read(at(mount, "file"), max_bytes=10)

    assert mount.surveys.kept(about) is not None
    assert (first.sha256, later.sha256) == (sha256(b"first"), sha256(b"later"))


async def test_no_descriptor_is_left_open_whatever_comes_of_it(mount: Mount, root: Path) -> None:
    (root / "file").write_text("x")
    (root / "long").write_text("x" * 100_000)
    (root / "docs").mkdir()
    os.mkfifo(root / "fifo")
    await read(at(mount, "long"), max_bytes=PLENTY)
    before = len(os.listdir("/proc/self/fd"))

    for path in ("file", "long", "docs", "fifo", "missing"):
        try:
            await read(at(mount, path), max_bytes=10, whole_lines=True)
        except Exception:  # noqa: BLE001 - whatever it is
            continue

    assert len(os.listdir("/proc/self/fd")) == before
