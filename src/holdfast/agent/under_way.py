"""The answer that is just being given, kept now and then so that it outlives the program."""

import asyncio
import logging
from dataclasses import dataclass, field

from holdfast.store import turns
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import JsonObject

_CHECK_POINT_SECONDS = 1.0
_WORDS = "chat:text-delta"

log = logging.getLogger(__name__)


@dataclass
class _Block:
    kind: str
    first: JsonObject
    pieces: list[str] = field(default_factory=list[str])
    length: int = 0


class UnderWay:
    """The blocks of one answer so far. Of its words a check-point is made, at most once a second, in the place of the one before."""

    def __init__(self, database: Database, lease: Lease, session_id: str) -> None:
        self._database = database
        self._lease = lease
        self._session_id = session_id
        self._message_id = ""
        self._blocks: dict[int, _Block] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.of = 0

    def add(self, kind: str, text: str, index: int, *, of: int, message_id: str) -> JsonObject:
        """Take a piece, and give it as it is told; `of` counts for the whole answer, as it was at its first piece."""
        if not self._blocks:
            self.of, self._message_id = of, message_id
        block = self._blocks.get(index)
        if block is None or block.kind != kind:
            first: JsonObject = {"messageId": message_id, "index": index, "of": self.of, "offset": 0}
            block = self._blocks[index] = _Block(kind, first)
        piece = {**block.first, "content": text, "offset": block.length}
        block.pieces.append(text)
        block.length += len(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_CHECK_POINT_SECONDS, self._time_has_come)
        return piece

    @property
    def so_far(self) -> list[tuple[str, JsonObject]]:
        """The blocks, each as one piece from its beginning, with its kind."""
        return [(block.kind, {**block.first, "content": "".join(block.pieces)}) for block in self._blocks.values()]

    def stop(self) -> None:
        """No more of the answer will come, and no check-point of it is needed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def clear(self) -> None:
        """The answer is on record, or over."""
        self._blocks.clear()
        self.stop()

    async def check_point(self) -> None:
        """Keep what has come so far, if something has.

        Raises:
            HoldfastError: It could not be kept.
        """
        if (kept := self._kept()) is not None:
            await kept

    def _time_has_come(self) -> None:
        self._timer = None
        if (kept := self._kept()) is not None:
            kept.add_done_callback(_note)

    def _kept(self) -> "asyncio.Future[None] | None":
        words = "".join("".join(block.pieces) for block in self._blocks.values() if block.kind == _WORDS)
        if not words:
            return None
        return turns.check_point(self._database, self._lease, self._session_id, self._message_id, words)


def _note(kept: "asyncio.Future[None]") -> None:
    if not kept.cancelled() and isinstance(error := kept.exception(), HoldfastError):
        log.warning("what a model was saying could not be kept: %s", error)
