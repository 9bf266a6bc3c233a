"""Writing a whole file."""

import asyncio
import os
import socket
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import (
    AccessDenied,
    Exists,
    InvalidState,
    IsDirectory,
    NoSpace,
    NotDirectory,
    NotFound,
    Outside,
    Protected,
    ReadOnly,
    SpecialFile,
    StaleHash,
    TooLarge,
)
from holdfast.workspace.changes import Changes
from holdfast.workspace.mount import Mount
from holdfast.workspace.write import revise, write
from tests.promises import carries
from tests.workspace.writing import at, everything, leftovers, sha256

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")


async def test_a_new_file_has_exactly_the_bytes_and_an_ordinary_mode(mount: Mount, root: Path) -> None:
    written = await write(Changes(), at(mount, "new.bin"), b"\x00\xffdata")

    assert (root / "new.bin").read_bytes() == b"\x00\xffdata"
    assert stat.S_IMODE((root / "new.bin").stat().st_mode) == 0o644 & ~_umask()
    assert (written.created, written.sha256_before, written.sha256_after, written.size) == (True, None, sha256(b"\x00\xffdata"), 6)
    assert everything(root).keys() == {"new.bin"}


async def test_a_file_that_is_replaced_tells_what_it_was(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"before")

    written = await write(Changes(), at(mount, "file"), b"")

    assert (root / "file").read_bytes() == b""
    assert (written.created, written.sha256_before, written.sha256_after) == (False, sha256(b"before"), sha256(b""))


async def test_a_name_of_255_bytes_can_be_written(mount: Mount, root: Path) -> None:
    name = "n" * 255

    await write(Changes(), at(mount, name), b"long")

    assert (root / name).read_bytes() == b"long"


async def test_missing_folders_are_made_when_asked_for_and_are_an_error_otherwise(mount: Mount, root: Path) -> None:
    with pytest.raises(NotFound):
        await write(Changes(), at(mount, "a/b/file"), b"x")
    assert everything(root) == {}

    await write(Changes(), at(mount, "a/b/file"), b"x", parents=True)

    assert (root / "a/b/file").read_bytes() == b"x"
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o755 & ~_umask()


async def test_folders_made_for_a_write_that_fails_are_gone_again(mount: Mount, root: Path) -> None:
    (root / "a").mkdir()

    with pytest.raises(StaleHash):
        await write(Changes(), at(mount, "a/b/c/file"), b"x", parents=True, only_if=sha256(b"old"))

    assert everything(root) == {"a": None}


async def test_a_file_on_the_way_is_not_taken_for_a_folder(mount: Mount, root: Path) -> None:
    place = at(mount, "a/file")
    (root / "a").write_bytes(b"in the way")

    with pytest.raises(NotDirectory):
        await write(Changes(), place, b"x", parents=True)

    assert everything(root) == {"a": b"in the way"}


@carries("WRITE-2")
async def test_a_write_made_from_an_old_hash_changes_nothing(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"newer")

    with pytest.raises(StaleHash) as caught:
        await write(Changes(), at(mount, "file"), b"mine", only_if=sha256(b"older"))

    assert everything(root) == {"file": b"newer"}
    assert caught.value.facts["found"] == sha256(b"newer")


async def test_the_right_hash_lets_a_write_pass_in_either_case(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")

    await write(Changes(), at(mount, "file"), b"new", only_if=sha256(b"old").upper())

    assert (root / "file").read_bytes() == b"new"


async def test_a_hash_of_a_file_that_is_gone_is_stale(mount: Mount, root: Path) -> None:
    with pytest.raises(StaleHash):
        await write(Changes(), at(mount, "file"), b"x", only_if=sha256(b"old"))

    assert everything(root) == {}


async def test_what_must_not_exist_is_not_overwritten(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"there")

    with pytest.raises(Exists):
        await write(Changes(), at(mount, "file"), b"x", exists=False)

    assert everything(root) == {"file": b"there"}


async def test_what_must_exist_is_not_made(mount: Mount, root: Path) -> None:
    with pytest.raises(NotFound):
        await write(Changes(), at(mount, "file"), b"x", exists=True)

    assert everything(root) == {}


async def test_a_check_sees_both_contents_and_can_refuse(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    seen: list[tuple[bytes | None, bytes]] = []

    def refuse(before: bytes | None, after: bytes) -> None:
        seen.append((before, after))
        raise InvalidState("no")

    with pytest.raises(InvalidState):
        await write(Changes(), at(mount, "file"), b"new", check=refuse)
    with pytest.raises(InvalidState):
        await write(Changes(), at(mount, "other"), b"new", check=refuse)

    assert seen == [(b"old", b"new"), (None, b"new")]
    assert everything(root) == {"file": b"old"}


async def test_a_folder_is_never_replaced(mount: Mount, root: Path) -> None:
    (root / "folder").mkdir()

    for path in ("folder", ""):
        with pytest.raises(IsDirectory):
            await write(Changes(), at(mount, path), b"x", only_if=sha256(b""))

    assert everything(root) == {"folder": None}


async def test_a_fifo_or_socket_is_refused_without_being_opened(mount: Mount, root: Path) -> None:
    os.mkfifo(root / "fifo")
    _make_socket(root / "socket")

    for name in ("fifo", "socket"):
        with pytest.raises(SpecialFile):
            await asyncio.wait_for(write(Changes(), at(mount, name), b"x"), 5)

    assert stat.S_ISFIFO((root / "fifo").stat().st_mode)
    assert leftovers(root) == []


@carries("PATH-8")
async def test_a_hard_link_is_broken_and_not_written_through(mount: Mount, root: Path, outside: Path) -> None:
    os.link(outside / "secret.txt", root / "link")

    await write(Changes(), at(mount, "link"), b"inside\n")

    assert (root / "link").read_bytes() == b"inside\n"
    assert (outside / "secret.txt").read_text() == "outside\n"


async def test_a_link_inside_is_followed_once_and_stays_a_link(mount: Mount, root: Path) -> None:
    (root / "real").write_bytes(b"old")
    (root / "link").symlink_to("real")

    await write(Changes(), at(mount, "link"), b"new")

    assert (root / "link").is_symlink()
    assert (root / "real").read_bytes() == b"new"


async def test_a_link_put_there_after_the_check_is_not_followed(mount: Mount, root: Path, outside: Path) -> None:
    place = at(mount, "file")
    (root / "file").symlink_to(outside / "secret.txt")

    with pytest.raises(Outside):
        await write(Changes(), place, b"x")

    assert (outside / "secret.txt").read_text() == "outside\n"
    assert (root / "file").is_symlink()


@as_user
async def test_a_file_that_may_only_be_read_is_not_replaced(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    (root / "file").chmod(0o444)

    with pytest.raises(AccessDenied):
        await write(Changes(), at(mount, "file"), b"new")

    assert everything(root) == {"file": b"old"}


@as_user
async def test_a_folder_that_may_only_be_read_is_a_clear_error(mount: Mount, root: Path) -> None:
    with _only_readable(root), pytest.raises(AccessDenied):
        await write(Changes(), at(mount, "a/file"), b"new", parents=True)

    assert everything(root) == {}


async def test_a_mount_that_may_only_be_read_is_not_written(root: Path) -> None:
    mount = Mount("pkg", root, MountMode.READ_ONLY)

    with pytest.raises(ReadOnly):
        await write(Changes(), at(mount, "file"), b"x")

    mount.close()
    assert everything(root) == {}


async def test_names_of_our_own_temporaries_are_not_for_others(mount: Mount, root: Path) -> None:
    with pytest.raises(Protected):
        await write(Changes(), at(mount, ".holdfast-0123456789abcdef"), b"x")

    assert everything(root) == {}


async def test_a_revision_is_made_of_what_is_there_under_the_lock(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"")
    changes, place = Changes(), at(mount, "file")

    await asyncio.gather(*(revise(changes, place, lambda data: data + b".") for _ in range(20)))

    assert (root / "file").read_bytes() == b"." * 20


async def test_a_revision_over_the_limit_before_or_after_changes_nothing(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"12345")

    with pytest.raises(TooLarge):
        await revise(Changes(), at(mount, "file"), lambda data: data[:1], max_bytes=4)
    with pytest.raises(TooLarge):
        await revise(Changes(), at(mount, "file"), lambda data: data * 2, max_bytes=9)
    assert everything(root) == {"file": b"12345"}

    await revise(Changes(), at(mount, "file"), lambda data: data * 2, max_bytes=10)
    assert everything(root) == {"file": b"1234512345"}


@as_root
@carries("WRITE-6")
async def test_a_full_disk_is_a_clear_error_and_leaves_the_old_file(tmp_path: Path) -> None:
    with _disk(tmp_path / "small", "size=64k") as root:
        mount = Mount("project", root)
        await write(Changes(), at(mount, "file"), b"old")

        with pytest.raises(NoSpace):
            await write(Changes(), at(mount, "file"), b"x" * 100_000)
        with pytest.raises(NoSpace):
            await write(Changes(), at(mount, "a/b/file"), b"x" * 100_000, parents=True)

        assert everything(root) == {"file": b"old"}
        await write(Changes(), at(mount, "file"), b"works again")
        mount.close()


@as_root
@carries("WRITE-6")
async def test_a_read_only_disk_is_a_clear_error(tmp_path: Path) -> None:
    with _disk(tmp_path / "fixed", "ro") as root:
        mount = Mount("project", root)

        with pytest.raises(AccessDenied):
            await write(Changes(), at(mount, "a/file"), b"x", parents=True)

        mount.close()


@contextmanager
def _disk(folder: Path, options: str) -> Generator[Path]:
    """A disk of its own, in memory."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def _only_readable(folder: Path) -> Generator[None]:
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def _make_socket(path: Path) -> None:
    # The name of a socket is short, so it is bound from where it is.
    here = os.open(path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
