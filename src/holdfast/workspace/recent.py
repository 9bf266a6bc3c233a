"""The bytes of small files that were searched last, for as long as the files stay the same.

Someone who searches a small project searches it again and again. One
look at each file then spares opening and reading it. That look is by
path, and may be led astray by a link that is put there meanwhile: it
still gives nothing but bytes that were read beneath the root before, and
only if they are those of the very file that it met.
"""

import os
import threading
import time
from collections import OrderedDict

from .directories import is_lasting

MAX_BYTES = 8 * 1024 * 1024
MAX_FILE_BYTES = 256 * 1024


class Recent:
    """What was read of one mount; several threads may ask at once."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[tuple[int, ...], bytes]] = OrderedDict()
        self.size = 0

    def bytes_of(self, path: str) -> bytes | None:
        """The bytes of a file, if they are here and it has not changed."""
        kept = self._kept.get(path)
        if kept is None:
            return None
        try:
            about = os.stat(path, dir_fd=self._root, follow_symlinks=False)
        except OSError:
            return None
        return kept[1] if kept[0] == _key(about) else None

    def keep(self, path: str, descriptor: int, about: os.stat_result, data: bytes) -> None:
        """Remember what has just been read of an open file, unless it is large or may still be changing unseen."""
        if len(data) > MAX_FILE_BYTES or len(data) != about.st_size or not is_lasting(descriptor, about, time.time_ns()):
            return
        with self._lock:
            before = self._kept.pop(path, None)
            self.size += len(data) - (len(before[1]) if before is not None else 0)
            self._kept[path] = (_key(about), data)
            while self.size > MAX_BYTES:
                _, (_, oldest) = self._kept.popitem(last=False)
                self.size -= len(oldest)


def _key(about: os.stat_result) -> tuple[int, ...]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
