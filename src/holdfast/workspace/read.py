"""Reading part of a file, and what is known of the whole."""

import asyncio
import os
import re
import threading
import time
from dataclasses import dataclass, replace

from holdfast.vocabulary.errors import Cancelled, LineTooLong, TooLarge

from .faults import told
from .kernel import WouldBlock
from .lines import Lines, find_window
from .opening import opened
from .place import Place
from .pool import here_or_there
from .survey import Stopped
from .text import LOOKED_AT_BYTES, UTF8, Encoding, detect, whole_characters

SMALL = 64 * 1024
MAX_WIDE_BYTES = 64 * 1024 * 1024
EVERYTHING = Lines()


@dataclass(frozen=True)
class Slice:
    """Some lines of a file.

    `first` is the number of the first line, counted from 0, and None
    when nobody asked for the total and the lines were counted from the
    end. `cut` means that `max_bytes` ended the slice, not the lines.
    """

    data: bytes
    encoding: Encoding
    size: int
    first: int | None
    lines: int
    cut: bool
    more: bool
    sha256: str | None
    total_lines: int | None
    modified: float = 0.0

    @property
    def text(self) -> str:
        """The lines as text, without the byte order mark."""
        marked = self.first == 0 and self.data.startswith(self.encoding.mark)
        return self.encoding.decode(self.data[len(self.encoding.mark) :] if marked else self.data)


async def read(place: Place, lines: Lines = EVERYTHING, *, max_bytes: int, whole_lines: bool = False, surveyed: bool = True) -> Slice:
    """The wanted lines, at most `max_bytes` of them.

    With `whole_lines` the slice ends at a line's end, otherwise at a
    character's. With `surveyed` the hash of the whole file and its number
    of lines come along, which costs one pass when the file is new to us.

    Raises:
        NotFound, IsDirectory, SpecialFile, AccessDenied: As the names say.
        LineTooLong: With `whole_lines`, when the first line alone is too long.
        TooLarge: A UTF-16 or UTF-32 file is too big to be decoded whole.
    """
    stop = threading.Event()
    try:
        return await here_or_there(
            place.mount.pool, lambda wait: _read(place, lines, max_bytes, whole_lines=whole_lines, surveyed=surveyed, wait=wait, stop=stop)
        )
    except asyncio.CancelledError:
        stop.set()
        raise
    except Stopped:
        raise Cancelled("the reading was stopped") from None


def _read(place: Place, lines: Lines, max_bytes: int, *, whole_lines: bool, surveyed: bool, wait: bool, stop: threading.Event) -> Slice:
    with opened(place, wait=wait) as (descriptor, about), told(place):
        surveys = place.mount.surveys
        if about.st_size <= SMALL:
            started = time.time_ns()
            data = contents(descriptor, about.st_size, wait=wait)
            survey = (surveys.kept(about) or surveys.of_bytes(data, about, started=started)) if surveyed else None
            head = data[:LOOKED_AT_BYTES]
        else:
            if not wait:
                raise WouldBlock
            survey = surveys.of_file(descriptor, about, stop) if surveyed else surveys.kept(about)
            head = os.pread(descriptor, LOOKED_AT_BYTES, 0)
        encoding = detect(head)
        sha256 = survey.sha256 if surveyed and survey is not None else None
        if encoding.is_wide:
            wide = _read_wide(place, descriptor, about.st_size, encoding, lines, max_bytes, whole_lines=whole_lines, sha256=sha256)
            return replace(wide, modified=about.st_mtime)
        window = find_window(descriptor, about.st_size, lines, survey, max_bytes)
        data = _exactly(descriptor, window.start, window.end)
    cut = window.more and len(data) >= max_bytes and (lines.at_most is None or data.count(b"\n") < lines.at_most)
    if cut:
        data = _cut(data, place, max_bytes, whole_lines=whole_lines)
    total = survey.total_lines if surveyed and survey is not None else None
    return Slice(
        data,
        encoding,
        about.st_size,
        window.first,
        _count(data),
        cut=cut,
        more=window.more,
        sha256=sha256,
        total_lines=total,
        modified=about.st_mtime,
    )


def contents(descriptor: int, size: int, *, wait: bool) -> bytes:
    """The first `size` bytes of an open file; without `wait` only what is in memory."""
    if wait:
        return _exactly(descriptor, 0, size)
    buffer = bytearray(size)
    try:
        got = os.preadv(descriptor, [buffer], 0, os.RWF_NOWAIT) if size else 0
    except OSError as error:
        # EAGAIN: not in memory. EOPNOTSUPP: this file system cannot say.
        raise WouldBlock from error
    if got < size:
        raise WouldBlock
    return bytes(buffer)


def _exactly(descriptor: int, start: int, end: int) -> bytes:
    """The bytes from `start` to `end`, fewer only when the file has become shorter."""
    pieces: list[bytes] = []
    while start < end:
        piece = os.pread(descriptor, min(end - start, 1 << 24), start)
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces) if len(pieces) != 1 else pieces[0]


def _cut(data: bytes, place: Place, max_bytes: int, *, whole_lines: bool) -> bytes:
    """The part of `data` that can be shown when there is more than `max_bytes` of it."""
    if not whole_lines:
        return whole_characters(data)
    ended = data[: data.rfind(b"\n") + 1]
    if not ended:
        raise LineTooLong(
            f"one line of '{place}' alone is over {max_bytes} bytes", hint="Search in the file instead of reading it.", limit=max_bytes
        )
    return ended


def _count(data: bytes) -> int:
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def _read_wide(
    place: Place, descriptor: int, size: int, encoding: Encoding, lines: Lines, max_bytes: int, *, whole_lines: bool, sha256: str | None
) -> Slice:
    """The same for UTF-16 and UTF-32, whose lines can only be found by decoding everything; the slice is UTF-8."""
    if size > MAX_WIDE_BYTES:
        raise TooLarge(f"'{place}' is {encoding.name} and has {size} bytes", hint=f"At most {MAX_WIDE_BYTES} can be decoded.", size=size)
    text = encoding.decode(_exactly(descriptor, len(encoding.mark), size)).encode()
    every: list[bytes] = re.findall(rb"[^\n]*\n|[^\n]+", text)
    first = lines.skip if lines.skip >= 0 else max(0, len(every) + lines.skip)
    last = len(every) if lines.at_most is None else min(first + lines.at_most, len(every))
    wanted = b"".join(every[first:last])
    cut = len(wanted) > max_bytes
    data = _cut(wanted[:max_bytes], place, max_bytes, whole_lines=whole_lines) if cut else wanted
    return Slice(data, UTF8, size, first, _count(data), cut=cut, more=cut or last < len(every), sha256=sha256, total_lines=len(every))
