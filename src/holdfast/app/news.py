"""What a workspace tells those who watch all of it: how its sessions are, and which files have changed."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from holdfast.store import versions
from holdfast.store.database import Database
from holdfast.vocabulary.chat import ChatEvent
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.events import ToolFinished
from holdfast.vocabulary.json import Json

_GATHERED_SECONDS = 0.1
_PATHS_TOLD = 1_000

log = logging.getLogger(__name__)


class News:
    """Those who watch a workspace. While nobody does, nothing is looked up."""

    def __init__(self, database: Database, workspace_id: str) -> None:
        self._database = database
        self._workspace_id = workspace_id
        self._watchers: list[Callable[[ChatEvent], None]] = []
        self._calls: set[tuple[str, str]] = set()
        self._looking: asyncio.Task[None] | None = None

    def watch(self, watcher: Callable[[ChatEvent], None]) -> Callable[[], None]:
        """Have everything told from now on; what this gives ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def close(self) -> None:
        """Look nothing up any more."""
        if self._looking is not None:
            self._looking.cancel()

    def session(self, session_id: str, *, state: str, title: str) -> None:
        """Tell how a session is."""
        self._tell(ChatEvent("session:state", {"sessionId": session_id, "state": state, "title": title}))

    def finished(self, event: ToolFinished) -> None:
        """Tell soon what a call has changed, together with what others have meanwhile."""
        if not self._watchers:
            return
        self._calls.add((event.call.caller.session, event.call.id))
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while self._calls:
            await asyncio.sleep(_GATHERED_SECONDS)
            calls, self._calls = self._calls, set()
            try:
                changed = {path for session, call in calls for path in await self._paths(session, call)}
            except HoldfastError as error:
                log.warning("which files have changed could not be looked up: %s", error)
                return
            paths: Sequence[Json] = sorted(changed)
            if paths:
                self._tell(ChatEvent("files:changed", {"paths": paths[:_PATHS_TOLD]}))

    async def _paths(self, session_id: str, call_id: str) -> list[str]:
        # Another session may have a call of the same id.
        made = await versions.of_call(self._database, self._workspace_id, call_id)
        return [f"/{version.path}" for version in made if (version.session_id or "") == session_id]

    def _tell(self, event: ChatEvent) -> None:
        for watcher in list(self._watchers):
            watcher(event)
