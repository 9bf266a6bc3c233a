"""What a command did: every difference between a layer and the workspace beneath it."""

import hashlib
import os
import posixpath
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event

from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType
from holdfast.vocabulary.errors import Broken, TooLarge
from holdfast.vocabulary.limits import MIB
from holdfast.vocabulary.protected import ProtectedPaths

from .layer import Layer
from .upper import BLOCK, Seen, Tree, check_wanted, sha256_of, trees
from .upper_ignored import Rules

MAX_EFFECTS = 200_000
MAX_READ_BYTES = 32 * 1024 * MIB
MAX_FILE_BYTES = 4 * 1024 * MIB
MAX_PATH_BYTES = 4_000

_SPECIAL = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
_TYPES = {stat.S_IFREG: EntryType.FILE, stat.S_IFDIR: EntryType.DIRECTORY, stat.S_IFLNK: EntryType.LINK}


@dataclass(frozen=True)
class Judge:
    """What is protected in a workspace. What git ignores is found in its own files."""

    protected: ProtectedPaths | None = None

    def protects(self, mount: str, path: str) -> bool:
        """Whether the entry may be written only when somebody says so."""
        return self.protected is not None and self.protected.covers(path, mount=mount)


def effects_of(
    layer: Layer, lowers: Mapping[str, int], judge: Judge, *, stop: Event | None = None, max_effects: int = MAX_EFFECTS
) -> Effects:
    """All that a command has changed in its layer, once its last process is gone. It takes long: run it in a thread.

    `lowers` has the root of each layered mount, as a descriptor.

    Raises:
        TooLarge: It changed so many entries that it can only be dropped.
        Broken: The layer cannot be read.
        Stopped: `stop` was set.
    """
    budget = _Budget(max_effects)
    found: list[Effect] = []
    try:
        with trees(layer, lowers) as all_trees:
            for mount, upper, lower in all_trees:
                walk = _Walk(mount, upper, lower, judge, budget, stop)
                found += _with_renames(list(walk.all()), lower, budget, stop)
    except OSError as error:
        raise Broken(f"the layer cannot be read: {error.strerror}", hint="Its effects can only be dropped.", layer=layer.id) from error
    effects = Effects.of(found)
    _ = effects.hash  # here, where it keeps nobody waiting
    return effects


@dataclass
class _Budget:
    """How much may still be found and read: a sparse file has no end, and a command can make any number of entries."""

    effects: int
    read: int = MAX_READ_BYTES

    def spend(self) -> None:
        self.effects -= 1
        if self.effects < 0:
            raise TooLarge("the command changed too many files", hint="Its effects can only be dropped.", limit=MAX_EFFECTS)

    def affords(self, size: int) -> bool:
        if size > min(MAX_FILE_BYTES, self.read):
            return False
        self.read -= size
        return True


@dataclass(frozen=True)
class _Level:
    """A folder that is being looked through; what an opaque one has only in the lower is gone."""

    path: str
    rules: Rules
    is_ignored: bool
    is_opaque: bool
    entries: Iterator[tuple[Seen | None, Seen | None]] = field(repr=False)


@dataclass(frozen=True)
class _Walk:
    mount: str
    upper: Tree
    lower: Tree
    judge: Judge
    budget: _Budget
    stop: Event | None

    def all(self) -> Iterator[Effect]:
        """The effects in one mount, in the order of their paths."""
        top = self._pairs("", has_upper=True, has_lower=True, is_opaque=self.upper.is_opaque(""))
        levels = [_Level("", Rules().within(self.lower, ""), is_ignored=False, is_opaque=False, entries=top)]
        while levels:
            level = levels[-1]
            above, below = next(level.entries, (None, None))
            seen = above or below
            if seen is None:
                levels.pop()
                continue
            check_wanted(self.stop)
            path = f"{level.path}/{seen.name}" if level.path else seen.name
            is_ignored = level.is_ignored or level.rules.ignore(path, is_folder=stat.S_ISDIR(seen.about.st_mode))
            effect = self._gone(path, seen, is_ignored=is_ignored) if above is None else self._difference(path, above, below)
            if effect is not None:
                self.budget.spend()
                yield self._judged(effect, is_ignored=is_ignored)
            if not _is_too_long(path) and not (effect is not None and effect.is_whole):
                levels += self._deeper(level, path, above, below, is_ignored=is_ignored)

    def _deeper(self, level: _Level, path: str, above: Seen | None, below: Seen | None, *, is_ignored: bool) -> Iterator[_Level]:
        """The folder at the path, when there is or was one."""
        has_upper, has_lower = _is_folder(above), _is_folder(below)
        if not has_upper and not has_lower:
            return
        is_opaque = level.is_opaque or not has_upper or self.upper.is_opaque(path)
        rules = level.rules.within(self.lower, path) if has_lower and not is_ignored else level.rules
        entries = self._pairs(path, has_upper=has_upper, has_lower=has_lower, is_opaque=is_opaque)
        yield _Level(path, rules, is_ignored, is_opaque, entries)

    def _pairs(self, path: str, *, has_upper: bool, has_lower: bool, is_opaque: bool) -> Iterator[tuple[Seen | None, Seen | None]]:
        """What the layer has, with what was there; without the first it is gone."""
        mine = {seen.name: seen for seen in self.upper.entries(path)} if has_upper else {}
        if is_opaque and has_lower:
            theirs = {seen.name: seen for seen in self.lower.entries(path)}
            for name in sorted(mine.keys() | theirs.keys()):
                above = mine.get(name)
                if above is not None and not above.is_whiteout:
                    yield above, theirs.get(name)
                elif name in theirs:
                    yield None, theirs[name]
            return
        for name, above in mine.items():
            below = self.lower.about(f"{path}/{name}" if path else name) if has_lower else None
            if not above.is_whiteout:
                yield above, below
            elif below is not None:
                yield None, below

    def _difference(self, path: str, above: Seen, below: Seen | None) -> Effect | None:
        kind = EffectKind.ADDED if below is None else EffectKind.CHANGED
        was, now = _type(below) if below is not None else None, _type(above)
        effect = Effect(self.mount, path, kind, now, mode=above.mode & 0o777, note=_note_of_mode(above, below))
        if now is EntryType.OTHER:
            return replace(effect, mode=0, note=f"a {_special(above)} cannot be kept")
        if _is_too_long(path):
            return replace(effect, type=EntryType.OTHER, note="the path is too long: it cannot be kept, nor what is in it")
        if now is EntryType.DIRECTORY:
            if was is now and below is not None:
                return replace(effect, kind=EffectKind.MODE) if _differ(above, below) else None
            return effect
        if now is EntryType.LINK:
            return self._link(effect, is_link=was is now)
        return self._file(effect, above, below if was is now else None)

    def _link(self, effect: Effect, *, is_link: bool) -> Effect | None:
        target = self.upper.link(effect.path)
        with suppress(OSError):
            if is_link and target == self.lower.link(effect.path):
                return None
        data = os.fsencode(target)
        return replace(effect, mode=0, size=len(data), hash=hashlib.sha256(data).hexdigest(), note=_where(effect.path, target))

    def _file(self, effect: Effect, above: Seen, below: Seen | None) -> Effect | None:
        size = above.about.st_size
        if not self.budget.affords(size):
            return replace(effect, size=size, note="too large to be kept")
        digest, is_same = self._compared(effect.path, size, below)
        if not is_same or below is None:
            return replace(effect, size=size, hash=digest)
        return replace(effect, kind=EffectKind.MODE, size=size, hash=digest) if _differ(above, below) else None

    def _compared(self, path: str, size: int, below: Seen | None) -> tuple[str, bool]:
        """The hash of the layer's file, and whether the lower one is the same to the last byte."""
        with self.upper.opened(path) as mine:
            if below is None or below.about.st_size != size:
                return sha256_of(mine, self.stop), False
            try:
                with self.lower.opened(path) as theirs:
                    return _compare(mine, theirs, self.stop)
            except OSError:
                # It has changed meanwhile, or may not be read: then it cannot be said to be the same.
                return sha256_of(mine, self.stop), False

    def _gone(self, path: str, below: Seen, *, is_ignored: bool) -> Effect:
        kind = _type(below)
        effect = Effect(self.mount, path, EffectKind.DELETED, kind, mode=below.mode & 0o777)
        if kind is EntryType.OTHER:
            return replace(effect, note=f"a {_special(below)} is not removed")
        if kind is not EntryType.DIRECTORY:
            return replace(effect, size=below.about.st_size)
        is_whole = is_ignored and not self._has_protected(path)
        return replace(effect, is_whole=is_whole, note="with everything in it" if is_whole else "")

    def _has_protected(self, path: str) -> bool:
        folders = [path]
        while folders:
            check_wanted(self.stop)
            folder = folders.pop()
            if _is_too_long(folder):
                return True
            for seen in self.lower.entries(folder):
                below = f"{folder}/{seen.name}"
                if self.judge.protects(self.mount, below):
                    return True
                if stat.S_ISDIR(seen.about.st_mode):
                    folders.append(below)
        return self.judge.protects(self.mount, path)

    def _judged(self, effect: Effect, *, is_ignored: bool) -> Effect:
        is_protected = self.judge.protects(self.mount, effect.path)
        note = effect.note or ("" if _is_utf8(effect.path) else "the name is not UTF-8: it cannot be kept")
        return replace(effect, is_protected=is_protected, is_ignored=is_ignored and not is_protected, note=note)


def _with_renames(found: list[Effect], lower: Tree, budget: _Budget, stop: Event | None) -> Iterator[Effect]:
    """The same, with what was deleted and added again under another name told as one."""
    added = {effect.size for effect in found if _may_be_moved(effect, EffectKind.ADDED)}
    gone: dict[tuple[str, bool], list[Effect]] = defaultdict(list)
    for effect in found:
        if _may_be_moved(effect, EffectKind.DELETED) and effect.size in added and budget.affords(effect.size):
            check_wanted(stop)
            gone[_hash_of(lower, effect.path), effect.is_ignored].append(effect)
    renamed: dict[str, Effect] = {}
    for effect in found:
        if _may_be_moved(effect, EffectKind.ADDED) and (sources := gone.get((effect.hash, effect.is_ignored))):
            renamed[effect.path] = source = _nearest(sources, effect.path)
            sources.remove(source)
    moved_away = {source.path for source in renamed.values()}
    for effect in found:
        source = renamed.get(effect.path) if effect.kind is EffectKind.ADDED else None
        if source is not None:
            is_protected = effect.is_protected or source.is_protected
            yield replace(effect, kind=EffectKind.RENAMED, before=source.path, is_protected=is_protected)
        elif effect.path not in moved_away or effect.kind is not EffectKind.DELETED:
            yield effect


def _may_be_moved(effect: Effect, kind: EffectKind) -> bool:
    return effect.kind is kind and effect.type is EntryType.FILE and effect.size > 0 and (kind is EffectKind.DELETED or effect.hash != "")


def _nearest(sources: Iterable[Effect], path: str) -> Effect:
    name = posixpath.basename(path)
    return min(sources, key=lambda one: posixpath.basename(one.path) != name)


def _hash_of(tree: Tree, path: str) -> str:
    try:
        with tree.opened(path) as descriptor:
            return sha256_of(descriptor)
    except OSError:
        return ""


def _compare(mine: int, theirs: int, stop: Event | None) -> tuple[str, bool]:
    digest, position, is_same = hashlib.sha256(), 0, True
    while block := os.pread(mine, BLOCK, position):
        check_wanted(stop)
        digest.update(block)
        is_same = is_same and block == os.pread(theirs, len(block), position)
        position += len(block)
    return digest.hexdigest(), is_same


def _differ(above: Seen, below: Seen) -> bool:
    return above.mode & 0o777 != below.mode & 0o777


def _type(seen: Seen) -> EntryType:
    return _TYPES.get(stat.S_IFMT(seen.about.st_mode), EntryType.OTHER)


def _special(seen: Seen) -> str:
    return _SPECIAL.get(stat.S_IFMT(seen.about.st_mode), "device")


def _is_folder(seen: Seen | None) -> bool:
    return seen is not None and stat.S_ISDIR(seen.about.st_mode)


def _note_of_mode(above: Seen, below: Seen | None) -> str:
    gained = above.mode & 0o6000 & ~(below.mode if below is not None else 0)
    return "setuid and setgid are not kept" if gained and not stat.S_ISLNK(above.about.st_mode) else ""


def _where(path: str, target: str) -> str:
    """What should be known of a link: whether it leads out of the mount, told from its text alone."""
    if target.startswith("/"):
        return f"a link that leads outside: {target[:200]}"
    way = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return f"a link that leads outside: {target[:200]}" if way == ".." or way.startswith("../") else ""


def _is_too_long(path: str) -> bool:
    return len(os.fsencode(path)) > MAX_PATH_BYTES


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
