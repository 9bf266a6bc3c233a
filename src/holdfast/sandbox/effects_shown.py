"""Effects as a person looks at them: a line for each, a diff for text, and whole repositories and ignored folders in one line."""

import os
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from holdfast.vocabulary.difference import MAX_DIFF_BYTES, Difference, quick_difference
from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType

from .layer import Layer
from .upper import Tree, trees

MAX_COUNTED = 200
_REFS_NAMED = 8


@dataclass(frozen=True)
class Shown:
    """One line of a list of effects; `count` is how many effects it stands for, and `text` says them in words."""

    mount: str
    path: str
    kind: EffectKind
    type: EntryType
    text: str
    count: int = 1
    added: int | None = None
    removed: int | None = None
    is_protected: bool = False
    is_ignored: bool = False
    note: str = ""


def diff_of(layer: Layer, lowers: Mapping[str, int], effect: Effect, *, max_bytes: int = MAX_DIFF_BYTES) -> Difference | None:
    """What an effect changes in a text; None when it is no text, or too large to be compared. It takes time: run it in a thread."""
    with trees(layer, lowers) as all_trees:
        for mount, upper, lower in all_trees:
            if mount == effect.mount:
                return _difference(upper, lower, effect, max_bytes)
    return None


def shown(layer: Layer, lowers: Mapping[str, int], effects: Effects, *, counted: int = MAX_COUNTED) -> tuple[Shown, ...]:
    """The effects in the order of their paths, with the lines of the first `counted` texts counted. Run it in a thread."""
    with trees(layer, lowers) as all_trees:
        by_mount = {mount: (upper, lower) for mount, upper, lower in all_trees}
        return tuple(_lines(by_mount, effects, counted))


def _lines(by_mount: Mapping[str, tuple[Tree, Tree]], effects: Effects, counted: int) -> Iterator[Shown]:
    groups: dict[tuple[str, str], _Group] = {}
    order: list[_Group | Effect] = []
    for effect in effects.every:
        top = _repository(effect) or (_ignored_folder(effect) if effect.is_ignored else "")
        if not top:
            order.append(effect)
            continue
        group = groups.get((effect.mount, top))
        if group is None:
            group = groups[effect.mount, top] = _Group(top)
            order.append(group)
        group.effects.append(effect)
    for each in order:
        if isinstance(each, _Group):
            yield each.shown() if each.is_repository or len(each.effects) > 1 else _one(each.effects[0], None)
            continue
        told = _difference(*by_mount[each.mount], each, MAX_DIFF_BYTES) if counted > 0 and each.mount in by_mount else None
        counted -= told is not None
        yield _one(each, told)


def _one(effect: Effect, told: Difference | None) -> Shown:
    words = f"{effect.before} → {effect.path}" if effect.before else effect.path
    if effect.kind is EffectKind.MODE:
        words += f" (mode {effect.mode:03o})"
    return Shown(
        effect.mount,
        effect.path,
        effect.kind,
        effect.type,
        words,
        added=told.added if told else None,
        removed=told.removed if told else None,
        is_protected=effect.is_protected,
        is_ignored=effect.is_ignored,
        note=effect.note,
    )


@dataclass
class _Group:
    """Effects that are told in one line, since nobody looks at them one by one."""

    top: str
    effects: list[Effect] = field(default_factory=list[Effect])

    @property
    def is_repository(self) -> bool:
        return posixpath.basename(self.top) == ".git"

    def shown(self) -> Shown:
        first = self.effects[0]
        # Of an ignored folder only what is in it is known: all of that lies at or below this.
        top = self.top if self.is_repository else posixpath.commonpath([one.path for one in self.effects])
        return Shown(
            first.mount,
            top,
            first.kind if first.path == top else EffectKind.CHANGED,
            EntryType.DIRECTORY,
            self._repository() if self.is_repository else self._counts(top),
            count=len(self.effects),
            is_ignored=first.is_ignored,
            note="" if self.is_repository else "ignored by git",
        )

    def _repository(self) -> str:
        objects = sum(one.path.startswith(f"{self.top}/objects/") and one.type is EntryType.FILE for one in self.effects)
        refs = [one.path[len(self.top) + 1 :] for one in self.effects if _is_ref(one, self.top)]
        named = ", ".join(refs[:_REFS_NAMED]) + (f" and {len(refs) - _REFS_NAMED} more" if len(refs) > _REFS_NAMED else "")
        return f"repository: {objects} objects, refs: {named or 'none'}"

    def _counts(self, top: str) -> str:
        counts = {kind: sum(one.kind is kind for one in self.effects) for kind in EffectKind}
        return f"{top}: " + ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)


def _repository(effect: Effect) -> str:
    """The `.git` that an effect is one of many in; "" for its config and hooks, which are looked at one by one."""
    parts = effect.path.split("/")
    if ".git" not in parts:
        return ""
    at = parts.index(".git")
    inside = parts[at + 1 :]
    if (not inside and effect.type is not EntryType.DIRECTORY) or effect.is_protected or effect.type is EntryType.OTHER:
        return ""
    return "/".join(parts[: at + 1])


def _ignored_folder(effect: Effect) -> str:
    """What ignored effects that are told together have in common: the first name of their paths."""
    return "" if effect.note and not effect.is_whole else effect.path.split("/")[0] if "/" in effect.path or effect.is_whole else ""


def _is_ref(effect: Effect, top: str) -> bool:
    inside = effect.path[len(top) + 1 :]
    return effect.type is EntryType.FILE and (inside.startswith("refs/") or inside in ("HEAD", "packed-refs"))


def _difference(upper: Tree, lower: Tree, effect: Effect, max_bytes: int) -> Difference | None:
    if effect.type is not EntryType.FILE or effect.is_whole or effect.kind in (EffectKind.MODE, EffectKind.RENAMED):
        return None
    old = b"" if effect.kind is EffectKind.ADDED else _text(lower, effect.path, max_bytes)
    new = b"" if effect.kind is EffectKind.DELETED else _text(upper, effect.path, max_bytes)
    if old is None or new is None:
        return None
    return quick_difference(old, new, effect.path)


def _text(tree: Tree, path: str, max_bytes: int) -> bytes | None:
    data = None
    with suppress(OSError), tree.opened(path) as descriptor:
        data = os.pread(descriptor, max_bytes + 1, 0)
    return data if data is not None and len(data) <= max_bytes and b"\0" not in data else None
