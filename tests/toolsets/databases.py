"""The desk of the toolsets that remember: on SQLite, and on PostgreSQL."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from tests.desk import Desk, open_desk
from tests.store.postgres import fresh_database, running_server

__all__ = ["database_url", "desk", "shared_postgres"]


@pytest.fixture(scope="session")
def shared_postgres() -> Iterator[str]:
    """One database for all tests of a worker: each has a workspace of its own."""
    with running_server() as server, fresh_database(server) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Where the store is, which the settings are told of; None is in the home folder."""
    url: str | None = request.getfixturevalue("shared_postgres") if request.param == "postgres" else None
    if url is None:
        monkeypatch.delenv("HOLDFAST_DATABASE_URL", raising=False)
    else:
        monkeypatch.setenv("HOLDFAST_DATABASE_URL", url)
    return url


@pytest.fixture
async def desk(tmp_path: Path, database_url: str | None) -> AsyncGenerator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk
