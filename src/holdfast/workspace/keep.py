"""Making the effects of a command real, all of them in one logical step.

First everything is looked at, and whatever the store lacks is stored.
Then one small transaction promises the keep; up to there nothing has
happened, and from there on it is done to its end, after a crash by
whoever holds the workspace next. The layer's upper has the bytes until
then.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from holdfast.store import layers
from holdfast.store.layers import LayerRow, NewLayer
from holdfast.store.versions import Origin
from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType
from holdfast.vocabulary.errors import AccessDenied, Broken, Busy, Conflict, HoldfastError, NoSpace, NotKept, ReadOnly

from .author import receipt_of
from .changes import Changes
from .chats import ChatFile, may_be_chat
from .gate import Again
from .keep_apply import Apply
from .keep_choice import Choice, LeftOut, Permission, choose
from .keep_source import Source
from .keep_steps import Step, folder_modes, ordered, pack_steps, unpack_steps
from .keep_store import Remember
from .keep_survey import KeepConflict, Rule, SinceStart, lock_paths, survey
from .kept import load
from .mount import Mount
from .records import Records
from .settling import sync_all
from .trash import Trash

COMMAND = "command"
UNDO = "undo"
LATE = "changed"

_TRIES = 3

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Kept:
    """What came of a keep. With conflicts nothing was kept.

    `forgotten` are those whose old bytes are not stored, so that they
    cannot be taken back.
    """

    kept: tuple[Effect, ...] = ()
    conflicts: tuple[KeepConflict, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    forgotten: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What is to be done: the row that it gets, all effects that were looked at, and the steps."""

    new: NewLayer
    effects: Effects
    steps: Sequence[Step]
    kind: str = COMMAND


async def keep(
    records: Records,
    changes: Changes,
    mounts: Mapping[str, Mount],
    new: NewLayer,
    effects: Effects,
    uppers: Mapping[str, int],
    *,
    trash: Trash,
    only: Iterable[tuple[str, str]] | None = None,
    may_write_git: bool = False,
    may_write_protected: bool = False,
) -> Kept:
    """Keep the effects of a layer, or `only` those at or below some paths. The layer can be discarded afterwards.

    `uppers` are open folders; `may_write_git` says that a person was
    asked about the config and the hooks of repositories. Whoever makes
    the changes is their author.

    Raises:
        Conflict: The layer is not what was looked at, or has been decided already.
        NoSpace, AccessDenied, Busy, LostLease: As the names say. If it was promised already, it is done when the workspace is next opened.
    """
    keeper = Keeper(records, changes, mounts, trash)
    source = Source(uppers, trash)
    permission = Permission(may_write_git, may_write_protected, source.is_plain_config)
    choice = await keeper.in_thread(choose, effects.every, list(only) if only is not None else None, permission)
    plan = Plan(new, effects, await keeper.in_thread(_steps, choice))
    result = await keeper.carry_out(plan, source, SinceStart(new.started))
    return replace(result, left_out=(*choice.left_out, *result.left_out))


@dataclass(frozen=True)
class Keeper:
    """The workspace in which something is kept; `mounts` are by the names that the effects have."""

    records: Records
    changes: Changes
    mounts: Mapping[str, Mount]
    trash: Trash

    async def carry_out(self, plan: Plan, source: Source, rule: Rule) -> Kept:
        """Do all steps, or none when something is in the way."""
        if not plan.steps:
            return Kept()
        paths = await self.in_thread(self._paths, plan.steps)
        return await self.changes.hold_while(paths, lambda left: self._unless_decided(plan, source, rule, left))

    async def finish(self, row: LayerRow, source: Source) -> int:
        """Do again what was promised and may have been done in part; returns how many steps there are."""
        steps = await self.recorded(row)
        origin = Origin(session_id=row.session_id, call_id=row.kept_by)
        remember = Remember(self.records, self.mounts, row.id, origin, UNDO if row.undoes else COMMAND)
        foreign = await self._apply(remember, steps, source, again=True)
        # After a power cut the upper may be less than it was. The store has what the promise was made for.
        stored = [step for step in foreign if step.puts_bytes and not step.effect.is_ignored and not step.source]
        still = await self._apply(remember, stored, replace(source, uppers={}), again=True) if stored and source.uppers else stored
        await remember.met([*(step for step in foreign if step not in stored), *still])
        await self._settle(row.id, steps)
        return len(steps)

    async def recorded(self, row: LayerRow) -> list[Step]:
        """The steps that were promised."""
        database = self.records.database
        return await self.in_thread(unpack_steps, await layers.record(database, row), await layers.packed_effects(database, row))

    async def in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that takes long enough to be felt, and waits for no disk."""
        return await asyncio.to_thread(work, *args, **kwargs)

    async def _unless_decided(self, plan: Plan, source: Source, rule: Rule, left: asyncio.Event) -> Kept:
        """Keep what is pending, so that nobody decides otherwise meanwhile; what comes of nothing is pending again."""
        database, lease, layer_id = self.records.database, self.records.lease, plan.new.id
        with source.held() as source:
            held = await layers.get(database, self.records.workspace_id, layer_id)
            if held is None or held.state == layers.RUNNING:
                return await self._done(plan, source, rule, left)
            await layers.move(database, lease, layer_id, to=layers.KEEPING, only_from=(layers.PENDING,))
            is_kept = False
            try:
                kept = await self._done(plan, source, rule, left)
                is_kept = bool(kept.kept)
                return kept
            finally:
                if not is_kept:
                    with suppress(Conflict):
                        await layers.move(database, lease, layer_id, to=layers.PENDING, only_from=(layers.KEEPING,))

    async def _done(self, plan: Plan, source: Source, rule: Rule, left: asyncio.Event) -> Kept:
        author = receipt_of(self.changes.author).author
        remember = Remember(self.records, self.mounts, plan.new.id, author.origin, plan.kind)
        tries = 0
        while True:
            steps, conflicts, forgotten = await self.surveyed(plan, rule)
            if conflicts or not steps:
                return Kept(conflicts=tuple(conflicts))
            try:
                await remember.before(steps, left)
                steps = await remember.after(steps, source, left)
                break
            except Again:
                tries += 1
                if tries == _TRIES:
                    raise Busy("the files are being changed all the time", hint="Try again in a moment.") from None
            except OSError as error:
                raise _explained(error) from error
        await self._commit(plan, steps, author.call_id)
        foreign = await self._apply(remember, steps, source, again=False)
        await remember.met(foreign)
        await self._settle(plan.new.id, steps)
        late = {id(step) for step in foreign}
        return Kept(
            kept=tuple(step.effect for step in steps if id(step) not in late),
            left_out=tuple(LeftOut(step.effect, LATE) for step in foreign),
            forgotten=tuple(forgotten),
        )

    async def surveyed(self, plan: Plan, rule: Rule) -> tuple[list[Step], list[KeepConflict], list[Effect]]:
        """The steps that are left to do, what is in their way, and what could not be taken back."""
        steps: list[Step] = []
        conflicts: list[KeepConflict] = []
        for name, theirs in (await self.in_thread(_by_mount, plan.steps)).items():
            mount = self.mounts[name]
            virtual = await layers.virtual_paths(self.records.database, self.records.workspace_id, self.records.name_of(mount))
            named_so = [step.path for step in theirs if may_be_chat(step.path)]
            virtual |= {path for path in named_so if isinstance(await self.records.row_at(mount, path), ChatFile)}
            try:
                seen, met = await mount.pool.run(self._survey, plan, mount, theirs, rule, virtual)
            except OSError as error:
                raise _explained(error) from error
            steps += seen
            conflicts += met
        return steps, conflicts, await self.in_thread(_forgotten, steps)

    def _survey(
        self, plan: Plan, mount: Mount, steps: Sequence[Step], rule: Rule, virtual: Set[str]
    ) -> tuple[list[Step], list[KeepConflict]]:
        met = [KeepConflict(step.mount, step.path, "exists", step.effect) for step in steps if step.path in virtual] if virtual else []
        seen = survey(mount, steps, rule)
        _check_space(mount, seen.steps)
        return [self._with_aside(plan.new.id, step, seen.sizes) for step in seen.steps], [*met, *seen.conflicts]

    def _with_aside(self, layer_id: str, step: Step, sizes: Mapping[str, int]) -> Step:
        """The step, with where in the trash what it replaces goes, if the store is not to have that."""
        was, effect = step.was, step.effect
        if was is None or effect.kind in (EffectKind.MODE, EffectKind.RENAMED):
            return step
        if was.type is EntryType.DIRECTORY and not effect.is_whole:
            return step
        size = sizes.get(effect.path, was.size)
        is_for_trash = effect.is_ignored or was.size > self.records.max_kept_bytes
        if not is_for_trash or size > self.trash.max_bytes:
            return step
        return replace(step, aside=f"{layer_id}/{step.number}", was=replace(was, size=size))

    async def _commit(self, plan: Plan, steps: Sequence[Step], call_id: str) -> None:
        effects = await self.in_thread(layers.pack_effects, plan.effects.every)
        record = await self.in_thread(pack_steps, steps, plan.effects.every)
        await layers.commit(
            self.records.database,
            self.records.lease,
            plan.new,
            kept_by=call_id,
            effects_hash=plan.effects.hash,
            effects=effects,
            record=record,
        )

    async def _apply(self, remember: Remember, steps: Sequence[Step], source: Source, *, again: bool) -> list[Step]:
        """Make the versions and do the steps, piece by piece; gives those that somebody else was quicker with."""
        foreign: list[Step] = []

        async def done(piece: Sequence[Step]) -> None:
            given = await self._given(piece, source)
            for name, theirs in _by_mount(piece).items():
                apply = Apply(self.mounts[name], given, self.trash, again)
                await self.mounts[name].pool.run(apply.all, theirs)
                foreign.extend(apply.foreign)

        try:
            await remember.versions(await self.in_thread(ordered, steps), done=done, again=again)
            for name, theirs in (await self.in_thread(_by_mount, steps)).items():
                apply = Apply(self.mounts[name], source, self.trash, again)
                await self.mounts[name].pool.run(apply.set_modes, folder_modes(theirs))
        except OSError as error:
            raise _explained(error) from error
        return foreign

    async def _given(self, piece: Sequence[Step], source: Source) -> Source:
        """The source, with what only the store has."""
        given: dict[str, bytes] = {}
        for step in piece:
            if step.puts_bytes and not step.source and step.mount not in source.uppers:
                with suppress(NotKept):
                    given[step.effect.hash] = await load(self.records, step.effect.hash, step.effect.size, mount=self.mounts[step.mount])
        return replace(source, given=given) if given else source

    async def _settle(self, layer_id: str, steps: Sequence[Step]) -> None:
        for name in await self.in_thread(_by_mount, steps):
            await self.mounts[name].pool.run(sync_all, self.mounts[name])
        await layers.move(self.records.database, self.records.lease, layer_id, to=layers.SETTLED, only_from=(layers.COMMITTED,))
        await self.in_thread(self._limit_trash, layer_id, steps)

    def _limit_trash(self, layer_id: str, steps: Sequence[Step]) -> None:
        sizes = [step.was.size for step in steps if step.aside and step.was is not None]
        if sizes:
            self.trash.note(layer_id, sum(sizes))
            self.trash.limit()

    def _paths(self, steps: Sequence[Step]) -> list[str]:
        """What to lock.

        Raises:
            ReadOnly: A step is in a mount that may only be read.
        """
        for name in _by_mount(steps):
            mount = self.mounts.get(name)
            if mount is None or mount.mode is MountMode.READ_ONLY:
                raise ReadOnly(f"@{name} may only be read", hint="Leave its effects out.", mount=name)
        return lock_paths(self.mounts, (step.effect for step in steps))


def _steps(choice: Choice) -> list[Step]:
    return [Step(number, effect) for number, effect in choice.chosen]


def _by_mount(steps: Iterable[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = {}
    for step in steps:
        found.setdefault(step.effect.mount, []).append(step)
    return found


def _forgotten(steps: Iterable[Step]) -> list[Effect]:
    """The folders that go whole, and for good."""
    return [step.effect for step in steps if step.effect.is_whole and step.effect.kind is EffectKind.DELETED and not step.aside]


def _check_space(mount: Mount, steps: Sequence[Step]) -> None:
    """Meet a full disk before anything is promised.

    Raises:
        NoSpace: There is not room for all at once.
    """
    wanted = sum(step.effect.size for step in steps if step.puts_bytes and step.effect.type is EntryType.FILE)
    free = os.statvfs(f"/proc/self/fd/{mount.descriptor}")
    room = free.f_bavail * free.f_frsize
    if wanted > room:
        raise NoSpace(f"no space left to keep {wanted} bytes", hint="Free some space, then repeat the call.", wanted=wanted, free=room)


def _explained(error: OSError) -> HoldfastError:
    said = f"{error.strerror or error}: {error.filename}" if error.filename else str(error.strerror or error)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpace("no space left to keep the effects", hint="Free some space, then repeat the call.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return AccessDenied(f"the effects cannot be kept: {said}", hint="Check the owner and the mode of the files.")
        case errno.ENOENT | errno.ENOTDIR | errno.ELOOP | errno.EINVAL:
            return Conflict(f"the layer or the workspace has changed meanwhile: {said}", hint="Look at the effects again.")
        case _:
            return Broken(f"the effects could not be kept: {said}", hint="This is a fault of the disk or the system; try again later.")
