"""No hostile command has an effect outside, whoever the server is and whosever the workspace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.untested import needs

from .attack import attack
from .hostile import LOUD, QUIET
from .yard import PERSON

CHECKOUT = Path(__file__).parent.parent.parent

pytestmark = needs("bubblewrap", "commands run in it")

# What each mode has of the floods in the suite: together all of them.
_FLOODS = list(LOUD)


def test_there_are_at_least_eighty_of_them_and_each_is_another() -> None:
    scripts = {one.script for one in QUIET} | {script for script, _ in LOUD.values()}

    assert len(scripts) == len(QUIET) + len(LOUD) >= 80


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root")
@pytest.mark.parametrize("owner", [None, PERSON], ids=["root's own workspace", "a person's workspace"])
async def test_a_root_server_keeps_all_of_them_inside(owner: int | None) -> None:
    assert await attack(owner, _FLOODS[::3] if owner else _FLOODS[1::3]) == []


def test_an_ordinary_server_keeps_all_of_them_inside() -> None:
    assert _as_a_person(_FLOODS[2::3]) == []


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root")
@pytest.mark.parametrize("owner", [None, PERSON], ids=["root's own workspace", "a person's workspace"])
async def test_a_root_server_survives_every_flood(owner: int | None) -> None:
    assert await attack(owner, _FLOODS) == []


@pytest.mark.long
def test_an_ordinary_server_survives_every_flood() -> None:
    assert _as_a_person(_FLOODS) == []


def _as_a_person(floods: list[str]) -> list[str]:
    """In an interpreter of its own, which becomes an ordinary user if it is root's."""
    words = [sys.executable, "-m", "tests.sandbox.attack", *floods]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
