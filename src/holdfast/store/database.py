"""What the store asks of a database: reading rows, and writing them in groups.

The SQL is the same for every driver: named parameters (`:name`),
`RETURNING`, `ON CONFLICT`. `FOR SHARE`, `FOR UPDATE` and `COLLATE BINARY`
mean the same everywhere; a driver spells or drops them as its database
needs.
"""

import asyncio
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeAlias, TypeVar

Value: TypeAlias = bool | int | float | str | bytes | None
Parameters: TypeAlias = Mapping[str, Value]
Row: TypeAlias = tuple[Any, ...]

T = TypeVar("T")

DEADLINE_SECONDS = 5.0
NOTHING: Parameters = {}


class Durability(Enum):
    """What a finished write survives: ACKNOWLEDGED the power going off, RECORDED at least the end of the process."""

    ACKNOWLEDGED = "acknowledged"
    RECORDED = "recorded"


class Transaction(Protocol):
    """Reading and writing inside one write request: all of it happens, or nothing."""

    def row(self, sql: str, parameters: Parameters = NOTHING, /) -> Row | None:
        """The first row, or None."""
        ...

    def rows(self, sql: str, parameters: Parameters = NOTHING, /) -> list[Row]:
        """All rows."""
        ...

    def run(self, sql: str, parameters: Parameters = NOTHING, /) -> int:
        """Do it, and return how many rows it touched."""
        ...

    def now(self) -> int:
        """The time by the clock that all processes on this database share, in microseconds."""
        ...


class Database(Protocol):
    """One database, open. Every call ends by its deadline, in `Busy` if need be."""

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this machine, so that `flock` shows who is alive."""
        ...

    async def row(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> Row | None:
        """The first row, or None: for reads by an index, which run where they are asked for."""
        ...

    async def rows(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> list[Row]:
        """All rows of a short answer, read like `row`."""
        ...

    async def scan(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float = DEADLINE_SECONDS) -> list[Row]:
        """All rows of an answer that may be long, read on another thread."""
        ...

    async def write(
        self,
        work: Callable[[Transaction], T],
        *,
        durability: Durability = Durability.ACKNOWLEDGED,
        deadline: float = DEADLINE_SECONDS,
    ) -> T:
        """Run `work` in a transaction, and return what it returns once that is durable.

        It shares one commit with whatever else is waiting, each in a
        savepoint of its own. What `work` raises undoes its own changes
        and is raised here. A caller that is cancelled before `work` has
        started leaves no trace; afterwards the change may have happened.

        Raises:
            Busy: The deadline passed. Nothing was done, unless its facts say `outcome: unknown`.
            NoSpace, AccessDenied: The disk is full, or may not be written.
        """
        ...

    def post(
        self,
        work: Callable[[Transaction], T],
        *,
        durability: Durability = Durability.ACKNOWLEDGED,
        deadline: float = DEADLINE_SECONDS,
        after: Callable[[], None] | None = None,
    ) -> asyncio.Future[T]:
        """Run `work` as `write` does, whether or not somebody waits for it.

        `after` is called when it is committed, before anybody is told; it
        holds up all other writing, so it must be quick.
        """
        ...

    async def close(self) -> None:
        """Finish what is waiting, then give everything back."""
        ...
