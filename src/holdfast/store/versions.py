"""What each file was, from its first version to its newest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.vocabulary.errors import NotFound

from . import audit, contents, files
from .columns import insert, now
from .contents import Content
from .database import Database, Durability, Row, Transaction
from .leases import Lease, check_held
from .uuid7 import uuid7

PENDING = "pending"
SETTLED = "settled"
ABORTED = "aborted"

_ENDLESS = 2**62


@dataclass(frozen=True)
class Origin:
    """Who changes something, and in which call.

    A request that is repeated with the same `key` finds the version that
    the first one made.
    """

    author: str = ""
    session_id: str = ""
    call_id: str = ""
    key: str | None = None


@dataclass(frozen=True)
class Version:
    """A row of `versions`.

    `hash` and `size` are those of the file by this version; a removed file
    keeps those of its last content. `before_path` is None when the file
    was not there before, `folders_made` how many folders above it were not.
    """

    id: str
    workspace_id: str
    file_id: str
    branch: str
    number: int
    kind: str
    state: str
    mount: str
    path: str
    before_path: str | None
    content_kind: str
    hash: str | None
    size: int | None
    mode: int | None
    inode: str
    author: str
    session_id: str
    call_id: str
    key: str | None
    epoch: int
    created_at: int
    folders_made: int = 0


_COLUMNS = (
    "id, workspace_id, file_id, branch, number, kind, state, mount, path, before_path, content_kind, hash, size, mode, inode,"
    " author, session_id, call_id, key, epoch, created_at, folders_made"
)
_VERSION = f"SELECT {_COLUMNS} FROM versions"
_INSERT = insert("versions", _COLUMNS)
_LAST_NUMBER = "SELECT COALESCE(max(number), 0) FROM versions WHERE file_id = :id AND branch = 'main'"
_NONE: Row = (0,)
_PUT_HEAD = (
    f"{insert('heads', 'file_id, version_id, number, content_kind, hash, size')} ON CONFLICT (file_id)"
    " DO UPDATE SET version_id = excluded.version_id, number = excluded.number, content_kind = excluded.content_kind,"
    " hash = excluded.hash, size = excluded.size"
)


async def get(database: Database, workspace_id: str, version_id: str) -> Version | None:
    """The version with that id."""
    row = await database.row(
        f"{_VERSION} WHERE id = :id AND workspace_id = :workspace_id", {"id": version_id, "workspace_id": workspace_id}
    )
    return Version(*row) if row else None


async def history(database: Database, workspace_id: str, file_id: str, *, before: int | None = None, limit: int = 100) -> list[Version]:
    """The versions of a file, the newest first; `before` is the number that the page before ended with."""
    rows = await database.rows(
        f"{_VERSION} WHERE file_id = :file_id AND workspace_id = :workspace_id AND branch = 'main' AND number < :before"
        " ORDER BY number DESC LIMIT :limit",
        {"file_id": file_id, "workspace_id": workspace_id, "before": before or _ENDLESS, "limit": limit},
    )
    return [Version(*row) for row in rows]


async def of_session(database: Database, workspace_id: str, session_id: str, *, after: str = "", limit: int = 1_000) -> list[Version]:
    """What a session changed, in order; `after` is the id that the page before ended with."""
    rows = await database.scan(
        f"{_VERSION} WHERE workspace_id = :workspace_id AND session_id = :session_id AND id > :after ORDER BY id LIMIT :limit",
        {"workspace_id": workspace_id, "session_id": session_id, "after": after, "limit": limit},
    )
    return [Version(*row) for row in rows]


async def of_call(database: Database, workspace_id: str, call_id: str, *, after: str = "", limit: int = 1_000) -> list[Version]:
    """What a call changed, in order; `after` is the id that the page before ended with."""
    rows = await database.scan(
        f"{_VERSION} WHERE workspace_id = :workspace_id AND call_id = :call_id AND id > :after ORDER BY id LIMIT :limit",
        {"workspace_id": workspace_id, "call_id": call_id, "after": after, "limit": limit},
    )
    return [Version(*row) for row in rows]


async def content(database: Database, shown: Version) -> Content | None:
    """What the file consisted of by this version; None when it has no content, or when that is no longer kept."""
    if shown.hash is None or shown.size is None:
        return None
    return await contents.get(database, shown.hash, size=shown.size, content_kind=shown.content_kind)


async def newest_pending(database: Database, lease: Lease) -> list[Version]:
    """For the new holder of a workspace: what earlier holders had promised and not settled, the newest of each path."""
    rows = await database.scan(
        f"{_VERSION} WHERE workspace_id = :workspace_id AND state = 'pending' AND epoch < :epoch ORDER BY epoch, id",
        {"workspace_id": lease.workspace_id, "epoch": lease.epoch},
    )
    newest = {(found.mount, found.path): found for found in (Version(*row) for row in rows)}
    return list(newest.values())


async def settle(database: Database, lease: Lease, version_ids: Sequence[str]) -> None:
    """Say that these versions are on the disk for good, and with them what was pending at the same places before them."""

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        for version_id in version_ids:
            _settle(transaction, lease, version_id)

    # A mark that a power cut undoes is made again by the recovery.
    await database.write(work, durability=Durability.RECORDED)


async def abort(database: Database, lease: Lease, version_id: str, *, entry: audit.Entry | None = None) -> None:
    """Say that a pending version never reached the disk: the file is again what and where it was before.

    Raises:
        NotFound: There is no such version, or it is no longer pending.
    """

    def work(transaction: Transaction) -> None:
        check_held(transaction, lease)
        _abort(transaction, lease, version_id)
        if entry is not None:
            audit.put(transaction, entry)

    await database.write(work)


# Inside a transaction, for whoever changes files


def by_key(transaction: Transaction, lease: Lease, key: str) -> Version | None:
    """The version that an earlier request with that key made."""
    row = transaction.row(f"{_VERSION} WHERE workspace_id = :workspace_id AND key = :key", {"workspace_id": lease.workspace_id, "key": key})
    return Version(*row) if row else None


class Body(Protocol):
    """What a version says of the content: a `Content`, or a `File` for what stays as it is."""

    @property
    def content_kind(self) -> str | None: ...
    @property
    def hash(self) -> str | None: ...
    @property
    def size(self) -> int | None: ...


class Versioned(Protocol):
    """A file, as far as a version tells of it."""

    @property
    def id(self) -> str: ...
    @property
    def mount(self) -> str: ...
    @property
    def path(self) -> str: ...


def add(
    transaction: Transaction,
    lease: Lease,
    changed: Versioned,
    origin: Origin,
    *,
    kind: str,
    body: Body | None,
    before_path: str | None,
    state: str = PENDING,
    mode: int | None = None,
    inode: str = "",
    folders_made: int = 0,
    is_first: bool = False,
) -> Version:
    """The next version of a file, which is its head from now on."""
    row = _NONE if is_first else transaction.row(_LAST_NUMBER, {"id": changed.id})
    assert row is not None
    made = Version(
        id=uuid7(),
        workspace_id=lease.workspace_id,
        file_id=changed.id,
        branch="main",
        number=row[0] + 1,
        kind=kind,
        state=state,
        mount=changed.mount,
        path=changed.path,
        before_path=before_path,
        content_kind=(body.content_kind if body else None) or "none",
        hash=body.hash if body else None,
        size=body.size if body else None,
        mode=mode,
        inode=inode,
        author=origin.author,
        session_id=origin.session_id,
        call_id=origin.call_id,
        key=origin.key,
        epoch=lease.epoch,
        created_at=now(),
        folders_made=folders_made,
    )
    transaction.run(_INSERT, vars(made))
    _set_head(transaction, made)
    return made


def _set_head(transaction: Transaction, newest: Version) -> None:
    transaction.run(_PUT_HEAD, {**vars(newest), "version_id": newest.id})


def _settle(transaction: Transaction, lease: Lease, version_id: str) -> None:
    row = _row(transaction, lease, version_id)
    if row is None:
        return
    settled = Version(*row)
    transaction.run(
        "UPDATE versions SET state = 'settled' WHERE file_id = :file_id AND branch = 'main' AND number <= :number AND state = 'pending'",
        vars(settled),
    )
    # Another file may have been at the same path before, and its removal is then on the disk too.
    transaction.run(
        "UPDATE versions SET state = 'settled' WHERE workspace_id = :workspace_id AND mount = :mount AND state = 'pending'"
        " AND substr(path, 1, 500) = :start AND substr(path, 501) = :rest AND (epoch < :epoch OR (epoch = :epoch AND id <= :id))",
        {**vars(settled), **files.split_path(settled.path)},
    )


def _abort(transaction: Transaction, lease: Lease, version_id: str) -> None:
    row = _row(transaction, lease, version_id)
    if row is None or row[6] != PENDING:
        raise NotFound("there is no such pending version", version_id=version_id)
    aborted = Version(*row)
    changed = files.by_id(transaction, lease, aborted.file_id)
    assert changed is not None
    # Without its key, so that a repeated request is a new one.
    transaction.run("UPDATE versions SET state = 'aborted', key = NULL WHERE id = :id", {"id": version_id})
    if changed.version_id != version_id:
        return
    _restore_head(transaction, aborted)
    if aborted.before_path is None:
        files.retire(transaction, lease, changed)
    elif changed.deleted_at is not None or changed.path != aborted.before_path:
        files.place_at(transaction, lease, changed, aborted.before_path)


def _restore_head(transaction: Transaction, aborted: Version) -> None:
    row = transaction.row(
        f"{_VERSION} WHERE file_id = :file_id AND branch = 'main' AND state <> 'aborted' ORDER BY number DESC LIMIT 1",
        {"file_id": aborted.file_id},
    )
    if row is None:
        transaction.run("DELETE FROM heads WHERE file_id = :file_id", {"file_id": aborted.file_id})
    else:
        _set_head(transaction, Version(*row))


def _row(transaction: Transaction, lease: Lease, version_id: str) -> Row | None:
    return transaction.row(
        f"{_VERSION} WHERE id = :id AND workspace_id = :workspace_id", {"id": version_id, "workspace_id": lease.workspace_id}
    )
