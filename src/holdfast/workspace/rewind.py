"""Taking back all that a session did to files after one of its events.

It is one undo of many calls: one promise, one record, done to its end
after a crash, and taken back like any other. What somebody else has
changed since is left alone; everything else goes back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.store import layers, session_calls, sessions
from holdfast.store.layers import NewLayer
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType
from holdfast.vocabulary.errors import Busy, InvalidArguments, NotFound

from .author import receipt_of
from .changes import Changes
from .keep import UNDO, Keeper, Plan
from .keep_choice import NEEDED
from .keep_source import Source
from .keep_steps import Step
from .keep_survey import KeepConflict, seen_at
from .mount import Mount
from .records import Records
from .rewind_steps import Key, Paper
from .trash import Trash
from .undo import MANY, NOT_KEPT, way_back, with_contents
from .undo_steps import AsLeft, Back

NOT_HERE = "mount_not_here"
_TRIES = 3


@dataclass(frozen=True)
class LeftAlone:
    """What was not taken back, or not all the way.

    `why` is `changed`, `exists` or `gone` when it is not as the session
    left it, `changed_between` when somebody changed it between two calls
    and it went back that far, `not_kept` when the old bytes are not
    stored, `needed` when it goes together with something else that is left
    alone, `mount_not_here`, or `impossible`.
    """

    mount: str
    path: str
    why: str


@dataclass(frozen=True)
class Rewound:
    """What came of a rewind, or would come of it: which calls it takes back, the newest first, and what became of the files."""

    calls: tuple[str, ...]
    restored: tuple[Effect, ...] = ()
    left: tuple[LeftAlone, ...] = ()


async def rewind(
    records: Records, changes: Changes, mounts: Mapping[str, Mount], session_id: str, event: int, *, trash: Trash, dry_run: bool = False
) -> Rewound:
    """Make everything that the session changed after the event what it was then; 0 is before all events.

    With `dry_run` nothing is changed, and what would be is told.

    Raises:
        NotFound: There is no such session.
        InvalidArguments: It has no such event.
        NoSpace, AccessDenied, Busy, LostLease: As the names say.
    """
    by_name = {records.name_of(mount): mount for mount in mounts.values()}
    keeper = Keeper(records, changes, by_name, trash)
    calls = await _calls_after(records, session_id, event)
    paper, until_ns, away = Paper(by_name), 0, dict[Key, str]()
    for call_id in calls:
        way = await way_back(keeper, call_id, session_id)
        until_ns = max(until_ns, way.until_ns)
        away |= {(one.step.mount, one.step.path): NOT_HERE for one in way.backs if one.step.mount not in by_name}
        here = [one for one in way.backs if one.step.mount in by_name]
        await keeper.in_thread(paper.take_back, await keeper.in_thread(_hashed, trash, here))
    backs = await keeper.in_thread(paper.backs)
    steps, lost = await with_contents(keeper, backs)
    left = {**away, **paper.left}
    rewinding = _Rewinding(keeper, session_id, tuple(calls), _rule(backs, until_ns), left, paper.pairs)
    steps = rewinding.without({(step.mount, step.path): NOT_KEPT for step in lost}, steps)
    return await rewinding.looked_at(steps) if dry_run else await rewinding.done(steps)


async def _calls_after(records: Records, session_id: str, event: int) -> list[str]:
    """The calls that have something on record after the event, or that changed files after it, the newest first."""
    database, workspace_id = records.database, records.workspace_id
    session = await sessions.get(database, workspace_id, session_id)
    if session is None:
        raise NotFound("Session not found", hint="List the sessions.", session=session_id)
    at = await session_calls.time_of(database, workspace_id, session_id, event) if event else 0
    if at is None:
        raise InvalidArguments.of("event", f"is not one of the session's, which has {session.last_seq}", hint="0 is before them all.")
    told = await session_calls.told_after(database, workspace_id, session_id, event)
    every = await session_calls.changing(database, workspace_id, session_id)
    return [call.id for call in every if call.at > at or call.id in told or call.command_id in told]


def _hashed(trash: Trash, backs: Sequence[Back]) -> list[Back]:
    """The ways back, with the hashes of what comes from the trash: only by them can it be told whether one joins the next."""
    return [_with_hash(trash, one) if one.step.source and one.step.puts_bytes and not one.step.effect.hash else one for one in backs]


def _with_hash(trash: Trash, back: Back) -> Back:
    step = back.step
    if not trash.has(step.source):
        return back
    return replace(back, step=replace(step, effect=replace(step.effect, hash=trash.hash_of(step.source))))


def _rule(backs: Sequence[Back], until_ns: int) -> AsLeft:
    return AsLeft({(one.step.mount, one.step.left): one.expected for one in backs}, until_ns)


@dataclass(frozen=True)
class _Rewinding:
    """One rewind on its way. `left` is what is left alone, `pairs` are paths of which both change, or none."""

    keeper: Keeper
    session_id: str
    calls: tuple[str, ...]
    rule: AsLeft
    left: dict[Key, str]
    pairs: Sequence[tuple[Key, Key]]

    async def looked_at(self, steps: Sequence[Step]) -> Rewound:
        """What would come of it."""
        ready, _ = await self._free(steps)
        return self._told([step.effect for step in ready])

    async def done(self, steps: Sequence[Step]) -> Rewound:
        """What came of it. Whatever gets in the way at the last moment is left alone too."""
        for _ in range(_TRIES):
            ready, steps = await self._free(steps)
            plan = self._plan(steps)
            if not ready:
                await self._mark(plan.new)
                return self._told([])
            kept = await self.keeper.carry_out(plan, Source({}, self.keeper.trash), self.rule)
            if not kept.conflicts:
                self.left.update({(one.effect.mount, one.effect.path): one.why for one in kept.left_out})
                return self._told(kept.kept)
        raise Busy("the files are being changed all the time", hint="Try again in a moment.")

    async def _free(self, steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
        """The steps that nothing is in the way of: those that have something left to do, and all."""
        wanted = list(steps)
        while wanted:
            ready, conflicts, _ = await self.keeper.surveyed(self._plan(wanted), self.rule)
            if not conflicts:
                return ready, wanted
            refused: dict[Key, str] = {}
            for conflict in conflicts:
                assert conflict.effect is not None, "a survey says what is in the way of what"
                is_there = await self.keeper.in_thread(self._is_there_already, conflict)
                refused[conflict.effect.mount, conflict.effect.path] = "" if is_there else conflict.why
                if not is_there:
                    self.left.setdefault((conflict.mount, conflict.path), conflict.why)
            wanted = self.without(refused, wanted)
        return [], []

    def without(self, refused: Mapping[Key, str], steps: Sequence[Step]) -> list[Step]:
        """The steps that are left when some are refused for a reason, and with them those that go together with one of them."""
        out = dict(refused)
        while more := {theirs: NEEDED for pair in self.pairs for ours, theirs in (pair, pair[::-1]) if ours in out and theirs not in out}:
            out |= more
        for key, why in out.items():
            if why in (NOT_KEPT, NEEDED):
                self.left.setdefault(key, why)
        return [step for step in steps if (step.mount, step.path) not in out]

    def _is_there_already(self, conflict: KeepConflict) -> bool:
        """Whether what is in the way is just what would be put there."""
        effect = conflict.effect
        if effect is None or effect.kind not in (EffectKind.ADDED, EffectKind.CHANGED, EffectKind.RENAMED):
            return False
        seen = seen_at(self.keeper.mounts[effect.mount], effect.path, hashed=True)
        return seen is not None and seen.was.type is effect.type and effect.type is not EntryType.DIRECTORY and seen.was.hash == effect.hash

    def _plan(self, steps: Sequence[Step]) -> Plan:
        author = receipt_of(self.keeper.changes.author).author
        new = NewLayer(
            id=uuid7(),
            session_id=author.session_id or self.session_id,
            call_id=author.call_id,
            started={},
            undoes=MANY.join(self.calls),
        )
        numbered = [replace(step, number=number) for number, step in enumerate(steps)]
        return Plan(new, Effects(tuple(step.effect for step in numbered)), numbered, UNDO)

    async def _mark(self, new: NewLayer) -> None:
        """Everything was as it had been, or is somebody else's; from now on the calls count as taken back."""
        if self.calls:
            await layers.add(self.keeper.records.database, self.keeper.records.lease, replace(new, state=layers.SETTLED))

    def _told(self, restored: Sequence[Effect]) -> Rewound:
        left = tuple(LeftAlone(mount, path, why) for (mount, path), why in sorted(self.left.items()))
        return Rewound(self.calls, tuple(restored), left)
