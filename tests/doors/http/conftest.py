"""One real server for all tests of the door in a worker: on SQLite, and one on PostgreSQL."""

from collections.abc import Iterator

import httpx
import pytest

from tests.doors.http.talking import start_talking
from tests.served import Served, serving
from tests.store.conftest import postgres_server
from tests.store.postgres import fresh_database

__all__ = ["postgres_server"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """On SQLite. It is shared: a test uses names of its own."""
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Served]:
    """On PostgreSQL."""
    with fresh_database(postgres_server) as url, serving(tmp_path_factory.mktemp("served-postgres"), database_url=url) as served:
        yield served


@pytest.fixture(scope="session")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One whose model is a script. It is shared: a test uses sessions of its own."""
    served = start_talking(tmp_path_factory.mktemp("talking"))
    yield served
    served.close()


@pytest.fixture(params=["server", "postgres"])
def either(request: pytest.FixtureRequest) -> Served:
    """The server on SQLite, then the one on PostgreSQL."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def client(server: Served) -> httpx.Client:
    """The local user."""
    return server.client()


@pytest.fixture(scope="session")
def nobody(server: Served) -> httpx.Client:
    """Somebody without a token."""
    return server.client(None)
