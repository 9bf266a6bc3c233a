"""`open_beneath`: the kernel keeps the walk beneath a directory, or we do it in its stead, with the same answers."""

import errno
import os
import stat
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.workspace import kernel
from holdfast.workspace.kernel import RENAME_EXCHANGE, RENAME_NOREPLACE, WouldBlock, open_beneath, rename_beneath
from tests.promises import carries
from tests.workspace.beneath import content, fault, held


@pytest.fixture
def here(root: Path) -> Generator[int]:
    """The root, as a mount holds it."""
    with held(root) as descriptor:
        yield descriptor


@pytest.fixture
def top(here: int, kernels: None) -> int:
    """The same, for a test that runs with openat2 and without."""
    return here


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_file_below_is_opened(root: Path, top: int) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("here")

    assert content(top, "a/b/file") == "here"
    assert content(top, "a/b/file", follow=False) == "here"


def test_the_empty_path_is_the_root_itself(root: Path, top: int) -> None:
    descriptor = open_beneath(top, "", os.O_PATH)

    assert os.fstat(descriptor).st_ino == root.stat().st_ino
    os.close(descriptor)


def test_what_is_not_there_is_enoent(top: int) -> None:
    assert fault(top, "missing") == "ENOENT"
    assert fault(top, "missing/below") == "ENOENT"


@carries("PATH-2")
@pytest.mark.parametrize("path", ["..", "../outside/secret.txt", "a/../../outside/secret.txt", "/etc/passwd", "/", "a/../.."])
def test_a_path_that_leaves_the_root_is_exdev(root: Path, outside: Path, top: int, path: str) -> None:
    (root / "a").mkdir()

    assert fault(top, path) == "EXDEV"
    assert fault(top, path, os.O_PATH) == "EXDEV"


def test_a_path_that_goes_up_and_stays_inside_is_opened(root: Path, top: int) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "file").write_text("here")

    assert content(top, "a/b/../../file") == "here"


def test_links_that_stay_inside_are_followed(root: Path, top: int) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "file").write_text("here")
    (root / "a" / "b" / "up").symlink_to("../..")
    (root / "direct").symlink_to("a/b/up/file")

    assert content(top, "a/b/up/file") == "here"
    assert content(top, "direct") == "here"


def test_without_follow_a_link_anywhere_on_the_way_is_eloop(root: Path, top: int) -> None:
    (root / "dir").mkdir()
    (root / "dir" / "file").write_text("here")
    (root / "to-dir").symlink_to("dir")
    (root / "to-file").symlink_to("dir/file")

    assert fault(top, "to-dir/file", follow=False) == "ELOOP"
    assert fault(top, "to-file", follow=False) == "ELOOP"
    assert fault(top, "to-file", os.O_PATH, follow=False) == "ELOOP"


@carries("PATH-2", "PATH-3")
@pytest.mark.parametrize("target", ["../outside", "{outside}", "{root}/dir", "dir/../../outside", "/", ".."])
def test_a_link_that_leaves_the_root_or_is_absolute_is_exdev(root: Path, outside: Path, top: int, target: str) -> None:
    (root / "dir").mkdir()
    (root / "dir" / "secret.txt").write_text("inside")
    (root / "link").symlink_to(target.format(outside=outside, root=root))

    assert fault(top, "link/secret.txt") == "EXDEV"
    assert fault(top, "link", os.O_PATH) == "EXDEV"


def test_a_link_that_leads_nowhere_is_enoent(root: Path, top: int) -> None:
    (root / "link").symlink_to("missing")

    assert fault(top, "link") == "ENOENT"
    assert fault(top, "link/below") == "ENOENT"


def test_links_in_a_circle_are_eloop(root: Path, top: int) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")

    assert fault(top, "one") == "ELOOP"
    assert fault(top, "one/below") == "ELOOP"


def test_forty_links_in_a_row_are_followed_and_one_more_is_eloop(root: Path, top: int) -> None:
    (root / "0").write_text("here")
    for number in range(1, 42):
        (root / str(number)).symlink_to(str(number - 1))

    assert content(top, "40") == "here"
    assert fault(top, "41") == "ELOOP"


def test_with_o_path_and_o_nofollow_a_link_is_named_itself(root: Path, top: int) -> None:
    (root / "link").symlink_to("missing")

    descriptor = open_beneath(top, "link", os.O_PATH | os.O_NOFOLLOW, follow=False)

    assert stat.S_ISLNK(os.fstat(descriptor).st_mode)
    os.close(descriptor)


@pytest.mark.parametrize("path", ["file/below", "file/", "file/."])
def test_a_file_that_is_used_as_a_directory_is_enotdir(root: Path, top: int, path: str) -> None:
    (root / "file").write_text("")

    assert fault(top, path) == "ENOTDIR"


@carries("PATH-2")
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("path", ["root/etc/passwd", "cwd", "exe", "fd/0"])
def test_a_magic_link_is_not_followed(path: str) -> None:
    with held(Path("/proc/self")) as top:
        assert fault(top, path, os.O_PATH) in ("ELOOP", "EXDEV")


@carries("PATH-9")
def test_a_name_of_255_bytes_is_opened_and_one_of_256_is_enametoolong(root: Path, top: int) -> None:
    (root / ("n" * 255)).write_text("long")

    assert content(top, "n" * 255) == "long"
    assert fault(top, "n" * 256) == "ENAMETOOLONG"


def test_a_new_file_gets_the_mode_that_was_asked_for(root: Path, top: int) -> None:
    os.close(open_beneath(top, "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=0o600))

    assert stat.S_IMODE((root / "new").stat().st_mode) == 0o600


def test_creating_through_a_link_that_leads_nowhere_inside_makes_its_target(root: Path, top: int) -> None:
    (root / "link").symlink_to("target")

    os.close(open_beneath(top, "link", os.O_WRONLY | os.O_CREAT, mode=0o600))

    assert (root / "link").is_symlink()
    assert (root / "target").is_file()


def test_creating_through_a_link_that_leads_nowhere_outside_makes_nothing(root: Path, outside: Path, top: int) -> None:
    (root / "relative").symlink_to("../outside/new")
    (root / "absolute").symlink_to(outside / "new")

    assert fault(top, "relative", os.O_WRONLY | os.O_CREAT) == "EXDEV"
    assert fault(top, "absolute", os.O_WRONLY | os.O_CREAT) == "EXDEV"
    assert not (outside / "new").exists()


def test_creating_a_file_that_must_be_new_does_not_follow_a_link(root: Path, top: int) -> None:
    (root / "link").symlink_to("target")

    assert fault(top, "link", os.O_WRONLY | os.O_CREAT | os.O_EXCL) == "EEXIST"
    assert not (root / "target").exists()


def test_creating_without_follow_does_not_follow_a_link(root: Path, top: int) -> None:
    (root / "link").symlink_to("target")

    assert fault(top, "link", os.O_WRONLY | os.O_CREAT, follow=False) == "ELOOP"
    assert not (root / "target").exists()


def test_a_descriptor_is_never_inherited_by_a_command(root: Path, top: int) -> None:
    (root / "file").write_text("")

    descriptors = [open_beneath(top, path, os.O_RDONLY) for path in ("file", "")]

    assert [os.get_inheritable(descriptor) for descriptor in descriptors] == [False, False]
    for descriptor in descriptors:
        os.close(descriptor)


def test_no_descriptor_is_left_open_whatever_comes_of_it(root: Path, outside: Path, top: int) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "file").write_text("")
    (root / "a" / "out").symlink_to(outside)
    (root / "a" / "loop").symlink_to("loop")
    before = open_descriptors()

    for path in ("a/file", "a/b", "a/b/missing/x", "a/b/../../..", "a/out/x", "a/loop", "a/file/x", ""):
        try:
            os.close(open_beneath(top, path, os.O_PATH))
        except OSError:
            continue

    assert open_descriptors() == before


def test_a_link_put_in_the_way_during_the_walk_never_leads_out(root: Path, outside: Path, top: int) -> None:
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("inside\n")
    (root / "way").mkdir()
    (root / "way" / "secret.txt").write_text("inside\n")
    stop = threading.Event()

    def swap() -> None:
        (root / "link").symlink_to(outside)
        while not stop.is_set():
            kernel.rename_beneath(top, "way", top, "link", flags=RENAME_EXCHANGE)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    for _ in range(2000):
        try:
            seen.add(content(top, "way/secret.txt"))
        except OSError as error:
            seen.add(errno.errorcode[error.errno or 0])
    stop.set()
    swapping.join()

    assert "outside\n" not in seen
    assert seen <= {"inside\n", "EXDEV", "ENOTDIR", "ELOOP", "EAGAIN"}


def test_a_cached_walk_that_is_in_memory_answers_at_once(root: Path, here: int) -> None:
    (root / "file").write_text("here")
    os.close(open_beneath(here, "file", os.O_PATH))

    descriptor = open_beneath(here, "file", os.O_RDONLY, cached=True)

    assert os.read(descriptor, 10) == b"here"
    os.close(descriptor)


def test_a_cached_walk_that_may_create_would_block(root: Path, here: int) -> None:
    with pytest.raises(WouldBlock):
        open_beneath(here, "new", os.O_WRONLY | os.O_CREAT, mode=0o600, cached=True)

    assert not (root / "new").exists()


def test_on_a_kernel_without_resolve_cached_a_cached_walk_would_block(root: Path, here: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "file").write_text("")
    unknown_to_the_kernel = 1 << 40
    monkeypatch.setattr(kernel, "_RESOLVE_CACHED", unknown_to_the_kernel)

    with pytest.raises(WouldBlock):
        open_beneath(here, "file", os.O_RDONLY, cached=True)


def test_on_a_kernel_without_openat2_a_cached_walk_would_block(root: Path, here: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "file").write_text("")
    monkeypatch.setattr(kernel, "has_openat2", lambda: False)

    with pytest.raises(WouldBlock):
        open_beneath(here, "file", os.O_RDONLY, cached=True)


def test_a_rename_that_must_not_replace_leaves_both_as_they_were(root: Path, here: int) -> None:
    (root / "old").write_text("old")
    (root / "new").write_text("new")

    with pytest.raises(FileExistsError):
        rename_beneath(here, "old", here, "new", flags=RENAME_NOREPLACE)

    assert (root / "old").read_text() == "old"
    assert (root / "new").read_text() == "new"


def test_a_rename_that_exchanges_swaps_both(root: Path, here: int) -> None:
    (root / "old").write_text("old")
    (root / "new").write_text("new")

    rename_beneath(here, "old", here, "new", flags=RENAME_EXCHANGE)

    assert (root / "old").read_text() == "new"
    assert (root / "new").read_text() == "old"


def test_a_plain_rename_replaces(root: Path, here: int) -> None:
    (root / "old").write_text("old")
    (root / "new").write_text("new")

    rename_beneath(here, "old", here, "new")

    assert not (root / "old").exists()
    assert (root / "new").read_text() == "old"
