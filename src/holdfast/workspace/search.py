"""Text in files: literally, or by a regular expression in ripgrep's syntax.

Matches come in the order of path and line, whatever is limited. ripgrep
gives them in no order when it uses all cores, so it is first let loose
on everything, and only if that gives far more than is asked for it is
run again in order and stopped at the limit.
"""

from contextlib import suppress
from dataclasses import replace

from holdfast.vocabulary.errors import AccessDenied, InvalidPattern, NotFound, Outside, SpecialFile

from .deadline import until_left, within
from .entry import Kind
from .faults import told
from .filter import Filter
from .hits import Hits
from .info import info
from .literal import NotForUs, is_plain
from .match import Found, Match, Query
from .opening import opened
from .place import Place
from .pool import here_or_there
from .ripgrep import arguments, listen
from .scan import Size, scan_all, scan_file, scan_small, size_of
from .sight import Sight
from .spawner import Confinement

MAX_PATTERN_BYTES = 32 * 1024
MAX_CONTEXT_LINES = 1_000
MAX_MATCHES = 100_000
_MATCHES_WORTH_SORTING = 5_000


async def search(place: Place, query: Query, sight: Sight, *, deadline: float | None = None) -> Found:
    """The lines that match, in the file at `place` or in all files beneath it.

    Nothing is ignored, hidden files are searched, binary files and links
    are not. At most 1,000 lines are given around a match, and at most
    100,000 matches when that or more is asked for.

    Raises:
        InvalidPattern: The pattern is empty, too long, or cannot be understood.
        NotFound, SpecialFile, AccessDenied: Of `place` itself.
        TimedOut: It took longer than `deadline` seconds.
    """
    _check(query.pattern)
    before, after = min(query.before, MAX_CONTEXT_LINES), min(query.after, MAX_CONTEXT_LINES)
    query = replace(query, before=before, after=after, max_matches=min(query.max_matches, MAX_MATCHES))
    async with within(deadline, "the search"):
        if (await info(place)).kind is Kind.DIRECTORY:
            return await _search_tree(place, query, sight)
        return await _search_file(place, query)


async def _search_tree(place: Place, query: Query, sight: Sight) -> Found:
    if is_plain(query):
        try:
            found = await here_or_there(place.mount.pool, lambda wait: scan_small(place, query, sight, wait=wait))
            return _found(found.matches, query, found.files_searched)
        except NotForUs:
            pass
    if await place.mount.spawner.confinement() is Confinement.NONE:
        return await _search_by_descriptors(place, query, sight)
    size = Size.LARGE
    if not is_plain(query):
        size = await here_or_there(place.mount.pool, lambda wait: size_of(place, query, sight, wait=wait))
    worth_sorting = max(_MATCHES_WORTH_SORTING, 20 * query.max_matches)
    hits = await _listened(place, query, sight, stop_after=worth_sorting, size=size)
    if hits.enough:
        hits = await _listened(place, query, sight, stop_after=query.max_matches, ordered=True)
    else:
        hits.matches.sort(key=_order)
    return _found(hits.matches, query, hits.files_searched)


async def _listened(place: Place, query: Query, sight: Sight, *, stop_after: int, ordered: bool = False, size: Size = Size.LARGE) -> Hits:
    files = Filter(place, query, sight)
    prefix = f"{place.path}/" if place.path else ""

    def place_of(told: str) -> Place | None:
        path = prefix + told.removeprefix("./")
        return files.place(path) if files.accepts(path) else None

    hits = Hits(query, place_of, stop_after=stop_after)
    words = arguments(query, ordered=ordered, max_per_file=0 if ordered else stop_after + 1, size=size)
    spawner = place.mount.spawner_for_large if size is Size.LARGE else place.mount.spawner
    with told(place):
        await listen(spawner.start_in(place.path, [*words, "./"]), hits)
    return hits


async def _search_file(place: Place, query: Query) -> Found:
    if is_plain(query):
        try:
            return _found(await place.mount.pool.run(scan_file, place, query), query, 1)
        except NotForUs:
            pass
    return _found(await _matches_in_file(place, query), query, 1)


async def _search_by_descriptors(place: Place, query: Query, sight: Sight) -> Found:
    """Where ripgrep cannot be confined it is shown one open file after the other, and plain text is searched here."""
    found = await until_left(place.mount.pool, lambda stop: scan_all(place, query, sight, stop))
    matches = found.matches
    for file in found.left:
        # What has gone since it was met is not there to be found.
        with suppress(NotFound, Outside, AccessDenied, SpecialFile):
            matches += await _matches_in_file(file, query)
        if query.max_matches and len(matches) > query.max_matches and query.regex:
            break
    matches.sort(key=_order)
    return _found(matches, query, found.files_searched)


async def _matches_in_file(place: Place, query: Query) -> list[Match]:
    hits = Hits(query, lambda _: place, stop_after=query.max_matches)
    await listen(place.mount.spawner.start_on(lambda: opened(place), [*arguments(query), "-"]), hits)
    return hits.matches


def _found(matches: list[Match], query: Query, files_searched: int | None) -> Found:
    truncated = 0 < query.max_matches < len(matches)
    return Found(matches[: query.max_matches] if truncated else matches, truncated, files_searched)


def _order(match: Match) -> list[str]:
    """By path, name for name, as a walk goes; the lines of one file are in order already."""
    return match.place.path.split("/")


def _check(pattern: str) -> None:
    hint = "Search for one line's text or a pattern that one line can match."
    if not pattern:
        raise InvalidPattern("the pattern is empty", hint=hint)
    if "\n" in pattern or "\0" in pattern:
        raise InvalidPattern("the pattern has a line break or a NUL in it", hint=hint)
    if len(pattern.encode(errors="replace")) > MAX_PATTERN_BYTES:
        raise InvalidPattern(f"the pattern is over {MAX_PATTERN_BYTES} bytes long", hint=hint)
