"""PostgreSQL, by URL: the same SQL, read on a few connections and written on one.

psycopg is imported when a database is opened, and never before.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from holdfast.vocabulary.errors import AccessDenied, Busy, Conflict, InvalidArguments, NoSpace, TooLarge

from .database import DEADLINE_SECONDS, NOTHING, Durability, Parameters, Row, Transaction
from .migrate import migrate
from .readers import Readers
from .spelling import Spelling
from .writer import Writer, unknown

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

# A holder that was stopped in the middle of a transaction must not keep its workspace's row from the next one.
_IDLE_SECONDS = 3.0

_spell = Spelling({r"(?<!:):([a-z_]+)": r"%(\1)s", r"COLLATE BINARY": 'COLLATE "C"'})


def open_postgres(url: str, *, deadline: float = DEADLINE_SECONDS) -> "Postgres":
    """The database at `url`, brought up to date if need be; blocks, so call it on a thread.

    Raises:
        Busy: It cannot be reached; the message says why, without the password.
        Broken: It was made by a newer Holdfast.
    """
    connection = _WriteConnection(url)
    try:
        migrate(connection, deadline=deadline)
    except BaseException:
        connection.close()
        raise
    return Postgres(url, connection)


class Postgres:
    """A `Database` on a server."""

    embedded = False

    def __init__(self, url: str, connection: "_WriteConnection") -> None:
        self._readers = Readers(lambda: _ReadConnection(url))
        self._writer = Writer(connection)

    async def row(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> Row | None:
        """See `Database`."""
        return await self._readers.run(lambda connection: connection.row(sql, parameters, deadline), deadline)

    async def rows(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> list[Row]:
        """See `Database`."""
        return await self._readers.run(lambda connection: connection.rows(sql, parameters, deadline), deadline)

    scan = rows

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


class _ReadConnection:
    """A connection for one reader at a time; each statement is a transaction of its own."""

    def __init__(self, url: str) -> None:
        self._connection = _connect(url)
        self._seconds = 0.0

    @property
    def broken(self) -> bool:
        return self._connection.closed

    def row(self, sql: str, parameters: Parameters, seconds: float) -> Row | None:
        return self._cursor(sql, parameters, seconds).fetchone()

    def rows(self, sql: str, parameters: Parameters, seconds: float) -> list[Row]:
        return self._cursor(sql, parameters, seconds).fetchall()

    def interrupt(self) -> None:
        """Nothing to do: the server itself stops a statement at its deadline."""

    def close(self) -> None:
        self._connection.close()

    def _cursor(self, sql: str, parameters: Parameters, seconds: float) -> "psycopg.Cursor[Row]":
        try:
            if seconds != self._seconds:
                self._connection.execute(b"SET statement_timeout = %d" % _milliseconds(seconds))
                self._seconds = seconds
            return _execute(self._connection, sql, parameters)
        except Exception as error:
            told = explained(error)
            if told is error:
                raise
            raise told from error


class _WriteConnection:
    """The connection that writes; also the `Transaction` that its requests see."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._open: psycopg.Connection[Row] | None = None
        self._release_due = False

    def row(self, sql: str, parameters: Parameters = NOTHING, /) -> Row | None:
        return _execute(self._connection, sql, parameters).fetchone()

    def rows(self, sql: str, parameters: Parameters = NOTHING, /) -> list[Row]:
        return _execute(self._connection, sql, parameters).fetchall()

    def run(self, sql: str, parameters: Parameters = NOTHING, /) -> int:
        return _execute(self._connection, sql, parameters).rowcount

    def now(self) -> int:
        row = self.row("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")
        assert row is not None
        return row[0]

    def begin(self, durability: Durability, seconds: float) -> None:
        used_before = self._open is not None
        statements = b"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = %d" % _milliseconds(seconds)
        if durability is Durability.RECORDED:
            statements += b"; SET LOCAL synchronous_commit = off"
        self._release_due = False
        try:
            self._connection.execute(statements)
        except Exception:
            # It broke while it lay idle, as all connections do when a server restarts: a new one may serve.
            if not used_before or not self._connection.closed:
                raise
            self.close()
            self._connection.execute(statements)

    def savepoint(self) -> None:
        self._connection.execute(b"RELEASE request; SAVEPOINT request" if self._release_due else b"SAVEPOINT request")
        self._release_due = False

    def release(self) -> None:
        self._release_due = True  # with the next savepoint, in one journey; a commit needs none

    def undo(self) -> None:
        self._connection.execute(b"ROLLBACK TO request; RELEASE request")

    def commit(self) -> None:
        import psycopg

        # A transaction that has failed is rolled back by COMMIT, and that is no error to PostgreSQL.
        if self._connection.execute(b"COMMIT").statusmessage != "COMMIT":
            raise psycopg.OperationalError("the transaction was rolled back")

    def abandon(self) -> None:
        self.close()

    def explained(self, error: Exception, *, committing: bool = False) -> Exception:
        told = explained(error)
        if committing and isinstance(told, Busy):
            return unknown(f"the database went away while it committed: {told.message}")
        return told

    def close(self) -> None:
        if self._open is not None:
            with suppress(Exception):
                self._open.close()
        self._open = None

    @property
    def _connection(self) -> "psycopg.Connection[Row]":
        if self._open is None:
            self._open = _connect(self._url)
        return self._open


def _connect(url: str) -> "psycopg.Connection[Row]":
    """A new connection, on which no lost peer is waited for much longer than a deadline.

    Raises:
        Busy: The server cannot be reached, or does not let us in.
    """
    import psycopg

    milliseconds = _milliseconds(DEADLINE_SECONDS)
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            application_name="holdfast",
            connect_timeout=int(DEADLINE_SECONDS),
            keepalives_idle=int(DEADLINE_SECONDS),
            tcp_user_timeout=milliseconds,
        )
        connection.execute(b"SET idle_in_transaction_session_timeout = %d" % _milliseconds(_IDLE_SECONDS))
        row = connection.execute(b"SHOW synchronous_commit").fetchone()
        if row == ("off",):  # a server may be set up so; what we acknowledge must be on its disk
            connection.execute(b"SET synchronous_commit = on")
    except psycopg.Error as error:
        raise Busy(f"the database cannot be reached: {_without_secrets(str(error), url)}", hint="Look at the server and the URL.") from None
    return connection


def _execute(connection: "psycopg.Connection[Row]", sql: str, parameters: Parameters) -> "psycopg.Cursor[Row]":
    return connection.execute(_spell(sql).encode(), parameters or None, binary=True)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1_000))


def _without_secrets(message: str, url: str) -> str:
    """The message without anything that stands in the URL before the host, nor a password given elsewhere in it."""
    import psycopg.conninfo

    try:
        secret = psycopg.conninfo.conninfo_to_dict(url).get("password")
    except psycopg.Error:
        return "the URL cannot be understood"
    if secret:
        message = message.replace(str(secret), "…")
    return re.sub(r"//[^/@\s]*@", "//…@", message.replace(url, "the URL")).strip()


def explained(error: Exception) -> Exception:
    """The error for the caller that says what this one of PostgreSQL means."""
    import psycopg
    from psycopg import errors

    match error:
        case UnicodeEncodeError() | psycopg.DataError():
            return InvalidArguments.of("", "a value cannot be stored", hint="Leave out NUL and broken UTF-8.")
        case errors.DiskFull():
            return NoSpace("no space left for the database", hint="Free some space on its server, then repeat the call.")
        case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
            return AccessDenied(f"the database cannot be written: {_first_line(error)}", hint="Check the rights of its user.")
        case errors.IdleInTransactionSessionTimeout():
            return Busy("the database gave us up", hint="Try again.")
        case errors.QueryCanceled() | errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            return Busy("the database is busy", hint="Try again.")
        case errors.ProgramLimitExceeded():
            return TooLarge("a value is too large for the database", hint="Store less at once.")
        case psycopg.IntegrityError():
            return Conflict(f"the database refused the change: {_first_line(error)}", hint="Look again, then repeat the call.")
        case psycopg.OperationalError():
            return Busy(f"the database is out of order: {_first_line(error)}", hint="Look at the server, then try again.")
        case _:
            return error


def _first_line(error: Exception) -> str:
    """Without the details, in which PostgreSQL quotes values."""
    return str(error).partition("\n")[0]
