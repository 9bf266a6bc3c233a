"""Brings a database up to date: numbered `.sql` files, each applied once, in one transaction.

Any number of processes may start at once: row 0 of `migrations` is
locked while one of them looks and applies, and the others then find
that there is nothing left to do.
"""

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from holdfast.vocabulary.errors import Broken, Busy, Conflict

from .database import Durability
from .writer import Locked, WriteConnection

_STATEMENT_SECONDS = 60.0  # the first start after an update may have a large table to rebuild

_TABLE = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"
_ROW_0 = "INSERT INTO migrations (number, name, applied_at) VALUES (0, 'lock', 0) ON CONFLICT (number) DO NOTHING"


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All steps that this version of Holdfast knows, in order."""
    found: list[Migration] = []
    for file in files("holdfast.store").joinpath("migrations").iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, file.read_text()))
    return sorted(found, key=lambda migration: migration.number)


def migrate(connection: WriteConnection, *, deadline: float, known: list[Migration] | None = None) -> None:
    """Apply what is missing.

    Raises:
        Busy: Another process kept the database locked until the deadline.
        Broken: The database was made by a newer Holdfast.
    """
    steps = migrations() if known is None else known
    until = time.monotonic() + deadline
    while True:
        try:
            finished = _take_step(connection, steps)
        except Locked:
            if time.monotonic() > until:
                raise Busy("another process keeps the database locked", hint="Try again.", seconds=deadline) from None
            continue
        except Exception as error:
            connection.abandon()
            told = connection.explained(error)
            if not isinstance(told, Conflict) or time.monotonic() > until:
                raise told from error
            # PostgreSQL: two processes made the table at the same moment, and one of them is refused.
            continue
        if finished:
            return


def _take_step(connection: WriteConnection, steps: list[Migration]) -> bool:
    """Apply the next missing step, if any, and return whether that was the last."""
    connection.begin(Durability.ACKNOWLEDGED, _STATEMENT_SECONDS)
    connection.run(_TABLE)
    connection.run(_ROW_0)
    connection.row("SELECT number FROM migrations WHERE number = 0 FOR UPDATE")
    applied = {int(number) for (number,) in connection.rows("SELECT number FROM migrations WHERE number > 0")}
    if applied - {step.number for step in steps}:
        raise Broken("the database was made by a newer Holdfast", hint="Update Holdfast, or name another database.", newest=max(applied))
    missing = [step for step in steps if step.number not in applied]
    if missing:
        for statement in _statements(missing[0].sql):
            connection.run(statement)
        values = {"number": missing[0].number, "name": missing[0].name, "now": connection.now()}
        connection.run("INSERT INTO migrations (number, name, applied_at) VALUES (:number, :name, :now)", values)
    connection.commit()
    return len(missing) <= 1


def _statements(sql: str) -> Iterator[str]:
    """The statements of a file, one by one: a database does not take a whole file inside a transaction."""
    statement = ""
    for line in sql.splitlines():
        if not statement and (not line.strip() or line.startswith("--")):
            continue
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
