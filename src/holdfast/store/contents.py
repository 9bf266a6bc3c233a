"""What files consist of, stored once per hash: small ones in their row, large ones in the data folder, huge ones not at all."""

import hashlib
import zlib
from dataclasses import dataclass, field

from holdfast.vocabulary.limits import KIB, MIB

from .columns import insert, now
from .database import Database, Transaction

MAX_ROW_BYTES = MIB
MAX_FILE_BYTES = 256 * MIB

_MAX_NEAR_BYTES = 64 * KIB  # more than that is not read on the loop's thread
_LEVEL = 1  # half the ratio's gain at a fifth of the time, and the disk is not what is scarce

_PUT = (
    f"{insert('contents', 'hash, size, place, encoding, data, created_at')} ON CONFLICT (hash)"
    " DO UPDATE SET place = excluded.place, encoding = excluded.encoding, data = excluded.data"
    " WHERE contents.place = 'none' AND excluded.place <> 'none'"
)


@dataclass(frozen=True)
class Content:
    """The bytes of one version, ready to be stored or as they were found.

    `place` is `row` (in `data`, as `encoding` says), `file` (in the data
    folder, by its hash; put there and synced before the row is written) or
    `none` (only hash and size are known). `content_kind` (text, json,
    binary, link) is the version's: the same bytes may be two of them.
    """

    hash: str
    size: int
    place: str
    encoding: str = "raw"
    data: bytes | None = field(default=None, repr=False)
    content_kind: str = "text"


def pack(data: bytes, *, content_kind: str = "text") -> Content:
    """The content for bytes that go into a row. Takes a while for large ones, so call it on a thread."""
    packed = zlib.compress(data, _LEVEL)
    digest = hashlib.sha256(data).hexdigest()
    if len(packed) < len(data):
        return Content(digest, len(data), "row", "zlib", packed, content_kind)
    return Content(digest, len(data), "row", "raw", data, content_kind)


def unpack(content: Content) -> bytes:
    """The bytes of a content that is in its row."""
    if content.data is None:
        raise ValueError(f"the content {content.hash} is not in its row")
    return zlib.decompress(content.data) if content.encoding == "zlib" else content.data


def kept_outside(digest: str, size: int, *, content_kind: str = "binary") -> Content:
    """The content for bytes that the caller has put into the data folder, or that are too large even for that."""
    return Content(digest, size, "file" if size <= MAX_FILE_BYTES else "none", content_kind=content_kind)


async def get(database: Database, digest: str, *, size: int, content_kind: str = "text") -> Content | None:
    """The content with that hash; `size` decides whether it is read here or on a thread."""
    read = database.rows if size <= _MAX_NEAR_BYTES else database.scan
    rows = await read("SELECT hash, size, place, encoding, data FROM contents WHERE hash = :hash", {"hash": digest})
    return Content(*rows[0], content_kind=content_kind) if rows else None


def put(transaction: Transaction, content: Content) -> None:
    """Store the content unless it is there; what was only known by its hash is completed."""
    transaction.run(_PUT, {**vars(content), "created_at": now()})
