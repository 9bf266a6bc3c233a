"""The other way round: for each step that was done, the one that takes it back, and what must stand there for that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.store import files, versions
from holdfast.store.files import File
from holdfast.store.versions import ABORTED, Version
from holdfast.vocabulary.effects import Effect, EffectKind, EntryType

from .keep_choice import above_all
from .keep_steps import Step
from .keep_survey import AS_IT_IS, Seen
from .kept import LINK
from .records import Records
from .stage import NEW_FILE_MODE, NEW_FOLDER_MODE

_VERSIONS_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class After:
    """What a call left at a path. A mode of None may be any."""

    type: EntryType
    hash: str
    mode: int | None


@dataclass(frozen=True, slots=True)
class Back:
    """A step that takes something back; `expected` is what it takes the place of."""

    step: Step
    expected: After | None


@dataclass(frozen=True)
class AsLeft:
    """What is no longer as the call left it is somebody else's. With `forces` nothing is."""

    expected: Mapping[tuple[str, str], After | None]
    since_ns: int
    forces: bool = False
    needs_hash: bool = True
    leaves_folders: bool = True

    def is_foreign(self, effect: Effect, path: str, seen: Seen) -> bool:
        """Whether it has other bytes, another mode, or is something else."""
        left = self.expected.get((effect.mount, path))
        if left is None or self.forces:
            return not self.forces
        was = seen.was
        if was.type is not left.type or (was.type is not EntryType.DIRECTORY and was.hash != left.hash):
            return True
        has_mode = was.type is EntryType.FILE or effect.kind is EffectKind.MODE
        return has_mode and left.mode is not None and was.mode != left.mode

    def is_late(self, mount: str, changed_at_ns: int) -> bool:
        """Whether something in a folder that goes whole is newer than the call."""
        return not self.forces and changed_at_ns > self.since_ns


def back_from_layer(step: Step, file_id: str) -> Back:
    """The way back from a step of a command; `file_id` is the file that it removed."""
    effect, was = step.effect, step.was
    after = After(effect.type, effect.hash, effect.mode)
    if effect.kind is EffectKind.ADDED:
        gone = replace(effect, kind=EffectKind.DELETED, note="")
        return Back(Step(step.number, gone), after)
    assert was is not None, "what is not new was something before"
    old = replace(effect, type=was.type, mode=was.mode, size=was.size, hash=was.hash, note="")
    if effect.kind is EffectKind.DELETED:
        old = replace(old, kind=EffectKind.ADDED, size=0 if effect.is_whole else old.size)
        return Back(Step(step.number, old, source=step.aside, file_id=file_id), None)
    if effect.kind is EffectKind.RENAMED:
        old = replace(old, path=effect.before, before=effect.path, hash=effect.hash)
        return Back(Step(step.number, old), after)
    if effect.kind is EffectKind.MODE:
        return Back(Step(step.number, replace(old, hash=effect.hash)), after)
    return Back(Step(step.number, old, source=step.aside), after)


async def back_from_versions(records: Records, made: Sequence[Version]) -> list[Back]:
    """The way back from what tools did, by what the versions of the same files were before."""
    found: dict[tuple[str, str], Back] = {}
    by_file: dict[str, list[Version]] = {}
    for version in made:
        by_file.setdefault(version.file_id, []).append(version)
    for file_id, own in by_file.items():
        row = await files.get(records.database, records.workspace_id, file_id)
        if row is None or row.is_virtual:
            continue
        for back in _of_file(row, own, await _before(records, own[0])):
            key = (back.step.mount, back.step.path)
            found[key] = _joined(found[key], back) if key in found else back
    return list(found.values())


async def _before(records: Records, first: Version) -> Version | None:
    """The version before the call's first one."""
    before: int | None = first.number
    while page := await versions.history(records.database, records.workspace_id, first.file_id, before=before, limit=_VERSIONS_A_PAGE):
        for version in page:
            if version.state != ABORTED:
                return version
        before = page[-1].number
    return None


def _of_file(row: File, own: Sequence[Version], before: Version | None) -> list[Back]:
    first, last = own[0], own[-1]
    was_there, is_there = first.before_path is not None, last.kind != "remove"
    kind = EntryType.DIRECTORY if row.is_folder else EntryType.LINK if last.content_kind == LINK else EntryType.FILE
    after = After(kind, last.hash or "", None)
    old_path = first.before_path or first.path
    made = [Back(Step(0, _folder_gone(last.mount, path)), After(EntryType.DIRECTORY, "", None)) for path in _made(own)]
    if not was_there:
        gone = Effect(last.mount, last.path, EffectKind.DELETED, kind, mode=last.mode or 0, hash=last.hash or "")
        return [Back(Step(0, gone), after), *made] if is_there else made
    old = _old(row, old_path, before, own)
    if not is_there:
        return [Back(Step(0, old, content_kind=before.content_kind if before and before.hash else "", file_id=row.id), None)] if old else []
    if last.path != old_path:
        return [*_moved_back(kind, first, last, old, before), *made]
    if old is None or old.hash == last.hash:
        return made
    changed = replace(old, kind=EffectKind.CHANGED, mode=AS_IT_IS if kind is EntryType.FILE else 0)
    return [Back(Step(0, changed, content_kind=before.content_kind if before else ""), after), *made]


def _moved_back(kind: EntryType, first: Version, last: Version, old: Effect | None, before: Version | None) -> list[Back]:
    after = After(kind, last.hash or "", None)
    if old is None or old.hash == (last.hash or ""):
        size = last.size or 0
        back = Effect(
            last.mount, first.before_path or "", EffectKind.RENAMED, kind, mode=AS_IT_IS, size=size, hash=last.hash or "", before=last.path
        )
        return [Back(Step(0, back), after)]
    gone = Effect(last.mount, last.path, EffectKind.DELETED, kind, hash=last.hash or "")
    return [Back(Step(0, gone), after), Back(Step(0, old, content_kind=before.content_kind if before else ""), None)]


def _old(row: File, path: str, before: Version | None, own: Sequence[Version]) -> Effect | None:
    """What stood at the path before, as something that is added; None when it cannot be said."""
    if row.is_folder:
        return Effect(row.mount, path, EffectKind.ADDED, EntryType.DIRECTORY, mode=own[-1].mode or NEW_FOLDER_MODE)
    if before is None or before.hash is None:
        return None
    kind = EntryType.LINK if before.content_kind == LINK else EntryType.FILE
    modes = [version.mode for version in (own[-1], before) if version.mode is not None]
    mode = (modes[0] if modes else NEW_FILE_MODE) & 0o777 if kind is EntryType.FILE else 0
    return Effect(row.mount, path, EffectKind.ADDED, kind, mode=mode, size=before.size or 0, hash=before.hash)


def _made(own: Sequence[Version]) -> list[str]:
    """The folders that came into being with the file, and lie above where it is now."""
    return [path for version in own for path in list(above_all(version.path))[: version.folders_made]]


def _folder_gone(mount: str, path: str) -> Effect:
    return Effect(mount, path, EffectKind.DELETED, EntryType.DIRECTORY)


def _joined(one: Back, other: Back) -> Back:
    """Two ways back at one path: a file that went, and another that came in its place."""
    kinds = {one.step.effect.kind: one, other.step.effect.kind: other}
    if kinds.keys() != {EffectKind.ADDED, EffectKind.DELETED}:
        return other
    step = kinds[EffectKind.ADDED].step
    changed = replace(step.effect, kind=EffectKind.CHANGED)
    return Back(replace(step, effect=changed, file_id=""), kinds[EffectKind.DELETED].expected)
