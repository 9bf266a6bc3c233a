"""What the store learns of a keep: the bytes that were there, those that come, and then a version for each step.

Everything goes in small pieces, so that no other call waits for the
writer for longer than a moment.
"""

import asyncio
import os
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from holdfast.store import changes as store
from holdfast.store import contents, files
from holdfast.store.begin import begin_all, record_all
from holdfast.store.contents import MAX_ROW_BYTES, Content, pack
from holdfast.store.database import Durability, Transaction
from holdfast.store.leases import check_held
from holdfast.store.versions import Origin
from holdfast.vocabulary.effects import EffectKind, EntryType
from holdfast.vocabulary.limits import MIB

from .entry import Kind
from .inode import Inode
from .keep_source import Source, check_same
from .keep_steps import Step
from .kept import LINK, keep_now, kind_of
from .kernel import open_beneath
from .mount import Mount
from .records import Records

_AIM_SECONDS = 0.01
_MOST_AT_ONCE = 400
_PIECE_BYTES = MIB // 2
_READ_AT_ONCE = 64

T = TypeVar("T")


@dataclass(frozen=True)
class Remember:
    """The store of one keep. `origin` has its call; what it makes can be repeated, since each version has a key of the layer's."""

    records: Records
    mounts: Mapping[str, Mount]
    layer_id: str
    origin: Origin
    kind: str

    async def before(self, steps: Iterable[Step], left: asyncio.Event) -> None:
        """Make a version of all bytes that are about to go and that the store lacks.

        Raises:
            CancelledError: Nobody waits any more.
            Again: Somebody writes there at this moment.
        """
        for some in _by(_READ_AT_ONCE, await asyncio.to_thread(_leaving, steps)):
            lacking = [step for step in some if await self._lacks(step)]
            for mount in {step.mount for step in lacking}:
                theirs = [step for step in lacking if step.mount == mount]
                found = await self.mounts[mount].pool.run(self._read_before, theirs)
                await self._import(found)
            _go_on(left)
            await asyncio.sleep(0)

    async def after(self, steps: Sequence[Step], source: Source, left: asyncio.Event) -> list[Step]:
        """Store the bytes that are to come, and give the steps with what kind of content each has.

        Raises:
            CancelledError: Nobody waits any more.
            Conflict: The bytes are not those that were looked at.
        """
        kinds: dict[int, str] = {}
        for some in _by(_READ_AT_ONCE, await asyncio.to_thread(_coming, steps)):
            for mount in {step.mount for step in some}:
                theirs = [step for step in some if step.mount == mount]
                found = await self.mounts[mount].pool.run(self._read_after, theirs, source)
                kinds.update({step.number: content.content_kind for step, content in found})
                await self._put([content for _, content in found])
            _go_on(left)
        return await asyncio.to_thread(_with_kinds, steps, kinds)

    async def versions(self, steps: Sequence[Step], *, done: Callable[[Sequence[Step]], Awaitable[None]], again: bool) -> None:
        """Make the versions of the steps, and have each piece `done` right after its versions are there."""
        at_once, position = 16, 0
        while position < len(steps):
            piece = steps[position : position + at_once]
            wishes = [wish for step in piece for wish in await self._wishes(step)]
            started = time.monotonic()
            if wishes:
                await record_all(self.records.database, self.records.lease, wishes, again=again)
            spent = time.monotonic() - started
            await done(piece)
            position += len(piece)
            at_once = max(4, min(_MOST_AT_ONCE, 2 * at_once, int(at_once * _AIM_SECONDS / max(spent, 1e-6))))

    async def met(self, steps: Iterable[Step]) -> None:
        """Take over what somebody else has put where a step should have been done: the disk is right."""
        for step in steps:
            mount = self.mounts[step.mount]
            if step.effect.is_ignored:
                continue
            found = await mount.pool.run(self._standing, mount, step.path)
            if found is not None:
                await self._import([store.Import(path=step.path, mount=self._name(step), found=found)])
            elif await self._row(step, step.path) is not None:
                lost = (store.Lose(path=step.path, mount=self._name(step)), self.origin)
                await begin_all(self.records.database, self.records.lease, [lost])

    async def _lacks(self, step: Step) -> bool:
        row = await self._row(step, step.left)
        return row is None or step.was is None or row.hash != step.was.hash or row.is_folder

    async def _row(self, step: Step, path: str) -> files.File | None:
        return await files.find(self.records.database, self.records.workspace_id, path, mount=self._name(step))

    def _read_before(self, steps: Sequence[Step]) -> list[store.Import]:
        found: list[store.Import] = []
        for step in steps:
            content = self._standing(self.mounts[step.mount], step.left)
            if content is not None and step.was is not None:
                found.append(store.Import(path=step.left, mount=self._name(step), found=content, mode=step.was.mode))
        return found

    def _standing(self, mount: Mount, path: str) -> Content | None:
        """What stands at a path, ready to be recorded; None for nothing, and for a folder."""
        try:
            named = open_beneath(mount.descriptor, path, os.O_PATH | os.O_NOFOLLOW, follow=False)
        except OSError:
            return None
        try:
            about = os.fstat(named)
            if stat.S_ISLNK(about.st_mode):
                return keep_now(self.records, Inode(Kind.LINK, about, named))
            if not stat.S_ISREG(about.st_mode):
                return None
            descriptor = os.open(f"/proc/self/fd/{named}", os.O_RDONLY | os.O_CLOEXEC)
            try:
                digest = mount.surveys.of_file(descriptor, about).sha256 if about.st_size > MAX_ROW_BYTES else None
                return keep_now(self.records, Inode(Kind.FILE, about, descriptor, digest))
            finally:
                os.close(descriptor)
        finally:
            os.close(named)

    def _read_after(self, steps: Sequence[Step], source: Source) -> list[tuple[Step, Content]]:
        return [(step, self._content(step, source)) for step in steps]

    def _content(self, step: Step, source: Source) -> Content:
        with source.opened(step) as opened:
            if isinstance(opened, bytes):
                kind = LINK if step.effect.type is EntryType.LINK else kind_of(opened).value
                content = pack(opened, content_kind=kind)
            else:
                about = os.fstat(opened)
                inode = Inode(Kind.FILE, about, opened, step.effect.hash if about.st_size > MAX_ROW_BYTES else None)
                content = keep_now(self.records, inode)
        check_same(step, content.hash)
        return content

    async def _import(self, found: Sequence[store.Import]) -> None:
        for piece in _by_size(found, lambda one: len(one.found.data or b"") if one.found else 0):
            wishes = [(one, self.origin) for one in piece]
            await record_all(self.records.database, self.records.lease, wishes)

    async def _put(self, found: Sequence[Content]) -> None:
        lease = self.records.lease
        for piece in _by_size(found, lambda one: len(one.data or b"")):

            def work(transaction: Transaction, piece: Sequence[Content] = piece) -> None:
                check_held(transaction, lease)
                for content in piece:
                    contents.put(transaction, content)

            # The transaction that promises the keep makes these outlast a power cut too.
            await self.records.database.write(work, durability=Durability.RECORDED)

    async def _wishes(self, step: Step) -> list[tuple[store.Change, Origin]]:
        """The versions of a step, each with a key by which it is found when it is made again."""
        key = f"{self.layer_id}/{step.number}"
        wishes = await self._ignored(step) if step.effect.is_ignored else await self._changes(step)
        return [(wish, replace(self.origin, key=f"{key}/{index}" if index else key)) for index, wish in enumerate(wishes)]

    async def _ignored(self, step: Step) -> list[store.Change]:
        """Ignored files get no versions; but what the store knows must not seem to be still there."""
        if step.effect.kind not in (EffectKind.DELETED, EffectKind.RENAMED) or await self._row(step, step.left) is None:
            return []
        return await self._changes(step)

    async def _changes(self, step: Step) -> list[store.Change]:
        effect, mount = step.effect, self._name(step)
        if step.puts_bytes:
            return [await self._written(step)]
        if step.makes_folder:
            return [store.MakeFolder(path=step.path, mount=mount, mode=effect.mode)]
        row = await self._row(step, step.left)
        match effect.kind:
            case EffectKind.DELETED if row is not None:
                return [store.Remove(path=step.path, mount=mount, is_folder=row.is_folder, mode=effect.mode)]
            case EffectKind.RENAMED:
                is_folder = effect.type is EntryType.DIRECTORY
                moved = store.Move(source=step.left, target=step.path, mount=mount, is_folder=is_folder, replace=True)
                is_other = step.was is not None and step.was.mode != effect.mode and not is_folder
                return [moved, self._mode(step, row)] if is_other else [moved]
            case EffectKind.MODE if effect.type is EntryType.FILE:
                return [self._mode(step, row)]
            case _:
                return []

    async def _written(self, step: Step) -> store.Change:
        effect = step.effect
        if step.file_id and await self._can_come_back(step):
            return store.Undelete(file_id=step.file_id, mode=effect.mode or None)
        # Its bytes are stored already, so that the hash is enough.
        content = Content(effect.hash, effect.size, "none", content_kind=step.content_kind)
        return store.Write(path=step.path, mount=self._name(step), content=content, kind=self.kind, mode=effect.mode or None)

    def _mode(self, step: Step, row: files.File | None) -> store.Write:
        assert step.was is not None, "what has a mode stands there"
        kind = row.content_kind if row is not None and row.content_kind else "text"
        content = Content(step.was.hash, step.was.size, "none", content_kind=kind)
        return store.Write(path=step.path, mount=self._name(step), content=content, kind="mode", mode=step.effect.mode)

    async def _can_come_back(self, step: Step) -> bool:
        row = await files.get(self.records.database, self.records.workspace_id, step.file_id)
        return row is not None and row.deleted_at is not None and (row.path, row.hash) == (step.path, step.effect.hash)

    def _name(self, step: Step) -> str:
        return self.records.name_of(self.mounts[step.mount])


def _leaving(steps: Iterable[Step]) -> list[Step]:
    """The steps that take bytes away which the store is to have."""
    return [step for step in steps if step.takes_bytes and not step.effect.is_ignored and not step.aside]


def _coming(steps: Iterable[Step]) -> list[Step]:
    """The steps that bring bytes which the store is to have."""
    return [step for step in steps if step.puts_bytes and not step.effect.is_ignored and not step.content_kind]


def _with_kinds(steps: Iterable[Step], kinds: Mapping[int, str]) -> list[Step]:
    return [replace(step, content_kind=kinds[step.number]) if step.number in kinds else step for step in steps]


def _by(count: int, steps: Iterable[Step]) -> Iterator[list[Step]]:
    rest = iter(steps)
    while some := list(islice(rest, count)):
        yield some


def _by_size(found: Sequence[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """The same in pieces that take the writer a moment each."""
    piece: list[T] = []
    total = 0
    for one in found:
        if piece and total + size(one) > _PIECE_BYTES:
            yield piece
            piece, total = [], 0
        piece.append(one)
        total += size(one)
    if piece:
        yield piece


def _go_on(left: asyncio.Event) -> None:
    if left.is_set():
        raise asyncio.CancelledError
