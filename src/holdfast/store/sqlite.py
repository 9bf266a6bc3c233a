"""SQLite, embedded: one file of this machine, read on the loop's own thread and written by one thread."""

import asyncio
import errno
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypeVar

from holdfast.vocabulary.errors import AccessDenied, Broken, Busy, Conflict, HoldfastError, InvalidArguments, NoSpace, TooLarge
from holdfast.vocabulary.limits import MIB

from . import columns
from .database import DEADLINE_SECONDS, NOTHING, Durability, Parameters, Row, Transaction
from .migrate import migrate
from .readers import Readers
from .spelling import Spelling
from .writer import Locked, Writer

T = TypeVar("T")

_LOCK_WAIT_SECONDS = 0.1  # how long one try to begin waits; between two tries those who have given up are let go
_STATEMENTS = 512
_MAX_IDLE_WAL_BYTES = 64 * MIB  # what a burst of writes may leave behind

_ERRORS = (sqlite3.Error, UnicodeEncodeError, OverflowError)

_spell = Spelling({r" FOR (SHARE|UPDATE)( OF \w+)?": ""})


def open_sqlite(path: Path, *, deadline: float = DEADLINE_SECONDS) -> "Sqlite":
    """The database in the file `path`, made and brought up to date if need be; blocks, so call it on a thread.

    Raises:
        Busy: Another process kept it locked until the deadline.
        AccessDenied, NoSpace, Broken: The file cannot be made or used.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite would let everybody read it
    except OSError as error:
        kind = NoSpace if error.errno in (errno.ENOSPC, errno.EDQUOT) else AccessDenied
        raise kind(f"the database {path} cannot be opened: {error.strerror}", hint="Look at the data folder.") from error
    connection = _WriteConnection(path)
    try:
        connection.use_wal(until=time.monotonic() + deadline)
        migrate(connection, deadline=deadline)
        return Sqlite(path, connection)
    except sqlite3.Error as error:
        connection.close()
        raise_explained(error)
    except HoldfastError:
        connection.close()
        raise


class Sqlite:
    """A `Database` in one file."""

    embedded = True

    def __init__(self, path: Path, connection: "_WriteConnection") -> None:
        self._near = _connect(path, wait_seconds=0)
        self._near.execute("PRAGMA query_only = ON")
        self._readers = Readers(lambda: _ReadConnection(path))
        self._writer = Writer(connection)

    async def row(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> Row | None:
        """See `Database`."""
        try:
            return self._near.execute(sql, parameters).fetchone()
        except _ERRORS as error:
            self._check_locked(error)
        return await self._readers.run(lambda connection: connection.row(sql, parameters), deadline)

    async def rows(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> list[Row]:
        """See `Database`."""
        try:
            return self._near.execute(sql, parameters).fetchall()
        except _ERRORS as error:
            self._check_locked(error)
        return await self.scan(sql, parameters, deadline=deadline)

    async def scan(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> list[Row]:
        """See `Database`."""
        return await self._readers.run(lambda connection: connection.rows(sql, parameters), deadline)

    async def write(
        self,
        work: Callable[[Transaction], T],
        *,
        durability: Durability = Durability.ACKNOWLEDGED,
        deadline: float = DEADLINE_SECONDS,
    ) -> T:
        """See `Database`."""
        return await self._writer.write(work, durability, deadline)

    def post(
        self,
        work: Callable[[Transaction], T],
        *,
        durability: Durability = Durability.ACKNOWLEDGED,
        deadline: float = DEADLINE_SECONDS,
        after: Callable[[], None] | None = None,
    ) -> asyncio.Future[T]:
        """See `Database`."""
        return self._writer.post(work, durability, deadline, after)

    async def close(self) -> None:
        """See `Database`."""
        await self._writer.close()
        await self._readers.close()
        self._near.close()

    @staticmethod
    def _check_locked(error: Exception) -> None:
        """Let a lock pass, which is waited for on another thread and not on the loop's."""
        if not (isinstance(error, sqlite3.Error) and _is_locked(error)):
            raise_explained(error)


class _ReadConnection:
    """A connection that may wait, for the readers' threads."""

    broken = False

    def __init__(self, path: Path) -> None:
        self._connection = _connect(path, wait_seconds=DEADLINE_SECONDS)
        self._connection.execute("PRAGMA query_only = ON")

    def row(self, sql: str, parameters: Parameters) -> Row | None:
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def rows(self, sql: str, parameters: Parameters) -> list[Row]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except _ERRORS as error:
            raise_explained(error)

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


class _WriteConnection:
    """The connection that writes; also the `Transaction` that its requests see."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: sqlite3.Connection | None = None
        self._synchronous = Durability.ACKNOWLEDGED

    def use_wal(self, *, until: float) -> None:
        """Readers and the writer then never wait for each other; the setting stays with the file."""
        while True:
            try:
                mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                # SQLite does not wait here: its busy handler is not asked when a journal mode changes.
                if not _is_locked(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
                continue
            if mode == "wal":
                return
            raise Broken(f"the file system of {self._path} cannot share memory", hint="Put the data folder on a local disk.")

    def row(self, sql: str, parameters: Parameters = NOTHING, /) -> Row | None:
        return self._connection.execute(_spell(sql), parameters).fetchone()

    def rows(self, sql: str, parameters: Parameters = NOTHING, /) -> list[Row]:
        return self._connection.execute(_spell(sql), parameters).fetchall()

    def run(self, sql: str, parameters: Parameters = NOTHING, /) -> int:
        return self._connection.execute(_spell(sql), parameters).rowcount

    def now(self) -> int:
        return columns.now()

    def begin(self, durability: Durability, seconds: float) -> None:
        connection = self._connection
        if durability is not self._synchronous:  # cannot be changed inside a transaction
            connection.execute(f"PRAGMA synchronous = {'FULL' if durability is Durability.ACKNOWLEDGED else 'NORMAL'}")
            self._synchronous = durability
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if _is_locked(error):
                raise Locked from error
            raise

    def savepoint(self) -> None:
        self._connection.execute("SAVEPOINT request")

    def release(self) -> None:
        self._connection.execute("RELEASE request")

    def undo(self) -> None:
        self._connection.execute("ROLLBACK TO request")
        self._connection.execute("RELEASE request")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def abandon(self) -> None:
        # Closing rolls back, and is the one way out of any state that a failing disk may have left.
        self.close()

    def explained(self, error: Exception, *, committing: bool = False) -> Exception:
        return explained(error)

    def close(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = _connect(self._path, wait_seconds=_LOCK_WAIT_SECONDS)
            self._open.execute("PRAGMA foreign_keys = ON")
            self._open.execute("PRAGMA synchronous = FULL")
            self._open.execute(f"PRAGMA journal_size_limit = {_MAX_IDLE_WAL_BYTES}")
            self._synchronous = Durability.ACKNOWLEDGED
        return self._open


def _connect(path: Path, *, wait_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=wait_seconds, isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS)


def _is_locked(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    """The primary code; the rest of the bits say more than anybody here wants to know."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def raise_explained(error: Exception) -> NoReturn:
    """Raise the error for the caller, or this one when it is a bug of ours."""
    told = explained(error)
    if told is error:
        raise error
    raise told from error


def explained(error: Exception) -> Exception:
    """The error for the caller that says what this one of SQLite means."""
    if isinstance(error, UnicodeEncodeError | OverflowError):
        return InvalidArguments.of("", "a value cannot be stored", hint="Leave out broken UTF-8, and numbers of more than 64 bits.")
    if not isinstance(error, sqlite3.Error):
        return error
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_INTERRUPT:
            return Busy("the database is busy", hint="Try again.")
        case sqlite3.SQLITE_FULL:
            return NoSpace("no space left for the database", hint="Free some space, then repeat the call.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return AccessDenied(f"the database cannot be written: {error}", hint="Check the owner and the mode of the data folder.")
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_NOMEM | sqlite3.SQLITE_PROTOCOL:
            return Busy(f"the database is out of order: {error}", hint="Look at the disk and the database file, then try again.")
        case sqlite3.SQLITE_TOOBIG:
            return TooLarge("a value is too large for the database", hint="Store less at once.")
        case sqlite3.SQLITE_CONSTRAINT:
            return Conflict(f"the database refused the change: {error}", hint="Look again, then repeat the call.")
        case _:
            return error
