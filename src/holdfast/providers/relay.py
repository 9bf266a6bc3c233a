"""From the bytes of one connection to chunks: the same for every provider, with its own reader."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Protocol

from holdfast.vocabulary.chunks import Chunk, Fault, Usage
from holdfast.vocabulary.errors import ProviderError

from . import faults
from .lines import Splitter, TooLong
from .prices import priced
from .settings import Patience

# The end of a body follows what ends the answer at once; it is read so that the connection can be used again.
_DRAIN_SECONDS = 0.2


class Reader(Protocol):
    """Understands one provider's stream."""

    provider: str
    model: str

    has_begun: bool
    """Something of the answer has come."""

    is_whole: bool
    """Nothing of the answer is missing, if the stream ends now."""

    is_done: bool
    """The provider has said that this is all."""

    def read(self, piece: bytes) -> Iterable[Chunk]:
        """What one piece says.

        Raises:
            ProviderError: It is an error, or cannot be understood.
        """
        ...

    def end(self) -> Iterable[Chunk]:
        """What is said at the end of a whole answer: usage, and the end."""
        ...


async def relayed(
    pieces: AsyncIterator[bytes],
    splitter: Splitter,
    reader: Reader,
    *,
    patience: Patience,
    broken: tuple[type[Exception], ...],
    content_type: str = "",
) -> AsyncGenerator[Chunk]:
    """The chunks of an answer whose bytes come from `pieces`; `broken` is what a lost connection raises."""
    clock = asyncio.get_running_loop().time
    seconds = patience.first_seconds
    until = clock() + seconds
    watch = _Watch()
    try:
        while not reader.is_done:
            try:
                piece = await watch.next_of(pieces, until)
            except TimeoutError:
                yield Fault(faults.timed_out(reader.provider, seconds, before="the next piece of the answer"))
                return
            if piece is None:
                break
            whole = splitter.feed(piece)
            for each in whole:
                for chunk in reader.read(each):
                    yield chunk
                if reader.is_done:
                    break
            if whole:
                seconds = patience.between_seconds
                until = clock() + seconds
        if reader.is_done or reader.is_whole:
            await _drain(pieces, broken)
            for chunk in reader.end():
                yield await priced(chunk, reader.provider, reader.model) if isinstance(chunk, Usage) else chunk
            return
        error = faults.cut(reader.provider) if reader.has_begun else faults.empty(reader.provider, content_type)
    except ProviderError as told:
        error = told
    except TooLong:
        error = faults.malformed(reader.provider, "one piece of it has no end")
    except broken:
        error = faults.cut(reader.provider)
    finally:
        watch.close()
    yield Fault(error)


class _Watch:
    """Ends waits that take too long, as `asyncio.timeout_at` does; but the many pieces of an answer have one timer between them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._until = 0.0
        self._waiting: asyncio.Task[object] | None = None
        self._is_late = False

    async def next_of(self, pieces: AsyncIterator[bytes], until: float) -> bytes | None:
        """The next piece, None after the last.

        Raises:
            TimeoutError: It has not come by then.
        """
        task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        self._until, self._waiting = until, task
        if self._timer is None:
            self._timer = self._loop.call_at(until, self._look)
        try:
            return await anext(pieces, None)
        except asyncio.CancelledError:
            if self._is_late and task.uncancel() <= before:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if self._loop.time() < self._until:
            self._timer = self._loop.call_at(self._until, self._look)
        else:
            self._is_late = True
            self._waiting.cancel()


async def _drain(pieces: AsyncIterator[bytes], broken: tuple[type[Exception], ...]) -> None:
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass
    except (TimeoutError, *broken):
        return
