"""What the store's tests have: a database of either kind, and a workspace in it whose lease they hold."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.opening import open_database
from tests.store.postgres import drop_left, emptied_database, fresh_database, running_server
from tests.store.scene import held_workspace


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with running_server() as url:
        yield url
        drop_left(url)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def emptied_postgres_url(postgres_server: str) -> Iterator[str]:
    with emptied_database(postgres_server) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/holdfast.db"


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Where there is a database without anything in it, or room for one."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "emptied_postgres_url")


@pytest.fixture
async def database(address: str) -> AsyncIterator[Database]:
    opened = await open_database(address)
    yield opened
    await opened.close()


@pytest.fixture
async def lease(database: Database) -> Lease:
    """The lease of a new and empty workspace."""
    return await held_workspace(database)
