"""Finding a window of lines in a file without reading the rest of it."""

import os
from dataclasses import dataclass

from .survey import BLOCK, Survey

_STEP = 64 * 1024


@dataclass(frozen=True)
class Lines:
    """Which lines are wanted: skip so many, then at most so many. A negative skip counts from the end."""

    skip: int = 0
    at_most: int | None = None


@dataclass(frozen=True)
class Window:
    """Where the wanted lines are: bytes from `start` to `end`; `first` is the number of the first, when it is known."""

    start: int
    end: int
    first: int | None
    more: bool


def find_window(descriptor: int, size: int, lines: Lines, survey: Survey | None, max_bytes: int) -> Window:
    """The bytes of the wanted lines, or of as many of them as begin within `max_bytes`."""
    if lines.skip >= 0:
        start, first = _start_from_top(descriptor, size, lines.skip, survey), lines.skip
    else:
        start = _start_from_bottom(descriptor, size, -lines.skip)
        first = 0 if start == 0 else None
        if survey is not None:
            first = max(0, survey.total_lines + lines.skip)
    end = _end_of(descriptor, size, start, lines.at_most, max_bytes)
    return Window(start, end, first, more=end < size)


def _start_from_top(descriptor: int, size: int, skip: int, survey: Survey | None) -> int:
    """The offset of line number `skip`, counted from 0, or `size` when there is none."""
    position, seen = 0, 0
    if survey is not None:
        if skip >= survey.total_lines:
            return size
        block = _last_mark_up_to(survey, skip)
        position, seen = block * BLOCK, survey.marks[block] if block else 0
    while seen < skip and position < size:
        data = os.pread(descriptor, _STEP, position)
        if not data:
            return size
        here = data.count(b"\n")
        if seen + here >= skip:
            return position + _after_newline(data, skip - seen)
        seen += here
        position += len(data)
    return position


def _start_from_bottom(descriptor: int, size: int, wanted: int) -> int:
    """The offset of the line that is `wanted` lines before the end."""
    position, seen, last_byte_seen = size, 0, False
    while position > 0:
        step = min(_STEP, position)
        data = os.pread(descriptor, step, position - step)
        if not last_byte_seen and data.endswith(b"\n"):
            # The newline at the very end closes the last line, it does not open another.
            wanted += 1
        last_byte_seen = True
        here = data.count(b"\n")
        if seen + here >= wanted:
            return position - step + _after_newline(data, here - (wanted - seen) + 1)
        seen += here
        position -= step
    return 0


def _end_of(descriptor: int, size: int, start: int, at_most: int | None, max_bytes: int) -> int:
    """Where the wanted lines end, looking no further than `max_bytes` beyond the start."""
    last = min(size, start + max_bytes)
    if at_most is None:
        return last
    position, left = start, at_most
    while left > 0 and position < last:
        data = os.pread(descriptor, min(_STEP, last - position), position)
        if not data:
            break
        here = data.count(b"\n")
        if here >= left:
            return position + _after_newline(data, left)
        left -= here
        position += len(data)
    return position


def _last_mark_up_to(survey: Survey, skip: int) -> int:
    """The last block before which there are fewer than `skip` newlines."""
    low, high = 0, len(survey.marks) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if survey.marks[middle] < skip:
            low = middle
        else:
            high = middle - 1
    return max(low, 0)


def _after_newline(data: bytes, number: int) -> int:
    """The offset behind the `number`th newline of `data`, which has that many; 0 for none."""
    if number <= 0:
        return 0
    # Halving keeps this quick for a newline that is far into the block.
    low, high = 0, len(data)
    while high - low > 256:
        middle = (low + high) // 2
        here = data.count(b"\n", low, middle)
        if here >= number:
            high = middle
        else:
            number -= here
            low = middle
    for _ in range(number):
        low = data.index(b"\n", low) + 1
    return low
