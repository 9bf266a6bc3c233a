"""The one protocol by which anything in a workspace changes.

Every change holds the lock of its paths while it is checked, staged,
recorded, applied and synced, in this order. Up to the record it can be
taken back without a trace; from then on it is done to its end, whether
or not somebody still waits for it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeAlias, TypeVar

from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import Busy, Protected, ReadOnly

from .change import Change, Ledger, NoLedger
from .gate import Again, Gate
from .locks import Hold, Locks
from .place import Place
from .sight import OWN_TEMPORARY

BUSY_AFTER_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.001
_LONGEST_PAUSE_SECONDS = 0.05
_WAIT_AFTER_CANCEL_SECONDS = 1.0

T = TypeVar("T")
Steps: TypeAlias = Generator[Change, None, T]


@dataclass(frozen=True)
class Changes:
    """How the files of one workspace are changed: one for all its mounts, which share its locks."""

    ledger: Ledger = field(default_factory=NoLedger)
    author: object = None
    gate: Gate = field(default_factory=Gate, repr=False)
    _locks: Locks = field(default_factory=Locks, repr=False)
    _underway: set["asyncio.Task[object]"] = field(default_factory=set["asyncio.Task[object]"], repr=False)

    @property
    def sync(self) -> bool:
        """Whether a change syncs the disk itself, because its record would not outlast a power cut."""
        return not self.ledger.durable

    def by(self, author: object) -> "Changes":
        """The same, for changes made on behalf of `author`."""
        return replace(self, author=author)

    async def make(self, steps: Callable[[], Steps[T]], *places: Place) -> T:
        """Carry out one change of these places, and return what came of it.

        `steps` runs in a thread: it looks, checks and stages, yields the
        change, goes on when that is recorded, and returns. If it returns
        without a yield there was nothing to change; if it raises `Again` it
        is started anew.

        A caller that is cancelled leaves either nothing or the whole change.

        Raises:
            Busy: Other processes kept changing the same thing.
            ReadOnly, Protected: The place is not one for changes.
        """
        for place in places:
            _check_changeable(place)
        hold = await self._locks.acquire(str(place.mount.root / place.path).rstrip("/") for place in places)
        run = _Run(self.ledger, places[0], steps)
        task = asyncio.create_task(self._hold_during(run.to_the_end(), hold))
        self._underway.add(task)
        task.add_done_callback(self._underway.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            run.withdrawn = True
            await asyncio.wait({task}, timeout=_WAIT_AFTER_CANCEL_SECONDS)
            raise

    async def hold_while(self, paths: Iterable[str], work: Callable[[asyncio.Event], Awaitable[T]]) -> T:
        """Do what changes many places at once, with the locks of them all; `paths` are absolute, without a slash at the end.

        `work` is done to its end, in a task of its own. It is given what
        says that its caller has left: up to its record it may then give up.
        """
        hold, left = await self._locks.acquire(paths), asyncio.Event()
        task = asyncio.create_task(self._hold_during(work(left), hold))
        self._underway.add(task)
        task.add_done_callback(self._underway.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            left.set()
            await asyncio.wait({task}, timeout=_WAIT_AFTER_CANCEL_SECONDS)
            raise

    async def finish(self) -> None:
        """Wait until nothing is under way any more, so that the mounts can be closed."""
        while self._underway:
            await asyncio.wait(self._underway)

    async def _hold_during(self, work: Awaitable[T], hold: Hold) -> T:
        try:
            return await work
        finally:
            self._locks.release(hold)


@dataclass
class _Run(Generic[T]):
    """One change on its way, in a task of its own: its caller can leave, and nothing is torn by that."""

    ledger: Ledger
    place: Place
    steps: Callable[[], Steps[T]]
    withdrawn: bool = False

    async def to_the_end(self) -> T:
        now = asyncio.get_running_loop().time
        give_up_at, pause = now() + BUSY_AFTER_SECONDS, _FIRST_PAUSE_SECONDS
        while not self.withdrawn:
            try:
                return await self._once()
            except Again:
                if now() > give_up_at:
                    raise _busy(self.place) from None
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        raise asyncio.CancelledError

    async def _once(self) -> T:
        steps = self.steps()
        step = await self._in_thread(lambda: _advance(steps))
        if isinstance(step, _End):
            return step.value
        try:
            if self.withdrawn:
                raise asyncio.CancelledError
            ticket = await self.ledger.pending(step)
        except BaseException:
            await self._in_thread(steps.close)
            raise
        try:
            step = await self._in_thread(lambda: _advance(steps))
        except BaseException as error:
            await self.ledger.aborted(ticket, error)
            raise
        await self.ledger.applied(ticket)
        if isinstance(step, Change):
            raise TypeError("a change yields once")
        return step.value

    async def _in_thread(self, work: Callable[[], "R"]) -> "R":
        """Do the work to its end: a thread cannot be stopped, and what it holds must be let go."""
        job = self.place.mount.pool.start(work)
        while not job.done():
            try:
                await asyncio.wait({job})
            except asyncio.CancelledError:
                self.withdrawn = True
        return job.result()


R = TypeVar("R")


@dataclass(frozen=True)
class _End(Generic[T]):
    value: T


def _advance(steps: Steps[T]) -> Change | _End[T]:
    try:
        return next(steps)
    except StopIteration as end:
        return _End(end.value)


def _check_changeable(place: Place) -> None:
    if place.mount.mode is MountMode.READ_ONLY:
        raise ReadOnly(f"'{place}' is in a mount that may only be read", hint="Write to another mount.", path=str(place))
    if any(part.startswith(OWN_TEMPORARY) for part in place.path.split("/")):
        raise Protected(
            f"'{place}' has a name that is kept for Holdfast's own files",
            hint="Choose another name.",
            path=str(place),
            prefix=OWN_TEMPORARY,
        )


def _busy(place: Place) -> Busy:
    return Busy(
        f"'{place}' is being changed by others all the time",
        hint="Try again in a moment.",
        path=str(place),
        waited_seconds=BUSY_AFTER_SECONDS,
    )
