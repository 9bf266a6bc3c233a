"""The sessions that are in memory: those that run or are watched, and for a while those that were."""

import asyncio
from collections.abc import Callable

from holdfast.agent.conversation import Conversation

# Whoever has just asked for a session is about to watch it or to start a turn.
_LEAST_SECONDS = 30.0
_LOOK_SECONDS = 30.0


class OpenSessions:
    """Sessions by id. The idle ones are let go after a while, or sooner when there are more than so many.

    One that somebody watches stays, but what was said in it is read from
    the log again when it is needed. `runs` says which are not idle.
    """

    def __init__(self, *, most: int, idle_seconds: float, runs: Callable[[str], bool]) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._runs = runs
        # Those that were used last are at the end.
        self._found: dict[str, Conversation] = {}
        self._used: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._found)

    def get(self, session_id: str) -> Conversation | None:
        """The session, if it is in memory."""
        return self._found.get(session_id)

    def use(self, conversation: Conversation) -> None:
        """Have a session in memory, as the one that was used last."""
        self._found.pop(conversation.id, None)
        self._found[conversation.id] = conversation
        self._used[conversation.id] = asyncio.get_running_loop().time()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def forget(self, session_id: str) -> None:
        """Have a session in memory no longer."""
        self._found.pop(session_id, None)
        self._used.pop(session_id, None)

    def let_go(self, now: float) -> None:
        """Let go of what is idle too long, or too many."""
        for session_id, conversation in list(self._found.items()):
            idle = now - self._used[session_id]
            is_long = idle >= self._idle_seconds or (len(self._found) > self._most and idle >= _LEAST_SECONDS)
            if not is_long or self._runs(session_id) or not conversation.has_ended or conversation.is_recording:
                continue
            if conversation.is_watched:
                conversation.rest()
            else:
                self.forget(session_id)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        self.let_go(loop.time())
        if self._found:
            self._timer = loop.call_later(_LOOK_SECONDS, self._look)
