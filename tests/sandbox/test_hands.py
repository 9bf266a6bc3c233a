"""Whose hands a command has."""

import os
from pathlib import Path

import pytest

from holdfast.sandbox.command import SandboxMount
from holdfast.sandbox.hands import hands_for, own_uid
from tests.untested import needs

from .yard import PERSON, open_yard

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")


def test_a_workspace_has_the_same_user_every_time_and_another_than_the_next() -> None:
    assert own_uid("one") == own_uid("one") != own_uid("two")
    assert own_uid("one") >= 61_184


@as_root
def test_a_root_server_takes_the_hands_of_the_owner_or_of_the_workspaces_own_user(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_PATH)
    mounts = [SandboxMount("project", tmp_path, descriptor, writable=True)]

    roots = hands_for(mounts, "workspace")
    os.chown(tmp_path, PERSON, 0)
    persons = hands_for(mounts, "workspace")
    os.close(descriptor)

    assert (roots.uid, roots.gid) == (own_uid("workspace"), own_uid("workspace"))
    assert (persons.uid, persons.gid) == (PERSON, PERSON)  # never the group of root


@as_root
@needs("bubblewrap", "commands run in it")
@pytest.mark.parametrize("owner", [None, PERSON])
async def test_a_command_of_a_root_server_may_change_what_the_owner_may_and_is_not_root(owner: int | None) -> None:
    def prepare(project: Path) -> None:
        (project / "closed").mkdir(mode=0o700)
        (project / "closed" / "file").write_text("mine\n")
        (project / "closed" / "file").chmod(0o600)

    async with open_yard(owner=owner, prepare=prepare) as yard:
        layer = yard.sandbox.new_layer()
        finished = await yard.run_in(layer, "cat closed/file && echo more >> closed/file && stat -c %U closed closed/file && id -u")

        assert finished.head == b"mine\nholdfast\nholdfast\n1000\n"
        kept = layer.upper("project") / "closed" / "file"
        assert kept.read_text() == "mine\nmore\n"
        assert kept.stat().st_uid == (owner or own_uid(yard.folder.name))
        assert (yard.project / "closed" / "file").stat().st_uid == (owner or 0)
        await yard.sandbox.discard(layer)
