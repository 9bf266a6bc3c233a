"""A log of lines that many calls write at once: what has gathered while one write is under way goes out in the next."""

import asyncio
import threading

from .append import Tail, check_appendable
from .place import Place


class LineLog:
    """The end of one log file."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._tail = Tail(place)
        self._lock = threading.Lock()
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing: asyncio.Future[None] | None = None

    def add(self, line: bytes) -> asyncio.Future[None]:
        """Add a line, which has no newline in it; the future is done when it is written.

        The line is on its way, whether or not somebody waits for it. What
        went wrong is in the future: NoSpace, AccessDenied, Outside.
        """
        if b"\n" in line:
            raise ValueError("a line has no newline in it")
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, written))
        if self._writing is None:
            self._write()
        return written

    def add_now(self, line: bytes) -> None:
        """Add a line on this thread, when it is one that may wait for the disk. Raises as `add`."""
        with self._lock:
            self._tail.append(line)

    async def check(self) -> None:
        """Make sure that a line could be added.

        Raises:
            As `add`.
        """
        await check_appendable(self._place)

    async def finish(self) -> None:
        """Wait until every line is written, and close the file."""
        while self._writing is not None:
            await asyncio.wait({self._writing})
            # The callback comes after those who wait.
            await asyncio.sleep(0)
        self._tail.close()

    def _write(self) -> None:
        batch, self._waiting = self._waiting, []
        self._writing = self._place.mount.pool.start(self.add_now, b"\n".join(line for line, _ in batch))
        self._writing.add_done_callback(lambda writing: self._written(writing, batch))

    def _written(self, writing: asyncio.Future[None], batch: list[tuple[bytes, asyncio.Future[None]]]) -> None:
        error = writing.exception()
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)
                # Whoever was cancelled does not look at it any more.
                written.exception()
        self._writing = None
        if self._waiting:
            self._write()
