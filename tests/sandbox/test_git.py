"""git in a layer: who only looks changes nothing, and what has changed is seen."""

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.sandbox.layer import Layer
from tests.sandbox.yard import Yard, open_yard
from tests.untested import needs

pytestmark = [needs("bubblewrap", "commands run in it"), needs("git", "it is what is looked at")]

_LOOKS = "git status; git diff; git diff --stat HEAD; git log --stat; git describe --always --dirty; git ls-files -m"
_LONG_AGO = 1_600_000_000


@pytest.mark.parametrize("script", _LOOKS.split("; "))
async def test_looking_at_a_repository_has_no_effect(script: str) -> None:
    async with open_yard(prepare=_repository) as yard:
        layer = yard.sandbox.new_layer()

        finished = await yard.run_in(layer, script)

        assert finished.exit_code == 0, finished.head
        assert _written(layer) == []


async def test_a_change_that_keeps_the_size_of_a_file_is_seen_and_can_be_committed() -> None:
    async with open_yard(prepare=_repository) as yard:
        changed = await _said(yard, "sed -i s/first/f1rst/ notes.txt; git diff --stat | tail -1; git ls-files -m")
        committed = await _said(
            yard,
            "echo 2 > notes.txt; git add . && git -c user.name=a -c user.email=a@b commit -qm 2; git status -s; git log --oneline | wc -l",
        )

    assert changed == "1 file changed, 1 insertion(+), 1 deletion(-)\nnotes.txt"
    assert committed == "2"


async def test_a_file_that_was_only_touched_is_not_shown_as_changed() -> None:
    async with open_yard(prepare=_repository) as yard:
        assert await _said(yard, "touch notes.txt; git diff --name-only; git status -s") == ""


async def _said(yard: Yard, script: str) -> str:
    return (await yard.run(script)).head.decode().strip()


def _written(layer: Layer) -> list[str]:
    upper = layer.upper("project")
    return [str(path.relative_to(upper)) for path in upper.rglob("*") if not path.is_dir()]


def _repository(project: Path) -> None:
    """Made by a person, and left alone for a while."""
    os.utime(project / "notes.txt", (_LONG_AGO, _LONG_AGO))
    mine = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    for words in ("init -q", "add .", "commit -qm 1"):
        subprocess.run(["git", *words.split()], cwd=project, check=True, env={**os.environ, **mine})
