"""What an operator does from the command line, beside a running server: users, tokens, workspaces, members."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from holdfast.accounts.members import MEMBER_SCOPES
from holdfast.accounts.passwords import hash_password
from holdfast.accounts.tokens import Tokens, kept_secret
from holdfast.accounts.workspaces import shown
from holdfast.config.home import make_home
from holdfast.config.settings import Settings
from holdfast.store import people
from holdfast.store.database import Database
from holdfast.store.opening import open_database
from holdfast.store.people import User
from holdfast.vocabulary.errors import InvalidArguments, NotFound

from .local_user import ensure_local_user
from .mounts import parse_mount
from .platform import DATABASE_FILE


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncGenerator[Database]:
    """The database alone: nothing is held, so a server may run beside."""
    make_home(settings.home)
    database = await open_database(settings["database_url"] or settings.home / DATABASE_FILE)
    try:
        yield database
    finally:
        await database.close()


def token_secret(settings: Settings) -> str:
    """The secret that signs tokens: the one that is set, otherwise the data folder's own."""
    return settings["jwt_secret"] or kept_secret(settings.home)


async def add_user(settings: Settings, email: str, password: str, full_name: str = "") -> dict[str, Any]:
    """A new user with a password.

    Raises:
        Exists: There is one with that address.
        InvalidArguments: The address or the password will not do.
    """
    if "@" not in email.strip("@ "):
        raise InvalidArguments.of("email", "is not an address", hint="Write it like name@example.org.")
    kept = await hash_password(password)
    async with open_store(settings) as database:
        user = await people.add_user(database, email, full_name=full_name, password_hash=kept)
    return {"id": user.id, "email": user.email}


async def create_token(settings: Settings, email: str, *, seconds: float, scopes: Sequence[str] | None) -> str:
    """A token for a user, good on every server of this data folder.

    Raises:
        NotFound: There is no such user.
    """
    async with open_store(settings) as database:
        user = await _user(database, email)
    return Tokens(token_secret(settings)).issue(user.id, user.email, seconds=seconds, scopes=scopes)


async def create_workspace(settings: Settings, folder: Path, *, name: str, owner: str | None, mounts: Mapping[str, str]) -> dict[str, Any]:
    """A workspace over a folder.

    Raises:
        NotFound: The folder, or the owner, is not there.
    """
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", hint="Create it first.")
    stored = [people.Mount(name, str(root), mode.value) for name, root, mode in (parse_mount(*each) for each in mounts.items())]
    async with open_store(settings) as database:
        user = await _user(database, owner) if owner else await ensure_local_user(database)
        made = await people.add_workspace(database, name or folder.resolve().name, str(folder.resolve()), user.id, mounts=stored)
    return shown(made)


async def add_member(settings: Settings, workspace_id: str, email: str, role: str) -> dict[str, Any]:
    """A user becomes a member, or gets another role.

    Raises:
        NotFound: There is no such workspace, or no such user.
    """
    async with open_store(settings) as database:
        if await people.get_workspace(database, workspace_id) is None:
            raise NotFound("there is no such workspace", hint="Check its id.", workspace=workspace_id)
        user = await _user(database, email)
        await people.put_member(database, workspace_id, user.id, role=role, scopes=MEMBER_SCOPES)
    return {"workspace_id": workspace_id, "user_id": user.id, "email": user.email, "role": role}


async def _user(database: Database, email: str) -> User:
    found = await people.find_user(database, email)
    if found is None:
        raise NotFound(f"there is no user {email}", hint=f"Add one: holdfast user add {email} --password-stdin")
    return found
