"""The files and folders that the store knows: where each is, and its newest version.

A path is counted from its mount's root, without a slash in front; ""
is the root itself, which has no row. An active row is one that has not
been deleted; a path has at most one of them.
"""

from dataclasses import dataclass
from posixpath import basename, dirname
from typing import NamedTuple

from .columns import insert, now
from .database import Database, Row, Transaction
from .leases import Lease, check_held
from .uuid7 import uuid7

PROJECT = "project"
FOLDER = "folder"
DOCUMENT = "document"

_FEW = 1_000  # what may be listed on the loop's thread
_ENDLESS = 2**62
_INDEXED = 500  # how many characters of a path the index holds; see the migration


@dataclass(frozen=True)
class File:
    """A row of `files`, with its newest version from `heads`, if it has one."""

    id: str
    workspace_id: str
    mount: str
    path: str
    name: str
    display_name: str
    file_type: str
    parent_id: str
    created_at: int
    updated_at: int
    deleted_at: int | None
    version_id: str | None
    number: int | None
    content_kind: str | None
    hash: str | None
    size: int | None
    is_virtual: bool

    @property
    def is_folder(self) -> bool:
        return self.file_type == FOLDER


_FILE = (
    "SELECT f.id, f.workspace_id, f.mount, f.path, f.name, f.display_name, f.file_type, f.parent_id, f.created_at, f.updated_at,"
    " f.deleted_at, h.version_id, h.number, h.content_kind, h.hash, h.size, f.is_virtual FROM files f LEFT JOIN heads h ON h.file_id = f.id"
)
_ACTIVE = f"{_FILE} WHERE f.workspace_id = :workspace_id AND f.mount = :mount AND f.deleted_at IS NULL"
# Not `f.path = :path`: SQLite would put the parameter into the other condition as well, and then not see its index.
_BY_PATH = f"{_ACTIVE} AND substr(f.path, 1, 500) = :start AND substr(f.path, 501) = :rest"
_BY_ID = f"{_FILE} WHERE f.workspace_id = :workspace_id AND f.id = :id"
_INSERT = insert(
    "files", "id, workspace_id, mount, path, name, display_name, file_type, is_virtual, parent_id, epoch, created_at, updated_at"
)
_BELOW = "substr(path, 1, 500) >= :start AND substr(path, 1, 500) <= :stop AND path > :above AND path < :beyond"


async def find(database: Database, workspace_id: str, path: str, *, mount: str = PROJECT) -> File | None:
    """The active file or folder at a path."""
    row = await database.row(_BY_PATH, {"workspace_id": workspace_id, "mount": mount, **split_path(path)})
    return _file(row) if row else None


async def get(database: Database, workspace_id: str, file_id: str) -> File | None:
    """The file with that id, deleted or not."""
    row = await database.row(_BY_ID, {"workspace_id": workspace_id, "id": file_id})
    return _file(row) if row else None


async def children(database: Database, workspace_id: str, folder: File | None, *, mount: str = PROJECT) -> list[File]:
    """What is active directly in a folder, or in the mount's root, by name."""
    sql = f"{_ACTIVE} AND f.parent_id = :parent_id AND f.name > :after ORDER BY f.name LIMIT :limit"
    values = {"workspace_id": workspace_id, "mount": mount, "parent_id": folder.id if folder else ""}
    rows = await database.rows(sql, {**values, "after": "", "limit": _FEW})
    if len(rows) == _FEW:
        rows += await database.scan(sql, {**values, "after": rows[-1][4], "limit": _ENDLESS})
    return [_file(row) for row in rows]


async def below(
    database: Database,
    workspace_id: str,
    path: str,
    *,
    mount: str = PROJECT,
    after: str = "",
    limit: int = _ENDLESS,
) -> list[File]:
    """What is active at any depth below a folder, by path; `after` is the last path of the page before."""
    sql = f"{_ACTIVE} AND {_BELOW.replace('path', 'f.path')} AND f.path > :after ORDER BY substr(f.path, 1, 500), f.path LIMIT :limit"
    bounds = _bounds(path)
    bounds["start"] = max(bounds["start"], after[:_INDEXED])
    values = {"workspace_id": workspace_id, "mount": mount, "after": after, "limit": limit}
    rows = await database.scan(sql, {**values, **bounds})
    return [_file(row) for row in rows]


class Known(NamedTuple):
    """A path of the store, and what kind of thing is there: all that most questions about many files need."""

    path: str
    is_folder: bool
    is_virtual: bool


async def known_below(database: Database, workspace_id: str, path: str, *, mount: str = PROJECT) -> list[Known]:
    """What is active at any depth below a folder, in no particular order; far cheaper than `below`."""
    sql = (
        "SELECT path, file_type, is_virtual FROM files WHERE workspace_id = :workspace_id AND mount = :mount AND deleted_at IS NULL"
        f" AND {_BELOW} AND path > :after ORDER BY substr(path, 1, 500), path LIMIT :limit"
    )
    values = {"workspace_id": workspace_id, "mount": mount, **_bounds(path)}
    rows = await database.rows(sql, {**values, "after": "", "limit": _FEW})
    if len(rows) == _FEW:
        last: str = rows[-1][0]
        rows += await database.scan(sql, {**values, "start": max(values["start"], last[:_INDEXED]), "after": last, "limit": _ENDLESS})
    return [Known(found, file_type == FOLDER, bool(is_virtual)) for found, file_type, is_virtual in rows]


async def of_type(database: Database, workspace_id: str, file_type: str, *, mount: str = PROJECT) -> list[File]:
    """What is active and of that type, by path."""
    rows = await database.scan(
        f"{_ACTIVE} AND f.file_type = :file_type ORDER BY f.path",
        {"workspace_id": workspace_id, "mount": mount, "file_type": file_type},
    )
    return [_file(row) for row in rows]


async def deleted(database: Database, workspace_id: str, *, limit: int = 1_000) -> list[File]:
    """What can be undeleted, the latest deletion first."""
    rows = await database.scan(
        f"{_FILE} WHERE f.workspace_id = :workspace_id AND f.deleted_at IS NOT NULL AND h.version_id IS NOT NULL"
        " ORDER BY f.deleted_at DESC, f.id DESC LIMIT :limit",
        {"workspace_id": workspace_id, "limit": limit},
    )
    return [_file(row) for row in rows]


async def touch(database: Database, lease: Lease, file_id: str) -> int:
    """Say that the file was looked after now, without a version; returns when."""
    at = now()

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        transaction.run(
            "UPDATE files SET updated_at = :now, epoch = :epoch WHERE workspace_id = :workspace_id AND id = :id",
            {"now": at, "epoch": lease.epoch, "workspace_id": lease.workspace_id, "id": file_id},
        )

    await database.write(work)
    return at


# Inside a transaction, for whoever changes files


def active(transaction: Transaction, lease: Lease, mount: str, path: str) -> File | None:
    """The active file or folder at a path."""
    row = transaction.row(_BY_PATH, {"workspace_id": lease.workspace_id, "mount": mount, **split_path(path)})
    return _file(row) if row else None


def by_id(transaction: Transaction, lease: Lease, file_id: str) -> File | None:
    """The file with that id, deleted or not."""
    row = transaction.row(_BY_ID, {"workspace_id": lease.workspace_id, "id": file_id})
    return _file(row) if row else None


def add(
    transaction: Transaction,
    lease: Lease,
    mount: str,
    path: str,
    *,
    file_type: str,
    display_name: str = "",
    is_virtual: bool = False,
    parent_id: str | None = None,
) -> str:
    """A new row at a path that has none, with folders above it as they are needed; returns its id."""
    file_id = uuid7()
    name = basename(path)
    at = now()
    transaction.run(
        _INSERT,
        {
            "id": file_id,
            "workspace_id": lease.workspace_id,
            "mount": mount,
            "path": path,
            "name": name,
            "display_name": display_name or name,
            "file_type": file_type,
            "is_virtual": is_virtual,
            "parent_id": folder_id(transaction, lease, mount, dirname(path)) if parent_id is None else parent_id,
            "epoch": lease.epoch,
            "created_at": at,
            "updated_at": at,
        },
    )
    return file_id


def folder_id(transaction: Transaction, lease: Lease, mount: str, path: str) -> str:
    """The id of the folder at `path`, made with those above it when the store does not know it.

    A file that the store still has there is retired: whoever asks has a
    folder there on the disk.
    """
    if not path:
        return ""
    there = active(transaction, lease, mount, path)
    if there is not None and there.is_folder:
        return there.id
    if there is not None:
        retire(transaction, lease, there)
    return add(transaction, lease, mount, path, file_type=FOLDER)


def place_at(transaction: Transaction, lease: Lease, moved: File, path: str) -> None:
    """Make the row active at `path`, and everything active below it go along."""
    name = basename(path)
    transaction.run(
        "UPDATE files SET path = :path, name = :name, display_name = :display_name, parent_id = :parent_id, deleted_at = NULL,"
        " updated_at = :now, epoch = :epoch WHERE id = :id",
        {
            "id": moved.id,
            "path": path,
            "name": name,
            "display_name": name if moved.display_name == moved.name else moved.display_name,
            "parent_id": folder_id(transaction, lease, moved.mount, dirname(path)),
            "now": now(),
            "epoch": lease.epoch,
        },
    )
    if moved.is_folder and path != moved.path:
        transaction.run(
            f"UPDATE files SET path = :target || substr(path, :rest), epoch = :epoch"
            f" WHERE workspace_id = :workspace_id AND mount = :mount AND deleted_at IS NULL AND {_BELOW}",
            {
                "target": path,
                "rest": len(moved.path) + 1,
                "epoch": lease.epoch,
                "workspace_id": lease.workspace_id,
                "mount": moved.mount,
                **_bounds(moved.path),
            },
        )


def dress(transaction: Transaction, lease: Lease, changed: File, *, file_type: str | None, display_name: str | None) -> None:
    """Give the row this type and this name, where they are not None, and the time of now."""
    transaction.run(
        "UPDATE files SET file_type = :file_type, display_name = :display_name, updated_at = :now, epoch = :epoch WHERE id = :id",
        {
            "id": changed.id,
            "file_type": file_type or changed.file_type,
            "display_name": display_name or changed.display_name,
            "now": now(),
            "epoch": lease.epoch,
        },
    )


def retire(transaction: Transaction, lease: Lease, gone: File) -> None:
    """Mark the row as deleted, and everything below it."""
    values = {"now": now(), "epoch": lease.epoch}
    transaction.run("UPDATE files SET deleted_at = :now, epoch = :epoch WHERE id = :id AND deleted_at IS NULL", {**values, "id": gone.id})
    if gone.is_folder:
        transaction.run(
            f"UPDATE files SET deleted_at = :now, epoch = :epoch"
            f" WHERE workspace_id = :workspace_id AND mount = :mount AND deleted_at IS NULL AND {_BELOW}",
            {**values, "workspace_id": lease.workspace_id, "mount": gone.mount, **_bounds(gone.path)},
        )


def retire_empty(transaction: Transaction, lease: Lease, mount: str, path: str) -> bool:
    """Retire a folder that nothing active is in; whether it was one."""
    folder = active(transaction, lease, mount, path)
    if folder is None or not folder.is_folder:
        return False
    taken = transaction.row(
        "SELECT id FROM files WHERE workspace_id = :workspace_id AND mount = :mount AND parent_id = :parent_id"
        " AND deleted_at IS NULL LIMIT 1",
        {"workspace_id": lease.workspace_id, "mount": mount, "parent_id": folder.id},
    )
    if taken is None:
        retire(transaction, lease, folder)
    return taken is None


def split_path(path: str) -> dict[str, str]:
    """A path as the statements take it: what the index holds of it, and the rest."""
    return {"start": path[:_INDEXED], "rest": path[_INDEXED:]}


def _bounds(path: str) -> dict[str, str]:
    """Between what the paths below `path` lie, by all of their characters and by those that the index holds."""
    if not path:
        return {"above": "", "beyond": "\U0010ffff", "start": "", "stop": "\U0010ffff"}
    above, beyond = f"{path}/", f"{path}0"  # "0" is what follows "/"
    return {"above": above, "beyond": beyond, "start": above[:_INDEXED], "stop": beyond[:_INDEXED]}


def _file(row: Row) -> File:
    return File(*row[:-1], is_virtual=bool(row[-1]))
