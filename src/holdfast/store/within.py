"""A database with another deadline than the usual one, for whatever is done with it."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from .database import NOTHING, Database, Durability, Parameters, Row, Transaction

T = TypeVar("T")


def within(seconds: float, database: Database) -> Database:
    """The same database; every call on it ends after so many seconds."""
    return _Within(database, seconds)


class _Within:
    """A `Database` that passes everything on."""

    def __init__(self, database: Database, seconds: float) -> None:
        self._database = database
        self._seconds = seconds

    @property
    def embedded(self) -> bool:
        return self._database.embedded

    async def row(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float | None = None) -> Row | None:
        return await self._database.row(sql, parameters, deadline=deadline or self._seconds)

    async def rows(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float | None = None) -> list[Row]:
        return await self._database.rows(sql, parameters, deadline=deadline or self._seconds)

    async def scan(self, sql: str, parameters: Parameters = NOTHING, *, deadline: float | None = None) -> list[Row]:
        return await self._database.scan(sql, parameters, deadline=deadline or self._seconds)

    async def write(
        self, work: Callable[[Transaction], T], *, durability: Durability = Durability.ACKNOWLEDGED, deadline: float | None = None
    ) -> T:
        return await self._database.write(work, durability=durability, deadline=deadline or self._seconds)

    def post(
        self,
        work: Callable[[Transaction], T],
        *,
        durability: Durability = Durability.ACKNOWLEDGED,
        deadline: float | None = None,
        after: Callable[[], None] | None = None,
    ) -> asyncio.Future[T]:
        return self._database.post(work, durability=durability, deadline=deadline or self._seconds, after=after)

    async def close(self) -> None:
        await self._database.close()
