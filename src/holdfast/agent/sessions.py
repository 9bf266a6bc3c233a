"""Sessions: what each is called, how it is set, and its numbered events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.store import events, sessions
from holdfast.store.database import Database
from holdfast.store.events import NewEvent
from holdfast.store.leases import Lease
from holdfast.store.sessions import Session
from holdfast.vocabulary.errors import InvalidArguments, NotFound
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.moments import iso

from .fork import fork

TRUSTS = ("supervised", "guided", "autonomous")
MAX_TITLE = 200


@dataclass(frozen=True)
class Sessions:
    """The sessions of one workspace that this process holds."""

    database: Database
    lease: Lease

    async def create(self, *, session_id: str | None, title: str, mode: str, trust: str, profile: str) -> dict[str, Any]:
        """A new session, under an id that the client may choose.

        Raises:
            Exists: There is one with that id.
            InvalidArguments: A value is not one of those there are.
        """
        _check(title=title, mode=mode, trust=trust)
        opened = await sessions.open_session(
            self.database, self.lease, session_id=session_id, title=title, mode=mode, trust=trust, profile=profile
        )
        return shown(opened)

    async def latest(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The sessions, the last used first."""
        return [shown(each) for each in await sessions.latest(self.database, self.lease.workspace_id, limit=limit)]

    async def get(self, session_id: str) -> dict[str, Any]:
        """One session.

        Raises:
            NotFound: There is none with that id.
        """
        found = await sessions.get(self.database, self.lease.workspace_id, session_id)
        if found is None:
            raise NotFound("Session not found", hint="List the sessions.", session_id=session_id)
        return shown(found)

    async def change(self, session_id: str, *, title: str | None, mode: str | None, trust: str | None) -> dict[str, Any]:
        """The session with what is not None set anew.

        Raises:
            NotFound, InvalidArguments: As the names say.
        """
        _check(title=title, mode=mode, trust=trust)
        return shown(await sessions.change(self.database, self.lease, session_id, title=title, mode=mode, trust=trust))

    async def fork(self, session_id: str, *, event: int) -> dict[str, Any]:
        """A new session that goes on after an event of this one. Raises as `fork`."""
        return shown(await fork(self.database, self.lease, session_id, event=event))

    async def delete(self, session_id: str) -> None:
        """Let nobody find the session any more."""
        await sessions.delete(self.database, self.lease, session_id)

    async def events(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        """The events of a session with numbers after `after` and before `before`."""
        await self.get(session_id)
        found = await events.read(self.database, self.lease.workspace_id, session_id, after=after, before=before, limit=limit)
        return [{"seq": each.seq, "type": each.type, "payload": each.payload, "created_at": iso(each.created_at)} for each in found]

    async def append(self, session_id: str, new: Sequence[NewEvent]) -> None:
        """Add events to a session."""
        await events.append(self.database, self.lease, session_id, list(new))


def shown(session: Session) -> dict[str, Any]:
    """A session as clients see it."""
    return {
        "id": session.id,
        "workspace_id": session.workspace_id,
        "title": session.title,
        "mode": session.mode,
        "trust": session.trust,
        "profile": session.profile,
        "state": session.state,
        "last_seq": session.last_seq,
        "created_at": iso(session.created_at),
        "updated_at": iso(session.updated_at),
    }


def _check(*, title: str | None, mode: str | None, trust: str | None) -> None:
    if title is not None and len(title) > MAX_TITLE:
        raise InvalidArguments.of("title", f"has more than {MAX_TITLE} characters", hint="Use a shorter one.")
    if mode is not None and mode not in {each.value for each in Mode}:
        raise InvalidArguments.of("mode", "is neither plan nor build", hint="Use one of these.")
    if trust is not None and trust not in TRUSTS:
        raise InvalidArguments.of("trust", f"is not one of {', '.join(TRUSTS)}", hint="Use one of these.")
