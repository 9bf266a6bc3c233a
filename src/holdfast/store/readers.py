"""Threads that read, each job on a connection that it has to itself."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from holdfast.vocabulary.errors import Busy

T = TypeVar("T")

_THREADS = 4


class ReadConnection(Protocol):
    """What a reading connection must be able to do besides reading."""

    @property
    def broken(self) -> bool:
        """Whether it is of no more use, because the other end went away."""
        ...

    def interrupt(self) -> None:
        """Stop what runs on it; called from another thread."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


C = TypeVar("C", bound=ReadConnection)


class Readers(Generic[C]):
    """A few connections, opened when they are first needed and used again."""

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._idle: list[C] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="holdfast-reader")

    async def run(self, read: Callable[[C], T], deadline: float) -> T:
        """What `read` makes of a connection.

        Raises:
            Busy: It took longer than the deadline.
        """
        job = _Job[C]()
        try:
            return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(self._pool, self._read, read, job), deadline)
        except TimeoutError:
            raise Busy("the database is busy", hint="Try again.", seconds=deadline) from None
        finally:
            job.stop()

    async def close(self) -> None:
        """Wait for what runs, then close all connections."""
        await asyncio.to_thread(self._pool.shutdown)
        for connection in self._idle:
            connection.close()

    def _read(self, read: Callable[[C], T], job: "_Job[C]") -> T:
        while self._idle:
            connection = self._idle.pop()
            try:
                return self._read_on(connection, read, job)
            except Exception:
                if not connection.broken:
                    raise
                # It broke while it lay idle, as all connections do when a server restarts: a new one may serve.
        return self._read_on(self._connect(), read, job)

    def _read_on(self, connection: C, read: Callable[[C], T], job: "_Job[C]") -> T:
        try:
            with job.using(connection):
                return read(connection)
        finally:
            if connection.broken:
                connection.close()
            else:
                self._idle.append(connection)


class _Job(Generic[C]):
    """One reading, so that exactly that one can be stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: C | None = None
        self._stopped = False

    def using(self, connection: C) -> "_Job[C]":
        self._connection = connection
        return self

    def __enter__(self) -> None:
        if self._stopped:
            raise Busy("the reading was given up")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection = None

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()
