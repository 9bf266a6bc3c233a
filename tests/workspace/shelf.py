"""A shelf for tests: a real folder with a real store behind it, and what only the two together can show."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.store import contents, files, leases, versions
from holdfast.store.contents import pack
from holdfast.store.database import Database, Row, Transaction
from holdfast.store.leases import Lease, check_held
from holdfast.store.versions import SETTLED, Origin
from holdfast.workspace.changes import Changes
from holdfast.workspace.files import Files
from holdfast.workspace.ledger import VersionLedger
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.records import Records
from holdfast.workspace.recovery import RecoveryReport, recover
from holdfast.workspace.resolve import resolve_now
from holdfast.workspace.sight import Sight


@dataclass
class Shelf:
    """One mount with its store, as the process that holds it has them."""

    root: Path
    mount: Mount
    database: Database
    records: Records
    ledger: VersionLedger
    files: Files
    more: Mapping[str, Mount] = field(default_factory=dict[str, Mount])

    def at(self, path: str, *, follow: bool = True) -> Place:
        """The place of a path of the project."""
        return resolve_now(self.mount, path, written=f"/{path}", follow=follow)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write a file behind the store's back."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    async def rows(self, sql: str) -> list[Row]:
        """What the store has, straight from its tables."""
        return await self.database.scan(sql)

    async def kinds(self, file_id: str) -> list[str]:
        """The kinds of a file's versions, the oldest first."""
        return [version.kind for version in reversed(await self.files.history(file_id))]

    async def add_virtual(self, path: str, text: str, *, content_kind: str = "text") -> str:
        """A virtual file, as a session makes them; returns its id."""
        return await add_virtual(self.database, self.records.lease, path, text, content_kind=content_kind)

    async def crash_and_recover(self) -> tuple["Shelf", RecoveryReport]:
        """What a process finds that takes the workspace over after this one was killed in the middle of things."""
        again = shelved(
            self.mount, self.database, await taken_over(self.database, self.records.lease.workspace_id), self.records.content_folder
        )
        return again, await recover(again.ledger, {"project": self.mount, **self.more})


async def add_virtual(database: Database, lease: Lease, path: str, text: str, *, content_kind: str = "text") -> str:
    """A virtual file, as a session makes them; returns its id."""
    content = pack(text.encode(), content_kind=content_kind)

    def work(transaction: Transaction) -> str:
        check_held(transaction, lease)
        file_id = files.add(transaction, lease, "project", path, file_type="chat", is_virtual=True)
        contents.put(transaction, content)
        row = files.by_id(transaction, lease, file_id)
        assert row is not None
        versions.add(transaction, lease, row, Origin(), kind="write", state=SETTLED, body=content, before_path=None)
        return file_id

    return await database.write(work)


async def taken_over(database: Database, workspace_id: str) -> Lease:
    """The lease of a workspace whose holder is known to be gone."""
    node = await leases.join(database, "unix:/run/next", seconds=60)
    return await leases.take(database, node, workspace_id, holder_is_gone=True)


def shelved(mount: Mount, database: Database, lease: Lease, content_folder: Path) -> Shelf:
    records = Records(database, lease, content_folder)
    ledger = VersionLedger(records)
    return Shelf(mount.root, mount, database, records, ledger, Files(Sight(), Changes(ledger), records, {"project": mount}))


@asynccontextmanager
async def opened_shelf(mount: Mount, database: Database, lease: Lease, content_folder: Path) -> AsyncGenerator[Shelf]:
    shelf = shelved(mount, database, lease, content_folder)
    try:
        yield shelf
    finally:
        await shelf.files.changes.finish()
        await shelf.ledger.close()
