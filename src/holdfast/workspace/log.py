"""A log of lines that many calls write at once: what has gathered while one write is under way goes out in the next."""

import asyncio

from .append import append_lines, check_appendable
from .place import Place


class LineLog:
    """The end of one log file."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, line: bytes) -> None:
        """Add a line, which has no newline in it, and return when it is written.

        Raises:
            NoSpace, AccessDenied, Outside: As the names say.
        """
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        # The line is on its way, whether or not somebody still waits for it.
        await asyncio.shield(written)

    async def check(self) -> None:
        """Make sure that a line could be added.

        Raises:
            As `add`.
        """
        await check_appendable(self._place)

    async def finish(self) -> None:
        """Wait until every line is written."""
        while self._writing is not None:
            await asyncio.wait({self._writing})

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                await append_lines(self._place, [line for line, _ in batch])
            # Whatever it was belongs to those who wait, not to this task.
            except Exception as raised:  # noqa: BLE001
                error = raised
            for _, written in batch:
                if error is None:
                    written.set_result(None)
                else:
                    written.set_exception(error)
                    # Whoever was cancelled does not look at it any more.
                    written.exception()
        self._writing = None
