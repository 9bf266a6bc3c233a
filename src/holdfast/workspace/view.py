"""What a file says, as whoever wrote it meant it: text by lines, a JSON value, or bytes in base64.

The disk's bytes are shown, whatever the store has. Only what the disk
does not have, or cannot have, is shown from the store.
"""

import base64
import json
from dataclasses import dataclass, replace

from holdfast.store import versions
from holdfast.store.contents import MAX_FILE_BYTES
from holdfast.store.files import File
from holdfast.vocabulary.errors import IsDirectory, NotDirectory, NotFound, TooLarge
from holdfast.vocabulary.json import Json

from .chats import ChatFile
from .entry import Entry, Kind
from .info import info
from .item import ContentKind, Item, View
from .items import item_of, not_found
from .kept import load
from .lines import Lines
from .place import Place
from .read import EVERYTHING, Slice, read
from .records import Records
from .text import LOOKED_AT_BYTES, detect, whole_characters

MAX_VIEW_BYTES = 16 * 1024 * 1024
_VERSIONS_LOOKED_AT = 100
_NO_LINES = Lines(at_most=0)


async def view(records: Records | None, place: Place, lines: Lines = EVERYTHING, *, max_bytes: int | None = None) -> View:
    """The wanted lines of a text, at most `max_bytes` of them; of anything else the whole.

    Raises:
        NotFound: Neither disk nor store has it.
        IsDirectory, SpecialFile, AccessDenied: As the names say.
        TooLarge: It is not text, and has more than `max_bytes`.
        NotKept: Only the store has it, and not its bytes.
    """
    limit = MAX_VIEW_BYTES if max_bytes is None else max_bytes
    row = await records.row(place) if records else None
    if records and isinstance(row, ChatFile):
        return await _chat(records, row, lines, limit)
    if records and row is not None and row.is_virtual and not row.is_folder:
        return await _stored(records, place, row, lines, limit)
    try:
        part = await read(place, lines, max_bytes=limit)
    except (NotFound, NotDirectory):
        if records is None or row is None:
            raise not_found(place) from None
        return await _stored(records, place, row, lines, limit)
    return await _seen(records, place, row, part, limit)


async def about(records: Records | None, place: Place) -> View:
    """All of a view but the content, of files of any size.

    Raises:
        NotFound, IsDirectory, SpecialFile, AccessDenied, NotKept: As in `view`.
    """
    row = await records.row(place) if records else None
    if records and isinstance(row, ChatFile):
        return replace(await _chat(records, row, _NO_LINES, 0), content=None, first=None, lines=None, truncated=None)
    try:
        if records and row is not None and row.is_virtual and not row.is_folder:
            raise not_found(place)
        seen, part = await info(place), await read(place, _NO_LINES, max_bytes=0)
    except (NotFound, NotDirectory):
        if records is None or row is None:
            raise not_found(place) from None
        return replace(await _stored(records, place, row, _NO_LINES, MAX_FILE_BYTES), content=None)
    item, sha256 = item_of(place.path, row, seen), part.sha256 or ""
    is_json = records is not None and row is not None and await _was_written_as_json(records, row, sha256)
    kind = ContentKind.JSON if is_json else ContentKind.BINARY if part.encoding.is_binary else ContentKind.TEXT
    total = part.total_lines if kind is ContentKind.TEXT else None
    return View(item, kind, None, sha256, part.size, total_lines=total, first=None, lines=None, truncated=None)


def shown(item: Item, kind: ContentKind, data: bytes, sha256: str, lines: Lines, limit: int) -> View:
    """Bytes that are all here, as a view of the file.

    Raises:
        TooLarge: It is not text, and has more than `limit` bytes.
    """
    if kind is not ContentKind.TEXT:
        return _whole(item, kind, data, sha256, limit)
    window = _Window.of(data, lines, limit)
    return View(
        item,
        kind,
        window.text,
        sha256,
        len(data),
        total_lines=window.total,
        first=window.first,
        lines=window.count,
        truncated=window.more,
    )


async def _seen(records: Records | None, place: Place, row: File | None, part: Slice, limit: int) -> View:
    item, sha256 = item_of(place.path, row, Entry(place.path, Kind.FILE, part.size, part.modified)), part.sha256 or ""
    is_json = records is not None and row is not None and await _was_written_as_json(records, row, sha256)
    if is_json or part.encoding.is_binary:
        if part.size > limit:
            raise _too_large(item, part.size, limit)
        whole = await read(place, max_bytes=limit)
        kind = ContentKind.JSON if is_json and whole.sha256 == sha256 else ContentKind.BINARY
        return _whole(item, kind, whole.data, whole.sha256 or "", limit)
    return View(
        item,
        ContentKind.TEXT,
        part.text,
        sha256,
        part.size,
        total_lines=part.total_lines,
        first=part.first,
        lines=part.lines,
        truncated=part.more,
    )


async def _was_written_as_json(records: Records, row: File, sha256: str) -> bool:
    if row.hash == sha256:
        return row.content_kind == ContentKind.JSON.value
    if row.content_kind != ContentKind.JSON.value:
        return False
    # A version on its way is in the store a moment before it is on the disk, which still has the one before.
    known = await versions.history(records.database, records.workspace_id, row.id, limit=_VERSIONS_LOOKED_AT)
    return any(one.hash == sha256 and one.content_kind == ContentKind.JSON.value for one in known)


async def _stored(records: Records, place: Place, row: File, lines: Lines, limit: int) -> View:
    if row.is_folder:
        raise IsDirectory(f"'{place}' is a directory, not a file", hint="List it instead.", path=str(place))
    if row.hash is None:
        raise not_found(place)
    data = await load(records, row.hash, row.size or 0, mount=place.mount)
    return shown(item_of(place.path, row, None), kind_said(row.content_kind, data), data, row.hash, lines, limit)


async def _chat(records: Records, chat: ChatFile, lines: Lines, limit: int) -> View:
    part = await records.chats.read(chat, lines, limit)
    return View(
        item_of(chat.path, replace(chat, size=part.size), None),
        ContentKind.TEXT,
        part.text,
        part.sha256,
        part.size,
        total_lines=part.total_lines,
        first=part.first,
        lines=part.lines,
        truncated=part.more,
    )


def kind_said(content_kind: str | None, data: bytes) -> ContentKind:
    """What a version's word for its content means; a link is shown as the text of where it leads."""
    if content_kind in (ContentKind.JSON.value, ContentKind.BINARY.value):
        return ContentKind(content_kind)
    return ContentKind.BINARY if detect(data[:LOOKED_AT_BYTES]).is_binary else ContentKind.TEXT


def _whole(item: Item, kind: ContentKind, data: bytes, sha256: str, limit: int) -> View:
    if len(data) > limit:
        raise _too_large(item, len(data), limit)
    content: Json = json.loads(data) if kind is ContentKind.JSON else base64.b64encode(data).decode()
    return View(item, kind, content, sha256, len(data), total_lines=None, first=None, lines=None, truncated=None)


@dataclass(frozen=True)
class _Window:
    """Some lines of bytes that are all here."""

    text: str
    first: int
    count: int
    total: int
    more: bool

    @classmethod
    def of(cls, data: bytes, lines: Lines, limit: int) -> "_Window":
        encoding = detect(data)
        body = data[len(encoding.mark) :]
        if encoding.is_wide:
            body = encoding.decode(body).encode(errors="replace")
        every = by_line(body)
        first = lines.skip if lines.skip >= 0 else max(0, len(every) + lines.skip)
        wanted = b"".join(every[first:] if lines.at_most is None else every[first : first + lines.at_most])
        part = whole_characters(wanted[:limit]) if len(wanted) > limit else wanted
        count = part.count(b"\n") + (1 if part and not part.endswith(b"\n") else 0)
        return cls(part.decode(errors="replace"), first, count, len(every), more=first + count < len(every) or len(part) < len(wanted))


def by_line(body: bytes) -> list[bytes]:
    """The lines, each with its line feed; a carriage return ends none."""
    lines = [line + b"\n" for line in body.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _too_large(item: Item, size: int, limit: int) -> TooLarge:
    return TooLarge(f"'/{item.path}' has {size} bytes", hint=f"At most {limit} can be shown of what is not text.", size=size, limit=limit)
