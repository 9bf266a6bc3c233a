"""Names that sort by the time they were made: UUID version 7 (RFC 9562)."""

import os
import threading
import time

_TICKS_PER_MILLISECOND = 4096  # the 12 bits behind the version hold a fraction of the millisecond


class _Ticks:
    """A clock that never shows the same time twice, nor an earlier one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            self._last = max(time.time_ns() * _TICKS_PER_MILLISECOND // 1_000_000, self._last + 1)
            return self._last


_ticks = _Ticks()


def uuid7() -> str:
    """A new id, greater than every id that this process made before."""
    milliseconds, fraction = divmod(_ticks.next(), _TICKS_PER_MILLISECOND)
    chance = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    text = f"{milliseconds:012x}7{fraction:03x}{chance:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
