"""Users, the workspaces that they own, and who else may use those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.vocabulary.errors import Exists, NotFound
from holdfast.vocabulary.json import Json

from .columns import from_json, insert, now, storable, to_json
from .database import Database, Row, Transaction
from .uuid7 import uuid7


@dataclass(frozen=True)
class User:
    """Somebody who can be given a token; `password_hash` is None for one who cannot log in."""

    id: str
    email: str
    full_name: str
    password_hash: str | None = field(repr=False)
    created_at: int
    disabled: bool


@dataclass(frozen=True)
class Mount:
    """A named root beside the project's own; `mode` is `ro` or `rw`."""

    name: str
    root: str
    mode: str


@dataclass(frozen=True)
class Workspace:
    """The files of one project, and what was set for it."""

    id: str
    name: str
    root: str
    owner_id: str
    epoch: int
    created_at: int
    settings: Mapping[str, Json]


@dataclass(frozen=True)
class Member:
    """A user in a workspace. `role` is `owner` or `member`."""

    workspace_id: str
    user_id: str
    email: str
    role: str
    created_at: int
    scopes: tuple[str, ...]


_USER = "SELECT id, email, full_name, password_hash, created_at, disabled FROM users"
_WORKSPACE = "SELECT w.id, w.name, w.root, w.owner_id, w.epoch, w.created_at, w.settings FROM workspaces w"
_MEMBER = "SELECT m.workspace_id, m.user_id, u.email, m.role, m.created_at, m.scopes FROM members m JOIN users u ON u.id = m.user_id"


async def add_user(database: Database, email: str, *, full_name: str = "", password_hash: str | None = None) -> User:
    """A new user.

    Raises:
        Exists: Somebody has that address, in whichever case.
    """
    user = User(uuid7(), email.lower(), storable(full_name), password_hash, now(), disabled=False)
    sql = f"{insert('users', 'id, email, full_name, password_hash, created_at, disabled')} ON CONFLICT (email) DO NOTHING RETURNING id"
    row = await database.write(lambda transaction: transaction.row(sql, vars(user)))
    if row is None:
        raise Exists(f"there is already a user {user.email}", hint="Use another address.")
    return user


async def get_user(database: Database, user_id: str) -> User | None:
    """The user with that id."""
    row = await database.row(f"{_USER} WHERE id = :id", {"id": user_id})
    return _user(row) if row else None


async def find_user(database: Database, email: str) -> User | None:
    """The user with that address, in whichever case."""
    row = await database.row(f"{_USER} WHERE email = :email", {"email": email.lower()})
    return _user(row) if row else None


async def set_password(database: Database, user_id: str, password_hash: str | None) -> None:
    """Give the user another password, or none."""
    await _update(database, "UPDATE users SET password_hash = :hash WHERE id = :id", id=user_id, hash=password_hash)


async def set_disabled(database: Database, user_id: str, *, disabled: bool) -> None:
    """Shut the user out, or let them in again."""
    await _update(database, "UPDATE users SET disabled = :disabled WHERE id = :id", id=user_id, disabled=disabled)


async def add_workspace(
    database: Database,
    name: str,
    root: str,
    owner_id: str,
    *,
    mounts: Sequence[Mount] = (),
    settings: Mapping[str, Json] | None = None,
) -> Workspace:
    """A new workspace, with its owner as its first member."""
    workspace = Workspace(uuid7(), storable(name), root, owner_id, 0, now(), settings or {})

    def work(transaction: Transaction) -> None:
        columns = "id, name, root, owner_id, created_at, settings"
        transaction.run(insert("workspaces", columns), {**vars(workspace), "settings": to_json(workspace.settings)})
        _put_member(transaction, workspace.id, owner_id, role="owner", scopes=())
        for mount in mounts:
            _put_mount(transaction, workspace.id, mount)

    await database.write(work)
    return workspace


async def get_workspace(database: Database, workspace_id: str) -> Workspace | None:
    """The workspace with that id."""
    row = await database.row(f"{_WORKSPACE} WHERE w.id = :id AND w.deleted_at IS NULL", {"id": workspace_id})
    return _workspace(row) if row else None


async def find_workspace(database: Database, root: str) -> Workspace | None:
    """The oldest workspace with that root."""
    row = await database.row(f"{_WORKSPACE} WHERE w.root = :root AND w.deleted_at IS NULL ORDER BY w.created_at LIMIT 1", {"root": root})
    return _workspace(row) if row else None


async def list_workspaces(database: Database, user_id: str) -> list[Workspace]:
    """All workspaces that the user is a member of, the oldest first."""
    rows = await database.rows(
        f"{_WORKSPACE} JOIN members m ON m.workspace_id = w.id WHERE m.user_id = :id AND w.deleted_at IS NULL ORDER BY w.created_at, w.id",
        {"id": user_id},
    )
    return [_workspace(row) for row in rows]


async def change_workspace(
    database: Database, workspace_id: str, *, name: str | None = None, settings: Mapping[str, Json] | None = None
) -> Workspace:
    """The workspace with a new name or new settings; None leaves them as they are.

    Raises:
        NotFound: There is no such workspace.
    """
    row = await database.write(
        lambda transaction: transaction.row(
            "UPDATE workspaces SET name = COALESCE(:name, name), settings = COALESCE(:settings, settings)"
            " WHERE id = :id AND deleted_at IS NULL RETURNING id, name, root, owner_id, epoch, created_at, settings",
            {
                "id": workspace_id,
                "name": None if name is None else storable(name),
                "settings": None if settings is None else to_json(settings),
            },
        )
    )
    if row is None:
        raise NotFound("there is no such workspace")
    return _workspace(row)


async def delete_workspace(database: Database, workspace_id: str) -> None:
    """Let nobody find the workspace any more. Its rows stay, and its files are not touched.

    Raises:
        NotFound: There is no such workspace.
    """
    await _update(database, "UPDATE workspaces SET deleted_at = :now WHERE id = :id AND deleted_at IS NULL", id=workspace_id, now=now())


async def put_mount(database: Database, workspace_id: str, mount: Mount) -> None:
    """Add a mount, or change the one of that name."""
    await database.write(lambda transaction: _put_mount(transaction, workspace_id, mount))


async def list_mounts(database: Database, workspace_id: str) -> list[Mount]:
    """The mounts of a workspace besides its root, by name."""
    rows = await database.rows("SELECT name, root, mode FROM mounts WHERE workspace_id = :id ORDER BY name", {"id": workspace_id})
    return [Mount(*row) for row in rows]


async def put_member(database: Database, workspace_id: str, user_id: str, *, role: str = "member", scopes: Sequence[str] = ()) -> None:
    """Let a user in, or change what a member may do."""
    await database.write(lambda transaction: _put_member(transaction, workspace_id, user_id, role=role, scopes=scopes))


async def remove_member(database: Database, workspace_id: str, user_id: str) -> None:
    """Shut a member out.

    Raises:
        NotFound: The user is no member.
    """
    await _update(
        database, "DELETE FROM members WHERE workspace_id = :workspace_id AND user_id = :id", workspace_id=workspace_id, id=user_id
    )


async def get_member(database: Database, workspace_id: str, user_id: str) -> Member | None:
    """What the user is in the workspace; None for a stranger, a disabled user and a workspace that is gone."""
    row = await database.row(
        f"{_MEMBER} JOIN workspaces w ON w.id = m.workspace_id"
        " WHERE m.workspace_id = :workspace_id AND m.user_id = :user_id AND NOT u.disabled AND w.deleted_at IS NULL",
        {"workspace_id": workspace_id, "user_id": user_id},
    )
    return _member(row) if row else None


async def list_members(database: Database, workspace_id: str) -> list[Member]:
    """Everybody in the workspace, the oldest member first."""
    rows = await database.rows(f"{_MEMBER} WHERE m.workspace_id = :id ORDER BY m.created_at, m.user_id", {"id": workspace_id})
    return [_member(row) for row in rows]


async def _update(database: Database, sql: str, **values: str | int | None) -> None:
    if not await database.write(lambda transaction: transaction.run(sql, values)):
        raise NotFound("there is nothing with that id", id=values.get("id"))


def _put_mount(transaction: Transaction, workspace_id: str, mount: Mount) -> None:
    transaction.run(
        f"{insert('mounts', 'workspace_id, name, root, mode')}"
        " ON CONFLICT (workspace_id, name) DO UPDATE SET root = excluded.root, mode = excluded.mode",
        {**vars(mount), "workspace_id": workspace_id},
    )


def _put_member(transaction: Transaction, workspace_id: str, user_id: str, *, role: str, scopes: Sequence[str]) -> None:
    transaction.run(
        f"{insert('members', 'workspace_id, user_id, role, scopes, created_at')}"
        " ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role, scopes = excluded.scopes",
        {"workspace_id": workspace_id, "user_id": user_id, "role": role, "scopes": to_json(list(scopes)), "created_at": now()},
    )


def _user(row: Row) -> User:
    return User(*row[:-1], disabled=bool(row[-1]))


def _workspace(row: Row) -> Workspace:
    settings = from_json(row[-1])
    assert isinstance(settings, Mapping)
    return Workspace(*row[:-1], settings=settings)


def _member(row: Row) -> Member:
    scopes = from_json(row[-1])
    assert isinstance(scopes, list)
    return Member(*row[:-1], scopes=tuple(map(str, scopes)))
