"""The time that a turn has."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType


class Clock:
    """So many seconds, after which the block is ended by a TimeoutError. It stands still while calls wait for a person."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(None)
        self._left = seconds
        self._waiting = 0
        self._is_over = False

    async def __aenter__(self) -> "Clock":
        await self._timeout.__aenter__()
        self._run()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        self._is_over = True
        return await self._timeout.__aexit__(kind, error, trace)

    @property
    def has_run_out(self) -> bool:
        """Whether it ended the block."""
        return self._timeout.expired()

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """Let no time pass within; any number of calls may wait side by side."""
        if not self._waiting:
            self._stop()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._run()

    def _stop(self) -> None:
        if (ends := self._timeout.when()) is not None and not self._is_over and not self._timeout.expired():
            self._left = ends - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)

    def _run(self) -> None:
        if not self._is_over and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)
