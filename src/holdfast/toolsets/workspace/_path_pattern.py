"""Which paths a search is about, in the words of grep's `path_pattern`."""

import re
from collections.abc import Callable

_WILDCARDS = re.compile(r"[%*]+")


def path_filter(pattern: str) -> Callable[[str], bool]:
    """A test of paths, counted from the workspace's root and regardless of case.

    `%` and `*` stand for anything, slashes too, and then the whole path
    must fit; a pattern that begins with neither is counted from the root.
    Without either it is enough that the path contains the pattern.
    """
    wanted = re.sub(r"/+", "/", pattern.strip()).casefold()
    first, *others = _WILDCARDS.split(wanted)
    if not others:
        return lambda path: wanted in f"/{path}".casefold()
    if first and not first.startswith("/"):
        first = f"/{first}"
    *middle, last = others

    def fits(path: str) -> bool:
        text = f"/{path}".casefold()
        if not text.startswith(first):
            return False
        at = len(first)
        for piece in middle:
            found = text.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return len(text) - len(last) >= at and text.endswith(last)

    return fits
