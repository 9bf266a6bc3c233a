"""What changed in a text, line by line."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

MAX_DIFF_BYTES = 256 * 1024
MAX_DIFF_LINES = 2_000


@dataclass(frozen=True)
class Difference:
    """A unified diff, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def difference(old: bytes, new: bytes, old_label: str, new_label: str) -> Difference:
    """The diff of two texts."""
    told = list(difflib.unified_diff(_by_line(old), _by_line(new), old_label, new_label))
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in told)
    body = told[2:]
    return Difference(text, sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body))


def quick_difference(old: bytes, new: bytes, path: str) -> Difference | None:
    """The diff of two contents of a file; None when they are not text, or it would take too long to find."""
    if any(len(each) > MAX_DIFF_BYTES or b"\0" in each for each in (old, new)):
        return None
    before, after = _by_line(old), _by_line(new)
    # What is the same at both ends costs nothing that way, and is most of most files.
    head = _same(zip(before, after, strict=False))
    tail = _same(zip(reversed(before[head:]), reversed(after[head:]), strict=False))
    if (len(before) - head - tail) * (len(after) - head - tail) > MAX_DIFF_LINES**2:
        return None
    return difference(old, new, f"a/{path}", f"b/{path}")


def _by_line(data: bytes) -> list[str]:
    """The lines, each with its line feed; a carriage return ends none."""
    lines = data.decode(errors="replace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _same(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count
