"""Mounts: a directory that is held, from its opening until the last work in it has ended."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import AccessDenied, NotDirectory, NotFound
from holdfast.workspace.mount import Mount
from holdfast.workspace.pool import Pool
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve, resolve_now


def test_a_mount_can_be_written_unless_it_is_told_otherwise(root: Path) -> None:
    usual, told = Mount("one", root), Mount("two", root, MountMode.READ_ONLY)

    assert (usual.mode, told.mode) == (MountMode.READ_WRITE, MountMode.READ_ONLY)
    usual.close()
    told.close()


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="@docs"):
        Mount("docs", tmp_path / "missing")


@pytest.mark.parametrize("kind", ["file", "fifo", "link"])
def test_a_root_that_is_no_directory_is_not_directory_and_nothing_waits(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("file")

    with pytest.raises(NotDirectory, match="@docs"):
        Mount("docs", tmp_path / kind)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter everywhere")
def test_a_folder_that_we_may_not_enter_is_access_denied(tmp_path: Path) -> None:
    (tmp_path / "closed" / "in").mkdir(parents=True)
    (tmp_path / "closed").chmod(0o000)

    with pytest.raises(AccessDenied):
        Mount("docs", tmp_path / "closed" / "in")

    (tmp_path / "closed").chmod(0o700)


def test_a_root_that_is_given_as_a_link_is_known_by_both_its_names(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)

    mount = Mount("project", tmp_path / "link")

    assert mount.given_root == tmp_path / "link"
    assert mount.root == root
    assert mount.true_root() == str(root)
    mount.close()


def test_a_root_that_is_given_relative_is_known_absolute(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)

    mount = Mount("project", Path("root"))

    assert mount.given_root == root
    mount.close()


@pytest.mark.parametrize(
    ("below", "expected"),
    [("", ""), ("/", ""), ("/a", "a"), ("/a/b/", "a/b"), ("2/a", None)],
)
def test_an_absolute_path_is_counted_from_the_root_that_it_lies_beneath(
    root: Path, tmp_path: Path, below: str, expected: str | None
) -> None:
    (tmp_path / "link").symlink_to(root)
    mount = Mount("project", tmp_path / "link")

    assert mount.path_of(f"{root}{below}") == expected
    assert mount.path_of(f"{tmp_path / 'link'}{below}") == expected
    assert mount.path_of("/elsewhere") is None
    mount.close()


def test_beneath_the_machine_s_root_lies_every_absolute_path() -> None:
    mount = Mount("machine", Path("/"))

    assert [mount.path_of(path) for path in ("/", "/etc", "/etc/passwd")] == ["", "etc", "etc/passwd"]
    mount.close()


def test_a_root_that_was_moved_is_where_it_is_now(mount: Mount, root: Path) -> None:
    root.rename(root.parent / "elsewhere")

    assert mount.true_root() == str(root.parent / "elsewhere")


def test_the_root_s_descriptor_only_names_it_and_is_not_inherited(mount: Mount) -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.listdir(mount.descriptor)

    assert not os.get_inheritable(mount.descriptor)


def test_a_closed_mount_leaves_no_descriptor_open(root: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))

    Mount("project", root).close()

    assert sorted(os.listdir("/proc/self/fd")) == before


async def test_a_pool_that_mounts_share_outlives_each_of_them(root: Path) -> None:
    pool = Pool("shared")
    mount = Mount("project", root, pool=pool)

    mount.close()

    assert mount.descriptor == -1
    assert await pool.run(lambda: "done") == "done"
    pool.close()


async def test_a_closed_mount_leads_nowhere_even_when_another_has_its_number_by_then(root: Path, outside: Path) -> None:
    (root / "secret.txt").write_text("inside\n")
    closed = Mount("project", root)
    place = await resolve(closed, "secret.txt", written="secret.txt")
    number = closed.descriptor
    closed.close()
    another = Mount("another", outside)

    with pytest.raises(Exception, match="Bad file descriptor"):
        await read(place, max_bytes=100)
    with pytest.raises(OSError, match="Bad file descriptor"):
        resolve_now(closed, "secret.txt", written="secret.txt")

    assert another.descriptor == number
    another.close()


async def test_the_descriptor_is_held_until_work_that_is_under_way_has_ended(root: Path, outside: Path) -> None:
    (root / "file").write_text("inside\n")
    mount = Mount("project", root)
    go_on = threading.Event()

    def work() -> str:
        go_on.wait(10)
        return resolve_now(mount, "file", written="file").path

    underway = mount.pool.start(work)
    mount.close()
    others = [os.open(outside, os.O_PATH) for _ in range(3)]
    go_on.set()

    assert await underway == "file"
    for descriptor in others:
        os.close(descriptor)
