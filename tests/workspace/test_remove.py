"""Removing files, links and empty folders."""

import os
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import InvalidArguments, NotEmpty, NotFound, SpecialFile, StaleHash
from holdfast.workspace.change import Verb
from holdfast.workspace.changes import Changes
from holdfast.workspace.entry import Kind
from holdfast.workspace.mount import Mount
from holdfast.workspace.remove import remove
from tests.promises import carries
from tests.workspace.writing import Recording, at, everything, sha256


async def test_a_file_is_removed(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"x")

    removed = await remove(Changes(), at(mount, "a"))

    assert everything(root) == {}
    assert (removed.kind, removed.size) == (Kind.FILE, 1)


async def test_an_empty_folder_is_removed(mount: Mount, root: Path) -> None:
    (root / "a").mkdir()

    removed = await remove(Changes(), at(mount, "a"))

    assert everything(root) == {}
    assert removed.kind is Kind.DIRECTORY


@carries("ENGINE-7")
async def test_a_folder_with_something_in_it_stays(mount: Mount, root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    ledger = Recording()

    with pytest.raises(NotEmpty):
        await remove(Changes(ledger), at(mount, "a"))

    assert everything(root) == {"a": None, "a/b": None}
    assert ledger.heard == []


async def test_a_link_is_removed_itself_and_not_what_it_leads_to(mount: Mount, root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)

    await remove(Changes(), at(mount, "link", follow=False))

    assert everything(root) == {}
    assert everything(outside) == {"secret.txt": b"outside\n"}


@carries("ENGINE-7")
async def test_nothing_a_fifo_and_a_root_cannot_be_removed(mount: Mount, root: Path) -> None:
    os.mkfifo(root / "fifo")

    with pytest.raises(NotFound):
        await remove(Changes(), at(mount, "missing"))
    with pytest.raises(NotFound):
        await remove(Changes(), at(mount, "missing/below"))
    with pytest.raises(SpecialFile):
        await remove(Changes(), at(mount, "fifo"))
    with pytest.raises(InvalidArguments):
        await remove(Changes(), at(mount, ""))

    assert everything(root) == {"fifo": None}


@carries("ENGINE-5")
async def test_a_removal_made_from_an_old_reading_removes_nothing(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"newer")

    with pytest.raises(StaleHash):
        await remove(Changes(), at(mount, "a"), only_if=sha256(b"older"))
    assert everything(root) == {"a": b"newer"}

    await remove(Changes(), at(mount, "a"), only_if=sha256(b"newer"))
    assert everything(root) == {}


async def test_a_file_that_changes_after_the_check_is_looked_at_again(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"old")
    ledger = Recording(root / "a", b"by somebody else")

    with pytest.raises(StaleHash):
        await remove(Changes(ledger), at(mount, "a"), only_if=sha256(b"old"))

    assert everything(root) == {"a": b"by somebody else"}
    assert ledger.heard == ["pending", "aborted Again"]


async def test_a_ledger_that_keeps_things_can_read_the_bytes_first(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"kept")
    ledger = Recording(durable=True)

    await remove(Changes(ledger), at(mount, "a"))

    (change,) = ledger.changes
    assert change.before is not None
    assert (change.verb, change.after, change.before.sha256) == (Verb.REMOVE, None, sha256(b"kept"))
    assert ledger.contents == [(b"kept", None)]
