"""How parts of Holdfast, in one process or in several, tell and ask each other.

A watcher that falls behind is dropped and has to look again: nobody
waits for the slowest, and what is durable is in the store anyway.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.vocabulary.errors import Busy
from holdfast.vocabulary.limits import MIB

from .database import DEADLINE_SECONDS

MAX_MESSAGES = 1_000
MAX_BYTES = MIB


class FellBehind(Exception):
    """More came than the watcher took; what was waiting is gone, and it has to look again."""


@dataclass(frozen=True)
class Message:
    """What was published, serialised once for all who watch."""

    topic: str
    body: bytes
    _answer: "asyncio.Future[bytes] | None" = field(default=None, repr=False, compare=False)

    @property
    def is_question(self) -> bool:
        return self._answer is not None

    def answer(self, body: bytes) -> None:
        """Answer a question; only the first answer counts."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(body)


class Bus(Protocol):
    """Three verbs."""

    async def publish(self, topic: str, body: bytes) -> None:
        """Tell everybody who watches the topic now."""
        ...

    def watch(self, topic: str) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """What is published on the topic while the context lasts; raises `FellBehind` in a watcher that is too slow."""
        ...

    async def ask(self, topic: str, body: bytes, *, deadline: float = DEADLINE_SECONDS) -> bytes:
        """The first answer of those who watch the topic.

        Raises:
            Busy: Nobody watches it, or nobody answered in time.
        """
        ...


class LocalBus:
    """A `Bus` within one process and one loop."""

    def __init__(self) -> None:
        self._watchers: dict[str, list[_Watcher]] = {}

    async def publish(self, topic: str, body: bytes) -> None:
        """See `Bus`."""
        self._deliver(Message(topic, body))

    @asynccontextmanager
    async def watch(self, topic: str) -> AsyncGenerator[AsyncIterator[Message]]:
        """See `Bus`."""
        watcher = _Watcher()
        self._watchers.setdefault(topic, []).append(watcher)
        try:
            yield watcher
        finally:
            self._watchers[topic].remove(watcher)
            if not self._watchers[topic]:
                del self._watchers[topic]

    async def ask(self, topic: str, body: bytes, *, deadline: float = DEADLINE_SECONDS) -> bytes:
        """See `Bus`."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if not self._deliver(Message(topic, body, answer)):
            raise Busy("nobody is there to answer", hint="Try again.", topic=topic)
        try:
            return await asyncio.wait_for(answer, deadline)
        except TimeoutError:
            raise Busy("nobody answered in time", hint="Try again.", topic=topic, seconds=deadline) from None

    def _deliver(self, message: Message) -> int:
        watchers = self._watchers.get(message.topic, ())
        for watcher in watchers:
            watcher.put(message)
        return len(watchers)


class _Watcher:
    """What one watcher has not taken yet."""

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque()
        self._bytes = 0
        self._fell_behind = False
        self._more = asyncio.Event()

    def put(self, message: Message) -> None:
        if self._fell_behind:
            return
        self._waiting.append(message)
        self._bytes += len(message.body)
        if len(self._waiting) > MAX_MESSAGES or self._bytes > MAX_BYTES:
            self._waiting.clear()
            self._fell_behind = True
        self._more.set()

    def __aiter__(self) -> "_Watcher":
        return self

    async def __anext__(self) -> Message:
        while not self._waiting:
            if self._fell_behind:
                raise FellBehind
            self._more.clear()
            await self._more.wait()
        message = self._waiting.popleft()
        self._bytes -= len(message.body)
        return message
