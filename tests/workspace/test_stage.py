"""What a replaced file keeps of the old one, and to whom a new one belongs."""

import os
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from holdfast.workspace.changes import Changes
from holdfast.workspace.mount import Mount
from holdfast.workspace.write import write
from tests.promises import carries
from tests.workspace.writing import at, leftovers

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@carries("WRITE-3", "WRITE-5")
async def test_mode_and_attributes_of_a_replaced_file_are_kept_but_not_setuid(mount: Mount, root: Path) -> None:
    file = root / "file"
    file.write_bytes(b"old")
    file.chmod(0o6751)
    acl = bytes.fromhex("0200000001000700ffffffff02000500e803000004000500ffffffff10000500ffffffff20000100ffffffff")
    with suppress(OSError):
        os.setxattr(file, "system.posix_acl_access", acl)
    os.setxattr(file, "user.origin", b"kept")
    rules = _acl(file)

    await write(Changes(), at(mount, "file"), b"new")

    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert os.getxattr(file, "user.origin") == b"kept"
    assert _acl(file) == rules


async def test_a_private_file_is_never_readable_by_others_while_it_is_replaced(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"old")
    (root / "file").chmod(0o600)

    with _modes_of_temporaries(root) as seen:
        for _ in range(100):
            await write(Changes(), at(mount, "file"), b"new" * 300_000)
            if len(seen) > 20:
                break

    assert set(seen) == {0o600}


async def test_default_rules_of_a_folder_do_not_widen_a_replaced_file(mount: Mount, root: Path) -> None:
    rules = bytes.fromhex("0200000001000700ffffffff02000700e803000004000700ffffffff10000700ffffffff20000500ffffffff")
    (root / "file").write_bytes(b"old")
    (root / "file").chmod(0o640)
    try:
        os.setxattr(root, "system.posix_acl_default", rules)
    except OSError:
        pytest.skip("this file system has no access control lists")

    await write(Changes(), at(mount, "file"), b"new")

    assert _acl(root / "file") is None
    assert stat.S_IMODE((root / "file").stat().st_mode) == 0o640


@as_root
@carries("WRITE-3", "WRITE-4")
async def test_root_gives_files_to_whom_they_belong(mount: Mount, root: Path) -> None:
    os.chown(root, 1234, 2345)
    (root / "file").write_bytes(b"old")
    os.chown(root / "file", 3456, 4567)

    await write(Changes(), at(mount, "file"), b"new")
    await write(Changes(), at(mount, "a/b/new"), b"new", parents=True)

    assert _owner(root / "file") == (3456, 4567)
    assert [_owner(root / path) for path in ("a", "a/b", "a/b/new")] == [(1234, 2345)] * 3


@contextmanager
def _modes_of_temporaries(folder: Path) -> Generator[list[int]]:
    """Who may do what with the temporaries that come and go, looked at all the time."""
    seen: list[int] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for name in leftovers(folder):
                with suppress(FileNotFoundError):
                    seen.append(stat.S_IMODE((folder / name).stat().st_mode))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def _acl(file: Path) -> bytes | None:
    try:
        return os.getxattr(file, "system.posix_acl_access")
    except OSError:
        return None


def _owner(file: Path) -> tuple[int, int]:
    about = file.stat()
    return about.st_uid, about.st_gid
