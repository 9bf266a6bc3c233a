"""Two changes of one text, made without knowing of each other, brought together line by line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MAX_PAIRS = 2_000_000


@dataclass(frozen=True)
class Clash:
    """Lines that both changed, each in its own way; `line` is where they begin in `theirs`, counted from 0."""

    line: int
    base: tuple[bytes, ...]
    ours: tuple[bytes, ...]
    theirs: tuple[bytes, ...]


@dataclass(frozen=True)
class Merged:
    """The lines with both changes in them, and which of these came from `theirs`, counted from 0.

    With `clashes` there is no result: `lines` is empty.
    """

    lines: tuple[bytes, ...]
    from_theirs: tuple[int, ...]
    clashes: tuple[Clash, ...] = ()


def merge3(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> Merged:
    """What comes of doing both changes to `base`. Changes that touch each other clash, unless they are the same."""
    lines: list[bytes] = []
    from_theirs: list[int] = []
    clashes: list[Clash] = []
    done = 0
    for group in _groups(_hunks(base, ours), _hunks(base, theirs)):
        lines += base[done : group.start]
        done = group.end
        our_lines, their_lines = group.lines(ours, group.ours), group.lines(theirs, group.theirs)
        if not group.theirs or our_lines == their_lines:
            lines += our_lines
        elif not group.ours:
            from_theirs += range(len(lines), len(lines) + len(their_lines))
            lines += their_lines
        else:
            clashes.append(
                Clash(_place(group.start, group.theirs), tuple(base[group.start : group.end]), tuple(our_lines), tuple(their_lines))
            )
    if clashes:
        return Merged((), (), tuple(clashes))
    lines += base[done:]
    return Merged(tuple(lines), tuple(from_theirs))


@dataclass(frozen=True)
class _Hunk:
    """Lines `start` to `end` of the base that became lines `new_start` to `new_end`."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass
class _Group:
    """Hunks of both sides that have no unchanged line between them."""

    start: int
    end: int
    ours: list[_Hunk]
    theirs: list[_Hunk]

    def lines(self, side: Sequence[bytes], hunks: list[_Hunk]) -> list[bytes]:
        """What the group's lines of the base are on one side."""
        if not hunks:
            return []
        first, last = hunks[0], hunks[-1]
        return list(side[first.new_start - (first.start - self.start) : last.new_end + (self.end - last.end)])


def _groups(ours: list[_Hunk], theirs: list[_Hunk]) -> Iterator[_Group]:
    tagged = sorted(
        [(hunk.start, hunk.end, True, hunk) for hunk in ours] + [(hunk.start, hunk.end, False, hunk) for hunk in theirs], key=_key
    )
    group: _Group | None = None
    for start, end, is_ours, hunk in tagged:
        if group is None or start > group.end:
            if group is not None:
                yield group
            group = _Group(start, end, [], [])
        group.end = max(group.end, end)
        (group.ours if is_ours else group.theirs).append(hunk)
    if group is not None:
        yield group


def _key(tagged: tuple[int, int, bool, _Hunk]) -> tuple[int, int]:
    return tagged[0], tagged[1]


def _hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[_Hunk]:
    """Where one side differs from the base. What is the same at both ends is not compared again."""
    head = next((at for at, (one, other) in enumerate(zip(base, side, strict=False)) if one != other), min(len(base), len(side)))
    most = min(len(base), len(side)) - head
    tail = 0
    while tail < most and base[-1 - tail] == side[-1 - tail]:
        tail += 1
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    if not old and not new:
        return []
    if not old or not new or _pairs(old, new) > _MAX_PAIRS:
        return [_Hunk(head, head + len(old), head, head + len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        _Hunk(head + start, head + end, head + new_start, head + new_end)
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _pairs(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """How often a line of one is a line of the other, which is what comparing them costs."""
    count = Counter(new)
    return sum(count[line] for line in old)


def _place(start: int, theirs: list[_Hunk]) -> int:
    return theirs[0].new_start - (theirs[0].start - start)
