"""The walk that we do ourselves where the kernel has no openat2: the same answers, and no link that is slipped in is followed."""

import errno
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.workspace import kernel
from holdfast.workspace.kernel import has_openat2, open_beneath
from tests.promises import carries
from tests.workspace.beneath import fault, held


@pytest.fixture
def here(root: Path) -> Generator[int]:
    """The root, as a mount holds it."""
    with held(root) as descriptor:
        yield descriptor


@pytest.mark.parametrize(("entry", "path"), [("dir", "dir/secret.txt"), ("secret.txt", "secret.txt")])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_PATH])
def test_without_openat2_an_entry_that_becomes_a_link_after_the_look_is_not_followed(
    root: Path, outside: Path, here: int, monkeypatch: pytest.MonkeyPatch, entry: str, path: str, flags: int
) -> None:
    (root / "dir").mkdir()
    (root / "dir" / "secret.txt").write_text("inside\n")
    (root / "secret.txt").write_text("inside\n")
    monkeypatch.setattr(kernel, "has_openat2", lambda: False)
    look = os.readlink

    def look_and_be_too_late(name: str, *, dir_fd: int) -> str:
        try:
            return look(name, dir_fd=dir_fd)
        finally:
            if name == entry:
                (root / entry).rename(root / "away")
                (root / entry).symlink_to(outside if entry == "dir" else outside / "secret.txt")

    monkeypatch.setattr(os, "readlink", look_and_be_too_late)

    assert fault(here, path, flags) in ("ELOOP", "ENOTDIR")


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(st.sampled_from(["a", "b", "c", "..", ".", ""]), min_size=1, max_size=5).map("/".join)
ENTRIES = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=3), st.one_of(st.none(), st.just(""), PATHS)), max_size=8)


def plant(root: Path, entries: list[tuple[list[str], str | None]]) -> None:
    """Make each entry that still can be made: None is a directory, "" a file, and any other text what a link says."""
    for parts, target in entries:
        entry = root.joinpath(*parts)
        if os.path.lexists(entry) or not os.path.realpath(entry.parent).startswith(str(root)):
            continue
        try:
            entry.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                entry.mkdir()
            elif not target:
                entry.touch()
            else:
                entry.symlink_to(target)
        except OSError:
            continue


def told(top: int, path: str, flags: int, *, follow: bool) -> str:
    """Which inode is opened, or which error comes of it."""
    try:
        descriptor = open_beneath(top, path, flags, follow=follow)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    try:
        return str(os.fstat(descriptor).st_ino)
    finally:
        os.close(descriptor)


@carries("PATH-6")
@pytest.mark.skipif(not has_openat2(), reason="there is nothing to compare with on a kernel without openat2")
@settings(max_examples=100)
@given(entries=ENTRIES, paths=st.lists(PATHS, min_size=1, max_size=5), follow=st.booleans())
def test_without_openat2_every_walk_has_the_same_answer(
    entries: list[tuple[list[str], str | None]], paths: list[str], follow: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, held(Path(folder)) as top, pytest.MonkeyPatch.context() as patch:
        plant(Path(os.path.realpath(folder)), entries)
        questions = [(path, flags) for path in paths for flags in (os.O_PATH, os.O_RDONLY, os.O_PATH | os.O_NOFOLLOW)]

        by_kernel = [told(top, path, flags, follow=follow) for path, flags in questions]
        patch.setattr(kernel, "has_openat2", lambda: False)
        by_us = [told(top, path, flags, follow=follow) for path, flags in questions]

        assert by_us == by_kernel
