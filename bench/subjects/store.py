"""The store: a point select on the road, and a record that outlasts a power cut."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator

from bench.bench import Bench
from bench.row import Row
from holdfast.store.database import Transaction
from holdfast.store.opening import open_database
from holdfast.store.uuid7 import uuid7

AT_ONCE = 32
_SELECT = "SELECT id, address, deadline FROM nodes WHERE id = {}"
_INSERT = "INSERT INTO nodes (id, address, deadline) VALUES ({}, '', 0)"


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Beside sqlite3 on its own."""
    path = bench.folder / "store.db"
    database = await open_database(path)
    direct = sqlite3.connect(bench.folder / "direct.db", isolation_level=None)
    direct.execute("PRAGMA journal_mode = WAL")
    direct.execute("PRAGMA synchronous = FULL")
    direct.execute("CREATE TABLE nodes (id TEXT PRIMARY KEY, address TEXT, deadline INT)")

    def insert(transaction: Transaction) -> None:
        transaction.run(_INSERT.format(":id"), {"id": uuid7()})

    async def at_once() -> None:
        await asyncio.gather(*(database.write(insert) for _ in range(AT_ONCE)))

    def alone() -> None:
        # As many as there are of ours in a turn, so that both are counted alike.
        for _ in range(AT_ONCE):
            direct.execute(_INSERT.format("?"), (uuid7(),))

    await database.write(lambda transaction: transaction.run(_INSERT.format(":id"), {"id": "one"}))
    direct.execute(_INSERT.format("?"), ("one",))
    try:
        yield await bench.row(
            "store: a point select",
            ours=lambda: database.row(_SELECT.format(":id"), {"id": "one"}),
            floor=("sqlite3", lambda: direct.execute(_SELECT.format("?"), ("one",)).fetchone()),
            goal=2,
            times=500,
        )
        yield await bench.row(
            "store: 32 durable records at once", ours=at_once, floor=("as many lone FULL commits", alone), goal=0.1, times=5
        )
    finally:
        direct.close()
        await database.close()
