"""What every test has: asyncio as the one event loop, patient property tests, and a count of what could not be tested."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.desk import Desk

pytest_plugins = ["tests.untested"]

settings.register_profile("holdfast", deadline=None)  # a busy machine is no bug of ours
settings.load_profile("holdfast")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator["Desk"]:
    from tests.desk import open_desk

    async with open_desk(tmp_path) as desk:
        yield desk
