"""Syncing the disk behind the changes' backs, many at once, and then saying in the store that they are there for good.

Until then a version is pending, and the recovery would write it again.
So nothing is lost by coming late, and nobody waits for this.
"""

import asyncio
import ctypes
import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from holdfast.store import versions
from holdfast.vocabulary.errors import HoldfastError, LostLease, NotFound

from .kernel import open_beneath
from .mount import Mount
from .records import Records

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5
_FILES_WORTH_A_SYNC_OF_ALL = 32

_syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


@dataclass(frozen=True)
class Applied:
    """A change that has been made, and what must be synced for it: paths in a mount, and the version that it became."""

    mount: Mount
    files: tuple[str, ...]
    folders: tuple[str, ...]
    version_id: str | None


class Settling:
    """The queue of what has been done, and the task that works it off."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._queue: list[Applied] = []
        self._to_abort: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def add(self, applied: Applied) -> None:
        """Settle this when its time has come."""
        self._queue.append(applied)
        self._start()

    def abort_later(self, version_id: str) -> None:
        """Try again to take back a version that the store would not take back at once."""
        self._to_abort.append(version_id)
        self._start()

    async def flush(self) -> None:
        """Settle everything that has been added so far."""
        for version_id in self._taken_to_abort():
            await self._abort(version_id)
        batch, self._queue = self._queue, []
        if batch:
            await self._settle(batch)

    async def close(self) -> None:
        """Settle what is left, then end."""
        self._closing.set()
        if self._task is not None:
            await self._task
        await self.flush()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work_off())

    async def _work_off(self) -> None:
        while (self._queue or self._to_abort) and not self._closing.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), PAUSE_SECONDS)
            await self.flush()

    async def _settle(self, batch: Sequence[Applied]) -> None:
        mounts = {applied.mount for applied in batch}
        try:
            for mount in mounts:
                await mount.pool.run(sync, mount, [applied for applied in batch if applied.mount is mount])
        except (OSError, RuntimeError) as error:
            # What cannot be synced stays pending; the recovery looks at it. A pool that is closed says RuntimeError.
            log.warning("the disk could not be synced: %s", error)
            return
        settled = [applied.version_id for applied in batch if applied.version_id is not None]
        if not settled:
            return
        try:
            await versions.settle(self._records.database, self._records.lease, settled)
        except LostLease:
            log.info("the workspace is held by another process, which settles what is pending")
        except HoldfastError as error:
            log.warning("versions stay pending for now: %s", error)
            if not self._closing.is_set():
                self._queue.extend(batch)

    def _taken_to_abort(self) -> list[str]:
        taken, self._to_abort = self._to_abort, []
        return taken

    async def _abort(self, version_id: str) -> None:
        try:
            await versions.abort(self._records.database, self._records.lease, version_id)
        except (LostLease, NotFound):
            return
        except HoldfastError:
            if not self._closing.is_set():
                self._to_abort.append(version_id)


def sync(mount: Mount, batch: Sequence[Applied]) -> None:
    """Make changes outlast a power cut. What has gone since needs no sync: its folder gets one."""
    files = {path for applied in batch for path in applied.files}
    folders = {path for applied in batch for path in applied.folders}
    if len(files) > _FILES_WORTH_A_SYNC_OF_ALL and sync_all(mount):
        return
    _sync_each(mount, files, os.O_RDONLY | os.O_NONBLOCK)
    _sync_each(mount, folders, os.O_RDONLY | os.O_DIRECTORY)


def sync_all(mount: Mount) -> bool:
    """Sync the whole file system of a mount; False when that is not to be had."""
    if _syncfs is None:
        return False
    root = open_beneath(mount.descriptor, "", os.O_RDONLY | os.O_DIRECTORY, follow=False)
    try:
        return _syncfs(root) == 0
    finally:
        os.close(root)


def _sync_each(mount: Mount, paths: Iterable[str], flags: int) -> None:
    for path in paths:
        # Gone, another kind of thing, or not ours to read: then it is no longer what we made.
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            try:
                descriptor = open_beneath(mount.descriptor, path, flags, follow=False)
            except OSError:
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
