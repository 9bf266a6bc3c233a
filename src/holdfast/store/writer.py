"""The one thread that writes: it commits whatever has queued up while the last commit ran.

Each request runs in a savepoint of its own, so a conflict undoes nobody
else's work. A request that has not started can still be withdrawn, by
its deadline or by its caller going away; one that has started is told
the truth, or that nobody knows it.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from holdfast.vocabulary.errors import Busy, HoldfastError

from .database import Durability, Transaction

T = TypeVar("T")

_MAX_GROUP_SECONDS = 0.05  # a longer group would keep the first of it waiting for the last


class Locked(Exception):
    """Another process is writing; beginning can be tried again."""


class WriteConnection(Transaction, Protocol):
    """A connection as the writer drives it, on the writer's thread alone. It opens itself when it is needed."""

    def begin(self, durability: Durability, seconds: float) -> None:
        """Start a transaction whose statements take at most so long; raises `Locked` after a short wait."""
        ...

    def savepoint(self) -> None:
        """Remember this point of the transaction."""
        ...

    def release(self) -> None:
        """Forget the point, and keep what came after it."""
        ...

    def undo(self) -> None:
        """Go back to the point, and forget it."""
        ...

    def commit(self) -> None:
        """Make the transaction durable, as it was begun."""
        ...

    def abandon(self) -> None:
        """Drop the transaction, if there is one, and the connection with it when that is no longer sound; never raises."""
        ...

    def explained(self, error: Exception, *, committing: bool = False) -> Exception:
        """The error for the caller; anything that is our own bug comes back as it is."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


class _State(Enum):
    QUEUED = 0
    WITHDRAWN = 1
    STARTED = 2


class _Request(Generic[T]):
    """One piece of work, who waits for it, and what came of it."""

    __slots__ = ("after", "deadline", "durability", "error", "future", "loop", "state", "timer", "value", "work")

    def __init__(self, work: Callable[[Transaction], T], durability: Durability, deadline: float, loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.durability = durability
        self.deadline = deadline
        self.loop = loop
        self.future: asyncio.Future[T] = loop.create_future()
        self.state = _State.QUEUED
        self.timer: asyncio.TimerHandle | None = None
        self.value: T
        self.error: Exception | None = None
        self.after: Callable[[], None] | None = None

    def end(self) -> None:
        """Let no clock run any more."""
        if self.timer is not None:
            self.timer.cancel()

    def deliver(self) -> None:
        """Tell the one who waits, if it still does; runs on its own loop."""
        self.end()
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.value)
        else:
            self.future.set_exception(self.error)


_Group: TypeAlias = "deque[_Request[Any]]"


class Writer:
    """Takes requests from any loop, and runs them on a thread of its own."""

    def __init__(self, connection: WriteConnection) -> None:
        self._connection = connection
        self._queue: _Group = deque()
        self._wake = threading.Event()
        self._lock = threading.Lock()  # over the step from QUEUED to anything else, which two threads may want to make
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="holdfast-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Transaction], T], durability: Durability, deadline: float) -> T:
        """What `work` returned, once it is as durable as was asked."""
        request = self._ask(work, durability, deadline)
        try:
            return await request.future
        finally:
            request.end()
            self._step(request, _State.WITHDRAWN)

    def post(
        self, work: Callable[[Transaction], T], durability: Durability, deadline: float, after: Callable[[], None] | None
    ) -> asyncio.Future[T]:
        """The same for work that is done even if nobody waits for it; `after` is called on the writer's thread when it is committed."""
        request = self._ask(work, durability, deadline)
        request.after = after
        return request.future

    def _ask(self, work: Callable[[Transaction], T], durability: Durability, deadline: float) -> _Request[T]:
        if self._closing:
            raise Busy("the database is being closed", hint="Try again when the server is back.")
        loop = asyncio.get_running_loop()
        request = _Request(work, durability, deadline, loop)
        self._queue.append(request)
        # Not at once: everything that is asked for in this turn of the loop then meets in one group.
        loop.call_soon(self._wake.set)
        request.timer = loop.call_later(deadline, self._out_of_time, request)
        return request

    async def close(self) -> None:
        """Run what is queued, then end the thread."""
        self._closing = True
        self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def _out_of_time(self, request: _Request[Any]) -> None:
        if request.future.done():
            return
        if self._step(request, _State.WITHDRAWN):
            request.error = Busy("the database is busy", hint="Nothing was changed; try again.", seconds=request.deadline)
            request.deliver()
            return
        # It is being committed. The truth is worth as long a wait again.
        request.timer = request.loop.call_later(request.deadline, self._give_up, request)

    def _give_up(self, request: _Request[Any]) -> None:
        if not request.future.done():
            request.future.set_exception(unknown("the database does not answer", seconds=2 * request.deadline))

    def _step(self, request: _Request[Any], state: _State) -> bool:
        """Whether the request was still queued, and now is in `state`."""
        if request.state is not _State.QUEUED:
            return False
        with self._lock:
            if request.state is not _State.QUEUED:
                return False
            request.state = state
            return True

    def _run(self) -> None:
        while not self._closing or self._queue:
            self._wake.wait()
            self._wake.clear()
            while group := self._drained():
                self._commit_group(group)
        self._connection.abandon()
        self._connection.close()

    def _drained(self) -> _Group:
        """All requests that are waiting."""
        group: _Group = deque()
        with suppress(IndexError):
            while True:
                group.append(self._queue.popleft())
        return group

    def _commit_group(self, group: _Group) -> None:
        done: list[_Request[Any]] = []
        try:
            if not self._begin(group):
                return
            self._work_through(group, done)
            self._connection.commit()
            _follow_up(done)
        except _Lost as lost:
            self._connection.abandon()
            self._fail(done, lost.reason)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, who wait on another thread
            self._connection.abandon()
            self._fail(done, error, committing=True)
        _deliver(done)
        self._queue.extendleft(reversed(group))

    def _begin(self, group: _Group) -> bool:
        """Start the transaction, waiting for other processes as long as anybody waits for us."""
        while waiting := [request for request in group if request.state is _State.QUEUED]:
            full = any(request.durability is Durability.ACKNOWLEDGED for request in waiting)
            durability = Durability.ACKNOWLEDGED if full else Durability.RECORDED
            try:
                self._connection.begin(durability, max(request.deadline for request in waiting))
            except Locked:
                group.extend(self._drained())
            except Exception as error:  # noqa: BLE001 - as above
                self._connection.abandon()
                begun = [request for request in waiting if self._step(request, _State.STARTED)]
                self._fail(begun, error)
                _deliver(begun)
                group.clear()
                return False
            else:
                return True
        group.clear()
        return False

    def _work_through(self, group: _Group, done: list[_Request[Any]]) -> None:
        """Run the requests of the group, each in its savepoint; what there is no time for stays in the group."""
        until = time.monotonic() + _MAX_GROUP_SECONDS
        connection = self._connection
        while group and time.monotonic() < until:
            request = group.popleft()
            if not self._step(request, _State.STARTED):
                continue
            done.append(request)
            try:
                connection.savepoint()
                request.value = request.work(connection)
                connection.release()
            except Exception as error:  # noqa: BLE001 - as above
                request.error = connection.explained(error)
                self._undo(error)

    def _undo(self, reason: Exception) -> None:
        try:
            self._connection.undo()
        except Exception as error:
            # A full disk or a lost connection ends the whole transaction, neighbours included.
            ours = isinstance(self._connection.explained(reason), HoldfastError)
            raise _Lost(reason if ours else error) from error

    def _fail(self, requests: Iterable[_Request[Any]], error: Exception, *, committing: bool = False) -> None:
        """Give every request that has no error of its own this one, each in an instance of its own."""
        for request in requests:
            if request.error is None:
                request.error = self._connection.explained(error, committing=committing)


class _Lost(Exception):
    """The transaction is gone with everything that was done in it."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


def unknown(message: str, **facts: float) -> Busy:
    """The error for a change of which nobody can say whether it happened."""
    return Busy(message, hint="The change may or may not have been recorded: look before you repeat it.", outcome="unknown", **facts)


def _follow_up(requests: Iterable[_Request[Any]]) -> None:
    for request in requests:
        if request.after is not None and request.error is None:
            try:
                request.after()
            except Exception as error:  # noqa: BLE001 - it belongs to the caller, who waits on another thread
                request.error = error


def _deliver(requests: Iterable[_Request[Any]]) -> None:
    """Tell everybody, waking each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Request[Any]]] = {}
    for request in requests:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, theirs in by_loop.items():
        with suppress(RuntimeError):  # the loop has been closed, and nobody waits there
            loop.call_soon_threadsafe(_deliver_here, theirs)


def _deliver_here(requests: list[_Request[Any]]) -> None:
    for request in requests:
        request.deliver()
