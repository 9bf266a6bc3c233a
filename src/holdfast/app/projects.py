"""Which project a folder belongs to, and the names of those who worked in it."""

from collections.abc import Iterable
from pathlib import Path

from holdfast.config.settings import Settings
from holdfast.store import people

from .admin import open_store


async def find_projects(settings: Settings, folder: Path) -> list[Path]:
    """The roots of workspaces that a folder is in, the nearest first; it may be one itself."""
    true_folder = folder.resolve()
    async with open_store(settings) as database:
        above = (true_folder, *true_folder.parents)
        return [each for each in above if await people.find_workspace(database, str(each)) is not None]


async def name_people(settings: Settings, ids: Iterable[str]) -> dict[str, str]:
    """The addresses of users by their ids; whoever is no user is left out."""
    async with open_store(settings) as database:
        found = [await people.get_user(database, each) for each in set(ids) if each]
    return {user.id: user.email for user in found if user is not None}
