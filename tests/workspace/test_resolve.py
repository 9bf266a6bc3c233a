"""`resolve`, the one gate: what it lets through, where that is, and everything that it refuses."""

import os
import socket
import time
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import AccessDenied, HoldfastError, InvalidPath, NotDirectory, NotFound, Outside, SpecialFile
from holdfast.workspace import kernel
from holdfast.workspace.mount import Mount
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve, resolve_now
from tests.promises import carries

pytestmark = pytest.mark.usefixtures("kernels")


async def where(mount: Mount, path: str, *, follow: bool = True) -> str:
    return (await resolve(mount, path, written=path, follow=follow)).path


async def refusal(mount: Mount, path: str, *, follow: bool = True) -> HoldfastError:
    with pytest.raises(HoldfastError) as caught:
        await resolve(mount, path, written=path, follow=follow)
    return caught.value


async def test_what_is_there_is_a_place(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.md").touch()

    assert await where(mount, "docs/a.md") == "docs/a.md"
    assert await where(mount, "docs") == "docs"
    assert await where(mount, "") == ""


async def test_what_is_not_there_yet_is_a_place_too(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()

    assert await where(mount, "docs/new.md") == "docs/new.md"
    assert await where(mount, "docs/new/deep/er/file") == "docs/new/deep/er/file"
    assert await where(mount, "new") == "new"


@pytest.mark.parametrize("depth", range(6))
async def test_below_a_link_new_names_are_counted_from_where_it_leads(mount: Mount, root: Path, depth: int) -> None:
    (root / "true" / "1" / "2").mkdir(parents=True)
    (root / "link").symlink_to("true")
    parts = ["link", "1", "2", "3", "4", "5"][: depth + 1]

    assert await where(mount, "/".join(parts)) == "/".join(["true", *parts[1:]])


async def test_a_link_that_stays_inside_is_followed_once_and_the_place_is_where_it_led(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.md").touch()
    (root / "to-file").symlink_to("docs/a.md")
    (root / "docs" / "to-root").symlink_to("..")

    assert await where(mount, "to-file") == "docs/a.md"
    assert await where(mount, "docs/to-root") == ""
    assert await where(mount, "docs/to-root/docs/to-root/to-file") == "docs/a.md"


async def test_without_follow_the_last_link_is_meant_itself_and_those_before_it_are_followed(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "link").symlink_to("/etc/passwd")
    (root / "dir").symlink_to("docs")
    (root / "top").symlink_to("missing")

    assert await where(mount, "docs/link", follow=False) == "docs/link"
    assert await where(mount, "dir/link", follow=False) == "docs/link"
    assert await where(mount, "top", follow=False) == "top"
    assert await where(mount, "dir", follow=False) == "dir"
    assert await where(mount, "dir/new", follow=False) == "docs/new"


@carries("PATH-2")
@pytest.mark.parametrize("target", ["../outside", "{outside}", "/", "..", "docs/../../outside", "{root}/../outside", "/proc/self/root"])
@pytest.mark.parametrize("below", ["", "/secret.txt", "/new", "/new/file"])
async def test_a_link_that_leads_out_is_outside(mount: Mount, root: Path, outside: Path, target: str, below: str) -> None:
    (root / "docs").mkdir()
    (root / "link").symlink_to(target.format(outside=outside, root=root))

    assert isinstance(await refusal(mount, f"link{below}"), Outside)


async def test_without_follow_a_link_that_leads_out_is_still_outside_for_what_is_below_it(mount: Mount, root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)

    assert isinstance(await refusal(mount, "link/secret.txt", follow=False), Outside)


@carries("PATH-2")
async def test_a_link_into_a_link_that_leads_out_is_outside(mount: Mount, root: Path, outside: Path) -> None:
    (root / "one").symlink_to("two/secret.txt")
    (root / "two").symlink_to(outside)

    assert isinstance(await refusal(mount, "one"), Outside)


@carries("PATH-3")
async def test_an_absolute_link_back_inside_is_outside_and_the_hint_says_why(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "link").symlink_to(root / "docs")

    error = await refusal(mount, "link")

    assert isinstance(error, Outside)
    assert "absolute" in error.hint


@pytest.mark.parametrize("path", ["..", "../outside/secret.txt", "docs/../..", "/etc/passwd"])
async def test_a_path_that_nobody_has_cleaned_is_outside_all_the_same(mount: Mount, root: Path, outside: Path, path: str) -> None:
    (root / "docs").mkdir()

    assert isinstance(await refusal(mount, path), Outside)


@pytest.mark.parametrize("below", ["", "/new", "/new/file"])
async def test_a_link_that_leads_nowhere_is_not_found(mount: Mount, root: Path, below: str) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "link").symlink_to("missing")

    error = await refusal(mount, f"docs/link{below}")

    assert isinstance(error, NotFound)
    assert error.facts["path"] == "docs/link"


@pytest.mark.parametrize("target", ["../new", "/tmp/holdfast-new", "{outside}/new"])
async def test_a_link_that_leads_nowhere_outside_is_outside(mount: Mount, root: Path, outside: Path, target: str) -> None:
    (root / "link").symlink_to(target.format(outside=outside))

    assert isinstance(await refusal(mount, "link"), Outside)
    assert isinstance(await refusal(mount, "link/below"), Outside)


@pytest.mark.parametrize("path", ["one", "one/below", "self", "self/a/b/c"])
async def test_links_in_a_circle_are_outside(mount: Mount, root: Path, path: str) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "self").symlink_to("self/self")

    assert isinstance(await refusal(mount, path), Outside)


@pytest.mark.parametrize("path", ["file/below", "file/below/deeper", "link/below", "fifo/below"])
async def test_what_is_below_something_that_is_no_directory_is_not_directory(mount: Mount, root: Path, path: str) -> None:
    (root / "file").touch()
    (root / "link").symlink_to("file")
    os.mkfifo(root / "fifo")

    assert isinstance(await refusal(mount, path), NotDirectory)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("file/below", "file/below"),
        ("file/below/deeper", "file/below/deeper"),
        ("link/below", "file/below"),
        ("dir/file/below", "dir/file/below"),
        ("to-dir/file/below/x", "dir/file/below/x"),
        ("dir/new", "dir/new"),
    ],
)
async def test_where_it_is_asked_for_what_would_be_below_a_file_is_a_place_too(mount: Mount, root: Path, path: str, expected: str) -> None:
    (root / "file").touch()
    (root / "link").symlink_to("file")
    (root / "dir").mkdir()
    (root / "dir" / "file").touch()
    (root / "to-dir").symlink_to("dir")

    assert (await resolve(mount, path, written=path, below_files=True)).path == expected


@pytest.mark.parametrize("path", ["out/x", "out/x/y", "loop/x", "dangling/x", "dir/../../x"])
async def test_what_leads_out_or_nowhere_is_refused_below_files_as_well(mount: Mount, root: Path, outside: Path, path: str) -> None:
    (root / "out").symlink_to(outside / "secret.txt")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("missing")
    (root / "dir").mkdir()

    with pytest.raises((Outside, NotFound)):
        await resolve(mount, path, written=path, below_files=True)


@carries("PATH-2")
@pytest.mark.parametrize("path", ["self/root/etc/passwd", "self/cwd", "self/exe", "self/fd/0", "self/root", "thread-self/root/new"])
async def test_a_magic_link_is_outside(path: str) -> None:
    mount = Mount("proc", Path("/proc"))

    error = await refusal(mount, path)

    mount.close()
    assert isinstance(error, Outside)


@carries("PATH-4")
@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
async def test_a_fifo_socket_or_device_is_a_place_that_is_refused_without_being_opened(mount: Mount, root: Path, kind: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    if kind == "fifo":
        os.mkfifo(root / "special")
    elif kind == "socket":
        listener.bind(str(root / "special"))
    else:
        mount = Mount("dev", Path("/dev"))
    place = await resolve(mount, "null" if kind == "device" else "special", written=kind)

    started = time.monotonic()
    with pytest.raises(SpecialFile):
        await read(place, max_bytes=10)

    assert time.monotonic() - started < 30  # far less than for ever
    listener.close()
    if kind == "device":
        mount.close()


@carries("PATH-1")
async def test_a_path_of_4_kib_whose_names_do_not_exist_is_a_place(mount: Mount) -> None:
    path = "/".join(["a"] * 2000)

    assert await where(mount, path) == path


async def test_a_path_of_two_thousand_new_names_takes_few_looks(mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    open_beneath = kernel.open_beneath

    def counted(root: int, path: str, flags: int, *, mode: int = 0, follow: bool = True, cached: bool = False) -> int:
        nonlocal looks
        looks += 1
        return open_beneath(root, path, flags, mode=mode, follow=follow, cached=cached)

    monkeypatch.setattr("holdfast.workspace.resolve.open_beneath", counted)

    await resolve(mount, "/".join(["a"] * 2000), written="a/…")

    assert looks < 50


@carries("PATH-1")
async def test_a_name_that_the_disk_cannot_hold_is_an_invalid_path(mount: Mount) -> None:
    assert isinstance(await refusal(mount, "n" * 256), InvalidPath)
    assert isinstance(await refusal(mount, "/".join(["n" * 200] * 30)), InvalidPath)


@carries("PATH-1", "FS-HOST-3")
@pytest.mark.parametrize("below", ["", "/a.md", "/new"])
async def test_a_link_to_a_name_that_is_not_utf_8_is_an_invalid_path(mount: Mount, root: Path, below: str) -> None:
    os.mkdir(os.fsencode(root) + b"/caf\xe9")
    os.symlink(b"caf\xe9", os.fsencode(root) + b"/link")
    os.close(os.open(os.fsencode(root) + b"/caf\xe9/a.md", os.O_CREAT | os.O_WRONLY))

    assert isinstance(await refusal(mount, f"link{below}"), InvalidPath)


@carries("PATH-9")
async def test_a_name_of_255_bytes_is_a_place(mount: Mount) -> None:
    assert await where(mount, "é" * 127 + "n") == "é" * 127 + "n"


async def test_a_root_that_is_moved_away_is_still_the_same_root(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("here")
    (root / "link").symlink_to("docs")
    os.rename(root, root.parent / "elsewhere")
    os.mkdir(root)

    assert await where(mount, "link/a.md") == "docs/a.md"
    assert (await read(await resolve(mount, "link/a.md", written=""), max_bytes=10)).text == "here"


async def test_a_root_that_is_replaced_by_a_link_is_still_the_same_root(mount: Mount, root: Path, outside: Path) -> None:
    (root / "secret.txt").write_text("inside\n")
    os.rename(root, root.parent / "elsewhere")
    os.symlink(outside, root)

    part = await read(await resolve(mount, "secret.txt", written=""), max_bytes=100)

    assert part.text == "inside\n"


async def test_in_a_root_that_is_removed_nothing_is_found(mount: Mount, root: Path) -> None:
    os.rmdir(root)

    place = await resolve(mount, "file", written="file")

    with pytest.raises(NotFound):
        await read(place, max_bytes=10)


async def test_a_place_that_becomes_a_link_after_it_was_checked_is_outside(mount: Mount, root: Path, outside: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "secret.txt").write_text("inside\n")
    place = await resolve(mount, "docs/secret.txt", written="docs/secret.txt")
    (root / "docs").rename(root / "away")
    (root / "docs").symlink_to(outside)

    with pytest.raises(Outside):
        await read(place, max_bytes=100)


async def test_a_place_that_becomes_a_link_to_the_inside_after_it_was_checked_is_outside_too(mount: Mount, root: Path) -> None:
    (root / "file").write_text("checked")
    (root / ".env").write_text("KEY=1")
    place = await resolve(mount, "file", written="file")
    (root / "file").unlink()
    (root / "file").symlink_to(".env")

    with pytest.raises(Outside):
        await read(place, max_bytes=100)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
async def test_a_folder_that_we_may_not_look_into_is_access_denied(mount: Mount, root: Path) -> None:
    (root / "closed").mkdir(mode=0o000)

    error = await refusal(mount, "closed/file")

    (root / "closed").chmod(0o700)
    assert isinstance(error, AccessDenied)


async def test_the_place_keeps_what_was_written_for_messages(mount: Mount) -> None:
    assert str(await resolve(mount, "a/b", written="./a//b")) == "./a//b"


def test_on_this_thread_the_answer_is_the_same(mount: Mount, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "link").symlink_to("docs")

    assert resolve_now(mount, "link/new", written="link/new").path == "docs/new"


async def test_no_descriptor_is_left_open_whatever_comes_of_it(mount: Mount, root: Path, outside: Path) -> None:
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("missing")
    (root / "file").touch()
    (root / "link").symlink_to("file")
    before = len(os.listdir("/proc/self/fd"))

    for path in ("out/x", "loop", "dangling", "dangling/x", "file/x", "..", "n" * 256):
        await refusal(mount, path)
    for path in ("file", "link", "", "new", "new/er"):
        await where(mount, path)

    assert len(os.listdir("/proc/self/fd")) == before
