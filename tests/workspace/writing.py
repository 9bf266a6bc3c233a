"""What the tests of changes share: places, what is left over, and writers in processes of their own."""

import asyncio
import hashlib
import multiprocessing
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from holdfast.vocabulary.errors import Busy, NotFound, StaleHash
from holdfast.workspace.append import append
from holdfast.workspace.change import Change, Ticket
from holdfast.workspace.changes import Changes
from holdfast.workspace.entry import Kind
from holdfast.workspace.inode import Inode
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.resolve import resolve_now
from holdfast.workspace.write import write

_TEMPORARY = re.compile(r"\.holdfast-[0-9a-f]{16}")
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["holdfast.workspace.write", "tests.workspace.writing"])


def at(mount: Mount, path: str, *, follow: bool = True) -> Place:
    """The place of a path."""
    return resolve_now(mount, path, written=path, follow=follow)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def leftovers(root: Path) -> list[str]:
    """Our temporaries that are still in the folder, at any depth."""
    return [name for _, folders, files in os.walk(root) for name in (*folders, *files) if _TEMPORARY.fullmatch(name)]


def everything(root: Path) -> dict[str, bytes | None]:
    """All that is in a folder: the bytes of files, None for folders."""
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


async def count_up(changes: Changes, place: Place, file: Path, times: int) -> None:
    """Add one to the number in a file, so many times, beginning again whenever somebody else was quicker."""
    done = 0
    while done < times:
        seen = _read(file)
        try:
            await write(changes, place, b"%d" % (int(seen) + 1), only_if=sha256(seen))
        except StaleHash:
            await asyncio.sleep(0)
        else:
            done += 1


def counting_process(root: Path, name: str, times: int) -> ForkServerProcess:
    return _PROCESSES.Process(target=_count_up_alone, args=(root, name, times))


def writing_process(root: Path, acknowledged: Path) -> ForkServerProcess:
    """A process that writes one generation after another until it is killed, and says which ones it was told were written."""
    return _PROCESSES.Process(target=_write_for_ever, args=(root, acknowledged))


def appending_process(root: Path, name: str, mark: str, times: int) -> ForkServerProcess:
    """A process that adds long lines to a log."""
    return _PROCESSES.Process(target=_append_lines, args=(root, name, mark, times))


def versioning_process(root: Path, address: str, workspace_id: str, content_folder: Path, acknowledged: Path) -> ForkServerProcess:
    """Four writers in one process that holds the workspace, each of a file of its own, until it is killed."""
    return _PROCESSES.Process(target=_version_for_ever, args=(root, address, workspace_id, content_folder, acknowledged))


def generation(number: int) -> bytes:
    """Bytes that show by themselves whether they are whole."""
    body = b"%d\n" % number + b"x" * (number * 7919 % 200_000)
    return sha256(body).encode() + b"\n" + body


def number_of(data: bytes) -> int | None:
    """Which generation this is, or None when it is torn."""
    seal, _, body = data.partition(b"\n")
    return int(body.partition(b"\n")[0]) if seal == sha256(body).encode() else None


@contextmanager
def mounted(root: Path) -> Generator[Mount]:
    mount = Mount("project", root)
    try:
        yield mount
    finally:
        mount.close()


class Recording:
    """A ledger that remembers what it is told, and lets somebody else change a file at the worst moment."""

    def __init__(
        self, file: Path | None = None, content: bytes = b"", *, refuse: bool = False, seconds: float = 0, durable: bool = False
    ) -> None:
        self.durable = durable
        self.asked = asyncio.Event()
        self.heard: list[str] = []
        self.changes: list[Change] = []
        self.contents: list[tuple[bytes | None, bytes | None]] = []
        self._file, self._content, self._refuse, self._seconds = file, content, refuse, seconds

    async def pending(self, change: Change) -> Ticket:
        self.heard.append("pending")
        self.asked.set()
        self.changes.append(change)
        self.contents.append((_content(change.before), _content(change.after)))
        await asyncio.sleep(self._seconds)
        if self._refuse:
            raise Busy("the store is closed")
        if self._file is not None:
            self._file.write_bytes(self._content)
        return Ticket(str(len(self.changes)))

    async def applied(self, ticket: Ticket) -> None:
        self.heard.append("applied")

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        self.heard.append(f"aborted {type(error).__name__}")


def _content(inode: Inode | None) -> bytes | None:
    return inode.read() if inode is not None and inode.kind is Kind.FILE else None


def _read(file: Path) -> bytes:
    return file.read_bytes()


def _count_up_alone(root: Path, name: str, times: int) -> None:
    with mounted(root) as mount:
        asyncio.run(count_up(Changes(), at(mount, name), root / name, times))


def _append_lines(root: Path, name: str, mark: str, times: int) -> None:
    async def run(place: Place) -> None:
        for _ in range(times):
            await append(place, mark.encode() * 20_000)

    with mounted(root) as mount:
        asyncio.run(run(at(mount, name)))


def _write_for_ever(root: Path, acknowledged: Path) -> None:
    async def run(mount: Mount, log: int) -> None:
        changes, number = Changes(), 0
        while True:
            number += 1
            await write(changes, at(mount, "a/b/file"), generation(number), parents=True)
            os.write(log, b"%d\n" % number)

    log = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with mounted(root) as mount:
        asyncio.run(run(mount, log))


def _version_for_ever(root: Path, address: str, workspace_id: str, content_folder: Path, acknowledged: Path) -> None:
    from holdfast.store.opening import open_database
    from tests.workspace.shelf import Shelf, shelved, taken_over

    async def write_on(shelf: Shelf, name: str, log: int) -> None:
        moved, file = at(shelf.mount, f"{name}/moved"), at(shelf.mount, f"{name}/file")
        with suppress(NotFound):
            await shelf.files.relocate(moved, file)
        number = number_of(_read(root / file.path)) or 0 if (root / file.path).exists() else 0
        while True:
            number += 1
            await shelf.files.write(file, generation(number))
            os.write(log, f"{name} {number}\n".encode())
            if number % 5 == 0:
                await shelf.files.relocate(file, moved)
                await shelf.files.relocate(moved, file)

    async def run(mount: Mount, log: int) -> None:
        database = await open_database(address)
        shelf = shelved(mount, database, await taken_over(database, workspace_id), content_folder)
        await shelf.crash_and_recover()
        shelf = shelved(mount, database, await taken_over(database, workspace_id), content_folder)
        await asyncio.gather(*(write_on(shelf, name, log) for name in ("a", "b", "c", "d")))

    log = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with mounted(root) as mount:
        asyncio.run(run(mount, log))
