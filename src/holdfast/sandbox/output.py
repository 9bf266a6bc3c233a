"""What a command prints: shown as it comes, its head kept in memory, the whole in a file."""

import asyncio
import os
from collections.abc import Callable

from .settings import CommandLimits

_CHUNK_BYTES = 64 * 1024
_CHUNKS_AT_ONCE = 4
_PAUSE_SECONDS = 0.002
_UNWRITTEN_BYTES = 1024 * 1024


class Output:
    """The reading end of a command's pipe.

    A command that prints faster than the disk takes it, or than other
    calls would like, has to wait: reading pauses.
    """

    def __init__(self, pipe: int, file: int | None, limits: CommandLimits, show: Callable[[bytes], None]) -> None:
        self._pipe = pipe
        self._limits = limits
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._file = file
        self._unwritten = bytearray()
        self._accepted = 0
        self._writing: asyncio.Future[None] | None = None
        self._pause: asyncio.TimerHandle | None = None
        self._head = bytearray()
        self._failed = False
        self.total_bytes = 0
        self.flooded: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(pipe, False)
        self._listen()

    @property
    def head(self) -> bytes:
        """The first part."""
        return bytes(self._head)

    @property
    def capped(self) -> bool:
        """Whether the file lacks what came last."""
        return self._file is not None and (self._failed or self.total_bytes > self._limits.output_bytes)

    async def close(self) -> None:
        """Take what is still in the pipe, once the command is gone, and finish the file."""
        self._stop_listening()
        while self._take():
            pass
        os.close(self._pipe)
        while self._writing is not None:
            await asyncio.wait([self._writing])
            self._written()

    def _read(self) -> None:
        for _ in range(_CHUNKS_AT_ONCE):
            if not self._take():
                return
        self._wait()

    def _take(self) -> bool:
        """Take one chunk; False when there is none for now, or no more."""
        try:
            chunk = os.read(self._pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._stop_listening()
            return False
        self.total_bytes += len(chunk)
        self._head += chunk[: max(self._limits.head_bytes - len(self._head), 0)]
        self._keep(chunk)
        if self.total_bytes > self._limits.output_flood_bytes and not self.flooded.done():
            self.flooded.set_result(None)
        self._show(chunk)
        return True

    def _keep(self, chunk: bytes) -> None:
        room = self._limits.output_bytes - self._accepted
        if self._file is None or room <= 0 or self._failed:
            return
        self._unwritten += chunk[:room]
        self._accepted += min(len(chunk), room)
        if self._writing is None:
            self._write()

    def _write(self) -> None:
        """Have a thread write what has come by now: the loop never waits for a disk."""
        assert self._file is not None
        taken, self._unwritten = bytes(self._unwritten), bytearray()
        self._writing = self._loop.run_in_executor(None, _write_all, self._file, taken)
        self._writing.add_done_callback(lambda _: self._written())

    def _written(self) -> None:
        if self._writing is None or not self._writing.done():
            return
        self._failed = self._failed or self._writing.exception() is not None
        self._writing = None
        if self._unwritten and not self._failed:
            self._write()

    def _listen(self) -> None:
        self._pause = None
        if len(self._unwritten) > _UNWRITTEN_BYTES and not self._failed:
            self._wait()
        else:
            self._loop.add_reader(self._pipe, self._read)

    def _wait(self) -> None:
        self._loop.remove_reader(self._pipe)
        self._pause = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    def _stop_listening(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        self._loop.remove_reader(self._pipe)


def _write_all(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
