"""Searching disk and store together: what only the store has is searched as text, by one run of the same ripgrep."""

import asyncio
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from holdfast.store.files import PROJECT, File
from holdfast.vocabulary.errors import NotFound, NotKept
from holdfast.vocabulary.json import Json

from .chats import FOLDER as CHATS
from .chats import ChatFile, path_of
from .hits import Hits
from .item import ContentKind
from .items import chats_beneath, not_found
from .kept import load
from .match import Found, Match, Query
from .place import Place
from .records import Records
from .ripgrep import arguments, listen
from .rows import Rows, rows_beneath
from .search import MAX_CONTEXT_LINES, search
from .sight import Sight
from .text import detect

MAX_STORED_BYTES = 64 * 1024 * 1024


async def grep(
    records: Records | None, place: Place, query: Query, path_filter: Callable[[str], bool] | None, sight: Sight, *, session_id: str = ""
) -> Found:
    """The lines that match, ordered by path and line; protected files are not looked into.

    `path_filter` is given a path, counted from the mount's root. What is
    said in the session that asks, this search among it, is left out of a
    search of the whole project.

    Raises:
        InvalidPattern: The pattern cannot be understood.
        NotFound: Neither disk nor store has the place.
    """
    query = replace(query, include=path_filter)
    if records is None:
        return await search(place, query, sight)
    found, rows = await asyncio.gather(_search(place, query, sight), rows_beneath(records, place, recursive=True))
    if found is None:
        if rows.folder is None:
            raise not_found(place)
        found = Found([], truncated=False, files_searched=0)
    texts = await _texts(rows, query, sight)
    chats = [chat for chat in await _chats(rows, session_id) if _is_wanted(chat.path, place, query, sight)]
    said, is_cut = await _said(rows, chats, room=MAX_STORED_BYTES - sum(len(text.data) for text in texts))
    texts += said
    if not texts:
        return found
    hidden = {chat.path for chat in chats}
    matches = [match for match in found.matches if match.place.path not in hidden]
    matches += await _search_texts(place, replace(query, names=()), texts)
    matches.sort(key=lambda match: (match.place.path.split("/"), match.line))
    truncated = found.truncated or is_cut or 0 < query.max_matches < len(matches)
    searched = None if found.files_searched is None else found.files_searched + len(texts)
    return Found(matches[: query.max_matches] if query.max_matches else matches, truncated, searched)


async def _search(place: Place, query: Query, sight: Sight) -> Found | None:
    """What the disk has; None when it does not even have the place."""
    try:
        return await search(place, query, sight)
    except NotFound:
        return None


@dataclass(frozen=True)
class _Text:
    """What one file of the store says, in lines that all have their end."""

    place: Place
    data: bytes


async def _texts(rows: Rows, query: Query, sight: Sight) -> list[_Text]:
    """The texts that only the store has and that the query is about."""
    include = query.include
    wanted = [one for one in rows.known.values() if not one.is_folder and (include is None or include(one.path))]
    # Few are missing, so the costlier question whether they may be seen comes last.
    gone = await rows.missing_on_disk(wanted)
    missing = {path for path in gone if sight.permits(path) and not sight.hides(rows.top.mount.name, path)}
    texts: list[_Text] = []
    room = MAX_STORED_BYTES
    for row in (await rows.of(sorted(missing))).values() if missing else ():
        if row.path not in missing or row.hash is None or row.content_kind == ContentKind.BINARY.value:
            continue
        room -= row.size or 0
        if room < 0:
            break
        place = rows.top if row.path == rows.top.path else rows.top.below(row.path)
        text = await _text(rows.records, row, place)
        if text is not None:
            texts.append(_Text(place, text))
        await asyncio.sleep(0)
    return texts


async def _chats(rows: Rows, session_id: str) -> list[ChatFile]:
    """The chats of sessions at or beneath the place."""
    if isinstance(rows.folder, ChatFile):
        return [rows.folder]
    if rows.top.path not in ("", CHATS) or rows.top.mount.name != PROJECT:
        return []
    own = path_of(session_id) if session_id and not rows.top.path else ""
    found = await chats_beneath(rows.records, rows.top, recursive=True)
    return [chat for chat in found if isinstance(chat, ChatFile) and chat.path != own]


def _is_wanted(path: str, top: Place, query: Query, sight: Sight) -> bool:
    if query.include is not None and not query.include(path):
        return False
    return sight.permits(path) and not sight.hides(top.mount.name, path)


async def _said(rows: Rows, chats: Sequence[ChatFile], *, room: int) -> tuple[list[_Text], bool]:
    """What was said in the chats, the last used first, and whether there is no room for more of them."""
    texts: list[_Text] = []
    for chat in sorted(chats, key=lambda chat: chat.updated_at, reverse=True):
        text = await rows.records.chats.text(chat)
        room -= len(text)
        if room < 0:
            return texts, True
        if text:
            texts.append(_Text(rows.top if chat.path == rows.top.path else rows.top.below(chat.path), text))
    return texts, False


async def _text(records: Records, row: File, place: Place) -> bytes | None:
    try:
        data = await load(records, row.hash or "", row.size or 0, mount=place.mount)
    except NotKept:
        return None
    encoding = detect(data)
    if encoding.is_binary:
        return None
    if encoding.is_wide:
        data = encoding.decode(data[len(encoding.mark) :]).encode(errors="replace")
    if row.is_virtual and row.content_kind == ContentKind.JSON.value:
        data = "\n".join(readable(json.loads(data))).encode(errors="replace")
    return data if data.endswith(b"\n") else data + b"\n"


def readable(value: Json, key: str = "") -> list[str]:
    """A JSON value as lines that a person can read: every word in it once, with the key that it stands behind."""
    prefix = f"{key}: " if key else ""
    match value:
        case str():
            return (prefix + value).splitlines() or [prefix.rstrip()]
        case Mapping():
            return [line for name, below in value.items() for line in readable(below, name)]
        case Sequence():
            return [line for below in value for line in readable(below, key)]
        case _:
            return [prefix + json.dumps(value)]


async def _search_texts(top: Place, query: Query, texts: Sequence[_Text]) -> list[Match]:
    """Search them as one text, and tell from the numbers of the lines which one each match is in."""
    starts: list[int] = []
    total = 0
    for text in texts:
        starts.append(total)
        total += text.data.count(b"\n")
    query = replace(query, before=min(query.before, MAX_CONTEXT_LINES), after=min(query.after, MAX_CONTEXT_LINES))
    hits = Hits(query, lambda _: top)
    await listen(top.mount.spawner.start_on(lambda: _as_file(texts), [*arguments(query), "-"]), hits)
    return [_mapped(match, texts, starts, total) for match in hits.matches]


def _mapped(match: Match, texts: Sequence[_Text], starts: Sequence[int], total: int) -> Match:
    at = bisect_right(starts, match.line - 1) - 1
    first, end = starts[at], starts[at + 1] if at + 1 < len(starts) else total
    above, below = match.line - 1 - first, end - match.line
    before = match.before[max(0, len(match.before) - above) :]
    return Match(texts[at].place, match.line - first, match.text, before, match.after[:below])


@contextmanager
def _as_file(texts: Sequence[_Text]) -> Generator[tuple[int, os.stat_result]]:
    descriptor = os.memfd_create("texts", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.writelines(text.data for text in texts)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor, os.fstat(descriptor)
    finally:
        os.close(descriptor)
