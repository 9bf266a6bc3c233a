"""What every test has: asyncio as the one event loop, patient property tests, and a count of what could not be tested."""

import pytest
from hypothesis import settings

pytest_plugins = ["tests.untested"]

settings.register_profile("holdfast", deadline=None)  # a busy machine is no bug of ours
settings.load_profile("holdfast")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
