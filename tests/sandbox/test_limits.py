"""What bounds a command beside its namespaces: control groups where the machine has them, and guards everywhere."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.sandbox.cgroup import find_groups
from holdfast.sandbox.discard import remove
from holdfast.sandbox.guard import size_of
from tests.untested import needs

from .yard import SMALL, open_yard

_MIB = 1024 * 1024
# Memory that belongs to files, which no process has mapped; taken once the command has lasted long enough to be in a group.
_UNMAPPED = """/usr/bin/python3 - <<'END'
import os, time
time.sleep(0.5)
f = os.memfd_create("x")
for _ in range(200): os.write(f, bytes(1048576))
time.sleep(20)
END
"""


@needs("bubblewrap", "commands run in it")
async def test_memory_that_no_process_has_mapped_counts_where_the_machine_has_control_groups() -> None:
    if find_groups() is None:
        pytest.skip("the machine has no control groups that we may write to")
    async with open_yard(limits=replace(SMALL, memory_bytes=100 * _MIB, file_bytes=1024 * _MIB)) as yard:
        finished = await yard.run(_UNMAPPED, seconds=20)

    assert finished.reason == "memory"


@needs("bubblewrap", "commands run in it")
async def test_no_control_group_is_left_after_commands_that_end_fail_or_are_cancelled() -> None:
    before = _groups()
    async with open_yard() as yard:
        await yard.run("true")
        running = asyncio.ensure_future(yard.run("sleep 100"))
        await asyncio.sleep(0.1)
        running.cancel()
        await asyncio.wait([running])
        for cwd in ("nowhere", "not/there"):
            with pytest.raises(Exception, match="not there"):
                await yard.run("true", cwd=cwd)

    assert _groups() - before == set()


def test_a_tree_is_measured_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(b"x" * 50_000)
    (tmp_path / "link").symlink_to("/usr")

    assert 50_000 <= size_of(tmp_path) < 200_000


def test_a_tree_deeper_than_any_path_is_removed_and_what_its_links_lead_to_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    tree = tmp_path / "tree"
    tree.mkdir()
    here = os.open(tree, os.O_RDONLY)
    for number in range(3000):
        os.mkdir("d" * 50, dir_fd=here)
        os.symlink(outside, f"link{number}", dir_fd=here)
        inner = os.open("d" * 50, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.mkdir("closed", 0o000, dir_fd=here)
    os.close(here)

    remove(tree)

    assert not tree.exists()
    assert (outside / "file").read_text() == "stays"


def test_a_link_in_the_place_of_a_layer_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    (tmp_path / "layer").symlink_to(outside)

    with pytest.raises(NotADirectoryError):
        remove(tmp_path / "layer")

    assert (outside / "file").read_text() == "stays"


def _groups() -> set[str]:
    groups = find_groups()
    if groups is None:
        return set()
    mine = f"holdfast-{os.getpid()}-*"
    return {str(path) for folder in groups.folders.values() for path in folder.glob(mine)}
