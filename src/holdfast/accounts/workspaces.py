"""Workspaces and users as clients see them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.store import people
from holdfast.store.database import Database
from holdfast.store.people import Workspace
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.errors import Forbidden, InvalidArguments, InvalidToken
from holdfast.vocabulary.moments import iso


@dataclass(frozen=True)
class NewRoot:
    """The folder that a new workspace is to have; who may not choose gets one of ours."""

    folder: str | None
    may_choose: bool


@dataclass(frozen=True)
class Person:
    """A user as clients see them."""

    id: str
    email: str
    full_name: str


@dataclass(frozen=True)
class Workspaces:
    """The workspaces of one store."""

    database: Database
    home: Path

    async def user(self, user_id: str) -> Person:
        """The user.

        Raises:
            InvalidToken: The token outlived its user.
        """
        found = await people.get_user(self.database, user_id)
        if found is None or found.disabled:
            raise InvalidToken("The token's user is no longer here", hint="Sign in again.")
        return Person(found.id, found.email, found.full_name)

    async def of_user(self, user_id: str) -> list[dict[str, Any]]:
        """The workspaces that a user is a member of."""
        return [shown(each) for each in await people.list_workspaces(self.database, user_id)]

    async def get(self, workspace_id: str) -> dict[str, Any]:
        """One workspace.

        Raises:
            Forbidden: There is none; nobody is told so.
        """
        found = await people.get_workspace(self.database, workspace_id)
        if found is None:
            raise Forbidden("Access forbidden: User is not a member of this workspace")
        return shown(found)

    async def create(self, owner_id: str, name: str, root: NewRoot) -> dict[str, Any]:
        """A new workspace of this owner.

        Raises:
            Forbidden: The folder is not theirs to choose.
            InvalidArguments: It is not a folder.
        """
        if root.folder is not None and not root.may_choose:
            raise Forbidden("you may not choose the folder of a workspace", hint="Leave out root, and it gets one of its own.")
        if root.folder is None:
            folder = self.home / "projects" / uuid7()
            folder.mkdir(parents=True, mode=0o700)
        else:
            folder = Path(root.folder)
            if not folder.is_absolute() or not folder.is_dir():
                raise InvalidArguments.of("root", "is not a folder of the server", hint="Give the absolute path of one.")
        return shown(await people.add_workspace(self.database, name, str(folder.resolve()), owner_id))

    async def rename(self, workspace_id: str, name: str) -> dict[str, Any]:
        """The workspace under its new name."""
        await people.change_workspace(self.database, workspace_id, name=name)
        return await self.get(workspace_id)

    async def delete(self, workspace_id: str) -> None:
        """Let nobody find the workspace any more; its files stay."""
        await people.delete_workspace(self.database, workspace_id)


def shown(workspace: Workspace) -> dict[str, Any]:
    """A workspace as clients see it."""
    return {
        "id": workspace.id,
        "name": workspace.name,
        "root": workspace.root,
        "owner_id": workspace.owner_id,
        "created_at": iso(workspace.created_at),
    }
