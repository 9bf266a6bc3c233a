"""What happens in many tests of the store, in a word each."""

from holdfast.store import leases, people
from holdfast.store.begin import Begun, begin
from holdfast.store.changes import Change, Write
from holdfast.store.contents import pack
from holdfast.store.database import Database, Transaction
from holdfast.store.leases import Lease
from holdfast.store.uuid7 import uuid7
from holdfast.store.versions import Origin

SOMEBODY = Origin(author="somebody")


async def new_workspace(database: Database) -> str:
    """The id of a workspace that nobody holds."""
    user = await people.add_user(database, f"{uuid7()}@example.com")
    return (await people.add_workspace(database, "sample", "/srv/sample", user.id)).id


async def held_workspace(database: Database) -> Lease:
    """The lease of a new workspace, held by a new node."""
    node = await leases.join(database, "unix:/run/first", seconds=60)
    return await leases.take(database, node, await new_workspace(database))


async def write(database: Database, lease: Lease, path: str, text: str, **how: str | bool | None) -> Begun:
    """Promise that a file gets this text."""
    change = Write(path=path, content=pack(text.encode()), **how)  # pyright: ignore[reportArgumentType] - the tests name real fields
    return await begin(database, lease, change, SOMEBODY)


async def do(database: Database, lease: Lease, change: Change) -> Begun:
    """Promise any change."""
    return await begin(database, lease, change, SOMEBODY)


def note(transaction: Transaction, text: str) -> None:
    """Write some row, for tests that do not care which."""
    transaction.run("INSERT INTO nodes (id, address, deadline) VALUES (:id, :id, 0)", {"id": text})


async def notes(database: Database) -> set[str]:
    """All texts that were noted."""
    return {text for (text,) in await database.scan("SELECT id FROM nodes WHERE deadline = 0")}
