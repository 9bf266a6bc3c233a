"""Doing again what one pending version promised, unless it is done, or somebody has done something else."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256

from holdfast.store import versions
from holdfast.store.begin import begin
from holdfast.store.changes import Import, Lose
from holdfast.store.contents import Content
from holdfast.store.files import File
from holdfast.store.versions import Origin, Version
from holdfast.vocabulary.errors import NotDirectory, NotEmpty, NotFound, NotKept, Outside

from .change import Change, Ticket
from .changes import Changes
from .entry import Kind
from .faults import told
from .folders import folder_of
from .history import link
from .inode import found, there
from .kept import LINK, keep_now, link_target, load
from .kernel import open_beneath
from .ledger import number_of
from .make import make_directory
from .mount import Mount
from .move import move
from .place import Place
from .records import Records
from .remove import remove
from .resolve import resolve
from .write import write

_VERSIONS_A_PAGE = 1_000


class Outcome(Enum):
    """What became of a pending version."""

    SETTLED = "settled"
    REDONE = "redone"
    EXTERNAL = "external"
    ABORTED = "aborted"


class _Quiet:
    """A ledger for what has been recorded already; the disk is synced later."""

    durable = True

    async def pending(self, change: Change) -> Ticket:
        return Ticket(change.verb.value)

    async def applied(self, ticket: Ticket) -> None:
        pass

    async def aborted(self, ticket: Ticket, error: BaseException) -> None:
        pass


@dataclass(frozen=True)
class _Seen:
    """What stands at a path: its kind and number, and of a file or link the hash of its content."""

    kind: Kind
    number: str
    hash: str | None


@dataclass(frozen=True)
class Redo:
    """One pending version, which is the newest of its file; `row` is that file."""

    records: Records
    mount: Mount
    version: Version
    row: File
    changes: Changes = field(default_factory=lambda: Changes(_Quiet()))

    async def done(self) -> Outcome:
        """Bring the disk to what the version says, and tell what that took.

        Raises:
            HoldfastError: It could not be done; the version is still pending.
        """
        try:
            return await self._redone()
        except (NotDirectory, Outside):
            # Somebody has put a file or a link where a folder of the way was.
            return await self._lose()

    async def _redone(self) -> Outcome:
        match self.version.kind:
            case "remove":
                return await self._removed()
            case "mkdir":
                return await self._made()
            case "move":
                return await self._moved()
            case _ if self.row.is_folder:
                return await self._made()
            case _:
                return await self._written()

    async def _written(self) -> Outcome:
        place = await self._place(self.row.path)
        seen = await self._look(place)
        if seen is not None and seen.hash is not None and seen.hash == self.version.hash:
            return Outcome.SETTLED
        if seen is not None and seen.hash not in await self._earlier():
            return await self._keep(place)
        try:
            data = await load(self.records, self.version.hash or "", self.version.size or 0, mount=self.mount)
        except NotKept:
            return await self._keep(place) if seen is not None else await self._abort()
        if self.version.content_kind == LINK:
            await link(self.changes, place, data)
        else:
            await write(self.changes, place, data, parents=True)
            await self.mount.pool.run(_give_mode, place, self.version.mode)
        return Outcome.REDONE

    async def _moved(self) -> Outcome:
        source, target = await self._place(self.version.before_path or ""), await self._place(self.row.path)
        redone = False
        if await self._look(target) is None and await self._is_the_same(source):
            await move(self.changes, source, target, parents=True)
            redone = True
        outcome = await self._made() if self.row.is_folder else await self._written()
        return Outcome.REDONE if redone and outcome is Outcome.SETTLED else outcome

    async def _removed(self) -> Outcome:
        place = await self._place(self.version.path)
        if await self._look(place) is None or await self.records.stored_at(place.mount, place.path) is not None:
            return Outcome.SETTLED
        if not await self._is_the_same(place):
            seen = await self._look(place)
            return Outcome.SETTLED if seen is None else await self._keep(place)
        with suppress(NotFound):
            try:
                await remove(self.changes, place)
            except NotEmpty:
                return await self._abort()
        return Outcome.REDONE

    async def _made(self) -> Outcome:
        place = await self._place(self.row.path)
        seen = await self._look(place)
        if seen is None:
            await make_directory(self.changes, place)
            return Outcome.REDONE
        return Outcome.SETTLED if seen.kind is Kind.DIRECTORY else await self._keep(place)

    async def _is_the_same(self, place: Place) -> bool:
        """Whether what stands there is what the version is about: by its number, or as an earlier version of it that nobody else claims."""
        seen = await self._look(place)
        if seen is None:
            return False
        if seen.number == self.version.inode and (seen.kind is Kind.DIRECTORY) == self.row.is_folder:
            return True
        if await self.records.stored_at(place.mount, place.path) is not None:
            return False
        return seen.hash is not None and seen.hash in await self._earlier()

    async def _earlier(self) -> set[str | None]:
        """The hashes of all versions that the file had."""
        hashes: set[str | None] = set()
        before: int | None = None
        while page := await versions.history(
            self.records.database, self.records.workspace_id, self.row.id, before=before, limit=_VERSIONS_A_PAGE
        ):
            hashes.update(one.hash for one in page if one.hash is not None)
            before = page[-1].number
        return hashes

    async def _keep(self, place: Place) -> Outcome:
        """Let the disk be right: what stands there becomes the newest version."""
        content = await self.mount.pool.run(_content, self.records, place)
        known = Import(path=place.path, mount=self.records.name_of(place.mount), found=content)
        await begin(self.records.database, self.records.lease, known, Origin())
        return Outcome.EXTERNAL

    async def _lose(self) -> Outcome:
        """Let the disk be right that there can be nothing; what was to be there can be undeleted."""
        if self.row.deleted_at is None:
            lost = Lose(path=self.row.path, mount=self.row.mount)
            await begin(self.records.database, self.records.lease, lost, Origin())
        return Outcome.EXTERNAL

    async def _abort(self) -> Outcome:
        await versions.abort(self.records.database, self.records.lease, self.version.id)
        return Outcome.ABORTED

    async def _place(self, path: str) -> Place:
        return await resolve(self.mount, path, written=f"/{path}", follow=False)

    async def _look(self, place: Place) -> _Seen | None:
        return await self.mount.pool.run(_look, place)


def _look(place: Place) -> _Seen | None:
    try:
        with told(place), folder_of(place) as folder, found(folder.descriptor, place) as inode:
            if inode is None:
                return None
            digest = sha256(link_target(inode)).hexdigest() if inode.kind is Kind.LINK else inode.sha256
            return _Seen(inode.kind, number_of(inode), digest)
    except (NotFound, NotDirectory):
        return None


def _content(records: Records, place: Place) -> Content | None:
    """What stands at the place, ready to be recorded; None for a folder."""
    with told(place), folder_of(place) as folder, found(folder.descriptor, place) as inode:
        return keep_now(records, there(inode)) if there(inode).kind is not Kind.DIRECTORY else None


def _give_mode(place: Place, mode: int | None) -> None:
    """Let a file that was written again be as it was to be: one that had to be made anew has the mode of any new file."""
    if mode is None:
        return
    descriptor = open_beneath(place.mount.descriptor, place.path, os.O_RDONLY | os.O_NONBLOCK, follow=False)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, mode & 0o777)
    finally:
        os.close(descriptor)
