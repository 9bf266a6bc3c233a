"""Writing and editing in the `workspace` dialect: what is saved is a version, and what was not known becomes known."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.store import versions
from holdfast.store.files import File
from holdfast.vocabulary.errors import InvalidArguments, MergeConflict, NotFound, NotKept, StaleHash
from holdfast.vocabulary.json import Json

from .author import Receipt, with_receipt
from .changes import Changes
from .edit import inserted, replaced
from .item import ContentKind, Saved
from .items import not_found
from .kept import load
from .ledger import check_not_virtual
from .merge import Clash, Merged, merge3
from .place import Place
from .records import Records
from .text import detect
from .view import by_line, kind_said
from .write import revise, write

_VERSIONS_A_PAGE = 500
_CLASHES_TOLD = 10
_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True)
class Part:
    """The part of a file that an edit is about: from where `begins` says to the end. The file becomes a `file_type`."""

    begins: Callable[[bytes], int]
    file_type: str | None = None


WHOLE = Part(lambda _: 0)


async def save(
    records: Records, changes: Changes, place: Place, content: Json, *, file_type: str | None = None, overwrite: bool = False
) -> Saved:
    """Make `content` the whole of a file: a string as its text, anything else as compact JSON; missing folders are made.

    Raises:
        Exists: The file is there, and must not be overwritten.
        IsDirectory, Virtual: A folder or a virtual file is there.
        InvalidArguments: The content cannot be written as UTF-8, or has a number that JSON does not know.
    """
    data, kind = _bytes_of(content)
    changes, receipt = with_receipt(changes, Receipt(content_kind=kind, file_type=file_type, is_new=not overwrite))
    check_not_virtual(await records.row(place), place)
    await write(changes, place, data, exists=None if overwrite else False, parents=True)
    return saved(place, receipt)


async def replace_saved(
    records: Records,
    changes: Changes,
    place: Place,
    old: str,
    new: str,
    *,
    only_if: str | None = None,
    merge: bool = False,
    part: Part = WHOLE,
) -> Saved:
    """Put `new` where `old` is, which must be there exactly once.

    With `merge`, a file that is no longer `only_if` is brought together
    with the edit of what was read, when both can be had.

    Raises:
        NoMatch, ManyMatches: `old` is not there once.
        StaleHash: The file is not `only_if`, and is not to be merged, or the store does not have what was read.
        MergeConflict: Both changed the same lines; the facts have both sides.
        NotFound, InvalidArguments, IsDirectory, Virtual: As the names say.
    """
    if not old:
        raise InvalidArguments.of("old_string", "is empty", hint="Name the text to replace, or insert by line.")
    edit = _Edit(lambda data: replaced(data, old, new, place), part, only_if, merge)
    return await _edited(records, changes, place, edit)


async def insert_saved(
    records: Records,
    changes: Changes,
    place: Place,
    line: int,
    content: str,
    *,
    only_if: str | None = None,
    merge: bool = False,
    part: Part = WHOLE,
) -> Saved:
    """Put whole lines before a line, counted from 0; the count of lines appends.

    Raises:
        InvalidRange: There is no such line.
        StaleHash, MergeConflict, NotFound, InvalidArguments, IsDirectory, Virtual: As in `replace_saved`.
    """
    edit = _Edit(lambda data: inserted(data, line, content, place), part, only_if, merge)
    return await _edited(records, changes, place, edit)


def saved(place: Place, receipt: Receipt, *, merged: tuple[int, ...] = ()) -> Saved:
    """What the caller is told of a change that was recorded."""
    assert receipt.begun is not None, "a change that was made has been recorded"
    file, version = receipt.begun.file, receipt.begun.version
    return Saved(place.path, file.id, version.id, version.hash, merged)


async def bring_back(records: Records, changes: Changes, place: Place, row: File) -> None:
    """Put a file that only the store has back to the disk.

    Raises:
        NotKept: The store does not have its bytes.
    """
    if row.hash is None:
        raise not_found(place)
    data = await load(records, row.hash, row.size or 0, mount=place.mount)
    changes, _ = with_receipt(changes, Receipt(kind="restore", content_kind=kind_said(row.content_kind, data)))
    await write(changes, place, data, exists=False, parents=True)


@dataclass(frozen=True)
class _Edit:
    """A change of a part of a file, and what it needs."""

    change: Callable[[bytes], bytes]
    part: Part
    only_if: str | None
    merge: bool

    def __call__(self, data: bytes) -> bytes:
        begins = self.part.begins(data)
        return data[:begins] + self.change(data[begins:])


async def _edited(records: Records, changes: Changes, place: Place, edit: _Edit) -> Saved:
    row = await records.row(place)
    check_not_virtual(row, place)
    changes, receipt = with_receipt(changes, Receipt(kind="edit", file_type=edit.part.file_type))
    for is_second in (False, True):
        try:
            await revise(changes, place, edit, only_if=edit.only_if)
            return saved(place, receipt)
        except NotFound:
            if is_second or row is None or row.is_folder:
                raise not_found(place) from None
            await bring_back(records, changes, place, row)
        except StaleHash:
            if not edit.merge or edit.only_if is None or row is None:
                raise
            break
    assert edit.only_if is not None
    assert row is not None
    merging = _Merging(place, by_line(await _what_was_read(records, row, place, edit.only_if)), edit)
    await revise(changes, place, merging)
    return saved(place, receipt, merged=tuple(line + 1 for line in merging.result.from_theirs))


class _Merging:
    """The edit of what was read, done to what is there now."""

    def __init__(self, place: Place, base: list[bytes], make: Callable[[bytes], bytes]) -> None:
        self._place = place
        self._base = base
        self._ours = by_line(make(b"".join(base)))
        self.result = Merged((), ())

    def __call__(self, theirs: bytes) -> bytes:
        self.result = merge3(self._base, self._ours, by_line(theirs))
        if self.result.clashes:
            raise _conflict(self._place, self.result.clashes)
        return b"".join(self.result.lines)


async def _what_was_read(records: Records, row: File, place: Place, digest: str) -> bytes:
    """The bytes of the version of this file that has the hash; not of any other file, which the caller may not know.

    Raises:
        StaleHash: There is none, or its lines cannot be told apart.
    """
    before: int | None = None
    while page := await versions.history(records.database, records.workspace_id, row.id, before=before, limit=_VERSIONS_A_PAGE):
        for version in page:
            if version.hash == digest.lower() and version.size is not None:
                try:
                    data = await load(records, digest.lower(), version.size, mount=place.mount)
                except NotKept:
                    raise _cannot_merge(place, row, digest) from None
                encoding = detect(data)
                if encoding.is_wide or encoding.is_binary:
                    raise _cannot_merge(place, row, digest)
                return data
        before = page[-1].number
    raise _cannot_merge(place, row, digest)


def _bytes_of(content: Json) -> tuple[bytes, ContentKind]:
    try:
        if isinstance(content, str):
            return content.encode(), ContentKind.TEXT
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(), ContentKind.JSON
    except UnicodeEncodeError:
        raise InvalidArguments.of("content", "has half a character in it, which UTF-8 cannot say") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArguments.of("content", f"cannot be said in JSON: {error}") from None


def _conflict(place: Place, clashes: tuple[Clash, ...]) -> MergeConflict:
    told: list[Json] = [
        {"line": clash.line + 1, "yours": _shown(clash.ours), "theirs": _shown(clash.theirs), "read": _shown(clash.base)}
        for clash in clashes[:_CLASHES_TOLD]
    ]
    return MergeConflict(
        f"'{place}' has changed in the lines that the edit is about",
        hint="Read the file again, then repeat the edit on what is there now.",
        path=str(place),
        conflicts=told,
        count=len(clashes),
    )


def _shown(lines: tuple[bytes, ...]) -> str:
    return b"".join(lines).decode(errors="replace")[:_SHOWN_CHARACTERS]


def _cannot_merge(place: Place, row: File, digest: str) -> StaleHash:
    return StaleHash(
        f"'{place}' has changed since you read it, and what you read is not kept",
        hint="Read the file again, then repeat the change.",
        path=str(place),
        expected=digest,
        found=row.hash,
    )
