"""What one pass over a whole file tells: its hash, its lines, and where they are.

A survey is kept for as long as the file is the same one: device, inode,
size, mtime and ctime. ctime cannot be set back as mtime can, but it
ticks: nothing is kept of a file that changed a moment before the pass.
"""

import hashlib
import os
import threading
import time
from array import array
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

BLOCK = 1024 * 1024
_SETTLED_NS = 20_000_000
_KEPT = 4096


@dataclass(frozen=True)
class Survey:
    """`marks[n]` is how many newlines there are before byte `n * BLOCK`."""

    sha256: str
    newlines: int
    ends_in_newline: bool
    marks: "array[int]"

    @property
    def total_lines(self) -> int:
        """Newlines, plus one for a last line without."""
        return self.newlines + (0 if self.ends_in_newline else 1)


class Stopped(Exception):
    """The caller no longer waits."""


class Surveys:
    """The surveys of the files that were read last; several threads may ask at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, ...], Survey] = OrderedDict()

    def kept(self, about: os.stat_result) -> Survey | None:
        """The survey of a file that has not changed since."""
        with self._lock:
            survey = self._kept.get(_key(about))
            if survey is not None:
                self._kept.move_to_end(_key(about))
            return survey

    def of_bytes(self, data: bytes, about: os.stat_result, *, started: int) -> Survey:
        """The survey of a small file, all of whose bytes are here; `started` is when the reading of them began, in nanoseconds."""
        marks = array("Q", (data.count(b"\n", 0, at) for at in range(0, len(data), BLOCK)))
        survey = Survey(hashlib.sha256(data).hexdigest(), data.count(b"\n"), not data or data.endswith(b"\n"), marks)
        self._keep(about, survey, started)
        return survey

    def of_file(self, descriptor: int, about: os.stat_result, stop: threading.Event | None = None) -> Survey:
        """The survey of an open file, from memory or by one pass over it, up to the size that it had.

        Raises:
            Stopped: `stop` was set during the pass.
        """
        if (kept := self.kept(about)) is not None:
            return kept
        started = time.time_ns()
        digest, marks, newlines, last = hashlib.sha256(), array("Q"), 0, b"\n"
        # Hashing lets other threads run. One of them reads and counts the next part meanwhile, which then takes no time of its own.
        with ThreadPoolExecutor(1, thread_name_prefix="holdfast-ahead") as ahead:
            free, taken = bytearray(BLOCK), bytearray(BLOCK)
            position = 0
            coming = ahead.submit(_next_part, descriptor, free, position, about.st_size)
            while part := coming.result():
                if stop is not None and stop.is_set():
                    raise Stopped
                if position % BLOCK == 0:
                    marks.append(newlines)
                position += len(part.data)
                free, taken = taken, free
                coming = ahead.submit(_next_part, descriptor, free, position, about.st_size)
                digest.update(part.data)
                newlines += part.newlines
                last = bytes(part.data[-1:])
        survey = Survey(digest.hexdigest(), newlines, last == b"\n", marks)
        if _key(os.fstat(descriptor)) == _key(about):
            self._keep(about, survey, started)
        return survey

    def _keep(self, about: os.stat_result, survey: Survey, started: int) -> None:
        if started - about.st_ctime_ns < _SETTLED_NS:
            return
        with self._lock:
            self._kept[_key(about)] = survey
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


class _Part(NamedTuple):
    """Some bytes of a file, and how many newlines are among them."""

    data: memoryview
    newlines: int


def _next_part(descriptor: int, buffer: bytearray, position: int, size: int) -> _Part | None:
    """What comes at `position`, None at the end; up to the next block's beginning, so that a short read does not shift the marks."""
    wanted = min(BLOCK - position % BLOCK, size - position)
    got = os.preadv(descriptor, [memoryview(buffer)[:wanted]], position)
    return _Part(memoryview(buffer)[:got], buffer.count(b"\n", 0, got)) if got else None


def _key(about: os.stat_result) -> tuple[int, ...]:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
