"""The bytes of versions: small ones go into their row, large ones into a folder by their hash, and the largest nowhere.

What is in the folder is synced before anybody can refer to it, and
never changes afterwards.
"""

import errno
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from holdfast.store import contents
from holdfast.store.contents import MAX_ROW_BYTES, Content, pack, unpack
from holdfast.vocabulary.errors import NotKept

from .entry import Kind
from .gate import Again
from .inode import Inode
from .item import ContentKind
from .mount import Mount
from .records import Records
from .text import LOOKED_AT_BYTES, detect

LINK: Final = "link"
TEMPORARY: Final = "new-"

_PACKED_HERE_BYTES = 8 * 1024
_BLOCK = 1024 * 1024
_FICLONE = 0x40049409


async def keep(records: Records, mount: Mount, inode: Inode, kind: ContentKind | None, *, was_json: bool = False) -> Content:
    """What an inode consists of, ready to be recorded. Without a `kind` the bytes tell; `was_json` lets them be JSON again.

    Raises:
        Again: The file changed while it was read.
        NoSpace: There is no room for its bytes.
    """
    if inode.size <= _PACKED_HERE_BYTES:
        return keep_now(records, inode, kind, was_json=was_json)
    return await mount.pool.run(keep_now, records, inode, kind, was_json=was_json)


async def load(records: Records, digest: str, size: int, *, mount: Mount | None = None) -> bytes:
    """The bytes of a version.

    Raises:
        NotKept: They were too large to be kept, or are kept no longer.
    """
    found = await contents.get(records.database, digest, size=size)
    if found is None or found.place == "none":
        raise _not_kept(digest, size)
    if found.place == "row":
        return unpack(found)
    work = mount.pool.run if mount else None
    return await work(_read_file, records.content_folder, found) if work else _read_file(records.content_folder, found)


def kind_of(data: bytes, *, was_json: bool = False) -> ContentKind:
    """What bytes are by themselves; JSON only when they were that before."""
    if was_json and is_json(data):
        return ContentKind.JSON
    return ContentKind.BINARY if detect(data[:LOOKED_AT_BYTES]).is_binary else ContentKind.TEXT


def link_target(inode: Inode) -> bytes:
    """Where a link leads, which is all that it consists of."""
    return os.fsencode(os.readlink("", dir_fd=inode.descriptor))


def is_json(data: bytes) -> bool:
    """Whether the bytes say a JSON value."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def keep_now(records: Records, inode: Inode, kind: ContentKind | None = None, *, was_json: bool = False) -> Content:
    """`keep`, on this thread."""
    if inode.kind is Kind.LINK:
        return pack(link_target(inode), content_kind=LINK)
    if inode.size <= MAX_ROW_BYTES:
        data = inode.read()
        content = pack(data, content_kind=(kind or kind_of(data, was_json=was_json)).value)
        if inode.sha256 is not None and content.hash != inode.sha256:
            raise Again
        return content
    assert inode.sha256 is not None, "a file that is recorded has been hashed"
    said = (kind or kind_of(os.pread(inode.descriptor, LOOKED_AT_BYTES, 0))).value
    if inode.size > records.max_kept_bytes:
        return Content(inode.sha256, inode.size, "none", content_kind=said)
    _keep_file(records.content_folder, inode, inode.sha256)
    return Content(inode.sha256, inode.size, "file", content_kind=said)


def _keep_file(folder: Path, inode: Inode, sha256: str) -> None:
    target = folder / sha256
    with suppress(FileNotFoundError):
        if target.stat().st_size == inode.size:
            os.utime(target)  # whoever sweeps must not take it for a leftover now
            return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = folder / f"{TEMPORARY}{secrets.token_hex(8)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        if not _clone(inode, descriptor) and _copy(inode, descriptor) != sha256:
            raise Again
        os.fsync(descriptor)
        os.rename(temporary, target)
        with _open_folder(folder) as opened:
            os.fsync(opened)
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _clone(inode: Inode, target: int) -> bool:
    """Share the blocks, where the file system can; only if the file is still what was hashed."""
    try:
        fcntl.ioctl(target, _FICLONE, inode.descriptor)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM, errno.ETXTBSY):
            return False
        raise
    now = os.fstat(inode.descriptor)
    if (now.st_size, now.st_mtime_ns, now.st_ctime_ns) != (inode.size, inode.about.st_mtime_ns, inode.about.st_ctime_ns):
        raise Again
    return True


def _copy(inode: Inode, target: int) -> str:
    digest, position = hashlib.sha256(), 0
    while block := os.pread(inode.descriptor, _BLOCK, position):
        digest.update(block)
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(target, rest) :]
        position += len(block)
    return digest.hexdigest()


def _read_file(folder: Path, content: Content) -> bytes:
    try:
        return (folder / content.hash).read_bytes()
    except FileNotFoundError:
        raise _not_kept(content.hash, content.size) from None


@contextmanager
def _open_folder(folder: Path) -> Generator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _not_kept(digest: str, size: int) -> NotKept:
    return NotKept("the content of that version is not kept", hint="Choose another version.", hash=digest, size=size)
