"""Sessions as they stand in the store, for people: nothing is held, so a server may run beside."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from holdfast.agent.sessions import shown
from holdfast.config.settings import Settings
from holdfast.store import chats, people, sessions
from holdfast.store.database import Database
from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import Message, from_json
from holdfast.vocabulary.moments import iso

from .admin import open_store

_PAGE = 1_000


@dataclass(frozen=True)
class Said:
    """One message of a session, and when it was put on record."""

    message: Message
    at: str


async def list_sessions(settings: Settings, project: Path, *, limit: int = 100) -> list[dict[str, Any]]:
    """The sessions of a project, the last used first.

    Raises:
        NotFound: Holdfast was never used in that folder.
    """
    async with open_store(settings) as database:
        workspace_id = await _workspace(database, project)
        return [shown(each) for each in await sessions.latest(database, workspace_id, limit=limit)]


async def read_session(settings: Settings, project: Path, session_id: str) -> tuple[dict[str, Any], list[Said]]:
    """A session, and what was said in it.

    Raises:
        NotFound: There is none with that id.
    """
    async with open_store(settings) as database:
        workspace_id = await _workspace(database, project)
        row = await sessions.get(database, workspace_id, session_id)
        if row is None:
            raise NotFound("Session not found", hint="List them: holdfast sessions.", session=session_id)
        said: list[Said] = []
        after = 0
        while page := await chats.messages(database, workspace_id, session_id, after=after, until=row.last_seq, limit=_PAGE):
            said += [Said(from_json(cast("Mapping[str, Json]", each.payload)), iso(each.created_at)) for each in page]
            after = page[-1].seq
    return shown(row), said


async def _workspace(database: Database, project: Path) -> str:
    found = await people.find_workspace(database, str(project.resolve()))
    if found is None:
        raise NotFound(f"no session was ever held in {project}", hint='Begin one: holdfast run "…".')
    return found.id
