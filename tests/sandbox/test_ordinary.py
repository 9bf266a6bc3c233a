"""Developers' ordinary commands work inside a sandbox, really run."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from holdfast.sandbox.command import Tier
from tests.untested import needs

from .ordinary import ORDINARY, Ordinary
from .yard import Yard, open_yard

PACKAGES = Path(pytest.__file__).parent.parent


@pytest.fixture(scope="module")
async def yard() -> AsyncGenerator[Yard]:
    async with open_yard(read_only={"packages": PACKAGES}) as yard:
        yield yard


def _each() -> list[object]:
    return [
        pytest.param(
            one, id=one.name, marks=[needs("bubblewrap", "commands run in it"), *([needs(one.package, "it is run")] if one.package else [])]
        )
        for one in ORDINARY
    ]


@pytest.mark.parametrize("ordinary", _each())
async def test_an_ordinary_command_does_what_it_does_outside(yard: Yard, ordinary: Ordinary) -> None:
    assert yard.sandbox.tier is Tier.LAYERED, yard.sandbox.lacks

    finished = await yard.run(_placed(ordinary.script, yard))

    assert (finished.exit_code, finished.head.decode().strip()) == (0, _placed(ordinary.says, yard))
    assert (yard.project / "notes.txt").read_text() == "first\n"


def _placed(text: str, yard: Yard) -> str:
    return text.replace("PROJECT", str(yard.project)).replace("PACKAGES", str(PACKAGES))
