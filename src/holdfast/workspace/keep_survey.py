"""What stands in the workspace where something is to be kept, and whether somebody else has put it there."""

import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from holdfast.vocabulary.effects import Effect, EffectKind, EntryType

from .keep_choice import above_all
from .keep_steps import Step, Was
from .kernel import open_beneath
from .mount import Mount

_TYPES = {stat.S_IFREG: EntryType.FILE, stat.S_IFDIR: EntryType.DIRECTORY, stat.S_IFLNK: EntryType.LINK}
_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV)
_BLOCK = 1024 * 1024
AS_IT_IS = -1  # the mode of an effect that has none of its own: whatever is there stays


@dataclass(frozen=True)
class KeepConflict:
    """Where something is that was not there, or not so, and in words what. `why` is `changed`, `exists` or `gone`.

    `effect` is the one that it is in the way of.
    """

    mount: str
    path: str
    why: str
    effect: Effect | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Seen:
    """An entry of the workspace, as it is now."""

    was: Was
    changed_at_ns: int


class Rule(Protocol):
    """When what stands there is somebody else's."""

    @property
    def needs_hash(self) -> bool:
        """Whether that can only be told from the bytes."""
        ...

    @property
    def forces(self) -> bool:
        """Whether what is in the way is replaced as well."""
        ...

    @property
    def leaves_folders(self) -> bool:
        """Whether a folder that somebody has put something into just stays, and is no conflict."""
        ...

    def is_foreign(self, effect: Effect, path: str, seen: Seen) -> bool:
        """Whether what the effect takes the place of is not what it was made of."""
        ...

    def is_late(self, mount: str, changed_at_ns: int) -> bool:
        """Whether something in a folder that goes whole has changed since."""
        ...


@dataclass(frozen=True)
class SinceStart:
    """What has changed since the layer was made is somebody else's; the times are those of the mounts' own file systems."""

    started: Mapping[str, int]
    needs_hash: bool = False
    forces: bool = False
    leaves_folders: bool = False

    def is_foreign(self, effect: Effect, path: str, seen: Seen) -> bool:
        """Whether the entry has changed since. A folder changes with whatever comes into it, so what is in it is asked instead."""
        is_asked_for_what_is_in_it = seen.was.type is EntryType.DIRECTORY and effect.kind in (EffectKind.DELETED, EffectKind.MODE)
        return not is_asked_for_what_is_in_it and self.is_late(effect.mount, seen.changed_at_ns)

    def is_late(self, mount: str, changed_at_ns: int) -> bool:
        """Whether that is at or after the start."""
        return changed_at_ns >= self.started[mount]


@dataclass(frozen=True)
class Surveyed:
    """The steps that are left to do, and what is in their way; `sizes` are those of folders that go whole, by path."""

    steps: list[Step]
    conflicts: list[KeepConflict]
    sizes: Mapping[str, int]


def survey(mount: Mount, steps: Sequence[Step], rule: Rule) -> Surveyed:
    """Look at all places of one mount. Steps that have nothing left to do are not among those that come back."""
    looking = _Looking(mount, rule, _gone_with(steps), {step.path for step in steps if step.makes_folder} | {""})
    if rule.leaves_folders:
        looking.leave_folders(steps)
    ready = [found for found in map(looking.at, steps) if found is not None]
    return Surveyed(ready, looking.conflicts, looking.sizes)


def seen_at(mount: Mount, path: str, *, hashed: bool) -> Seen | None:
    """What stands at a path of a mount; no link is followed on the way."""
    above, _, name = path.rpartition("/")
    try:
        folder = open_beneath(mount.descriptor, above, os.O_PATH | os.O_DIRECTORY, follow=False)
    except OSError as error:
        if error.errno in _NOTHING:
            return None
        raise
    try:
        return seen_in(mount, folder, name, hashed=hashed)
    finally:
        os.close(folder)


def seen_in(mount: Mount, folder: int, name: str, *, hashed: bool) -> Seen | None:
    """What bears a name in an open folder."""
    try:
        named = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        about = os.fstat(named)
        digest = _hash(mount, named, about) if hashed else ""
        kind = _TYPES.get(stat.S_IFMT(about.st_mode), EntryType.OTHER)
        size = 0 if kind is EntryType.DIRECTORY else about.st_size
        was = Was(kind, stat.S_IMODE(about.st_mode) & 0o777, size, digest, about.st_ino, about.st_mtime_ns)
        return Seen(was, about.st_ctime_ns)
    finally:
        os.close(named)


def entries_below(mount: Mount, path: str) -> Iterator[tuple[str, EntryType]]:
    """All that is in a folder, at any depth, each after the folder that it is in; nothing when there is no folder."""
    folders = [path]
    while folders:
        above = folders.pop()
        try:
            descriptor = open_beneath(mount.descriptor, above, os.O_RDONLY | os.O_DIRECTORY, follow=False)
        except OSError as error:
            if error.errno in _NOTHING:
                continue
            raise
        try:
            with os.scandir(descriptor) as found:
                for entry in found:
                    kind = _TYPES.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), EntryType.OTHER)
                    if kind is EntryType.DIRECTORY:
                        folders.append(f"{above}/{entry.name}")
                    yield f"{above}/{entry.name}", kind
        finally:
            os.close(descriptor)


@dataclass
class _Looking:
    mount: Mount
    rule: Rule
    gone: set[str]
    folders: set[str]

    def __post_init__(self) -> None:
        self.conflicts: list[KeepConflict] = []
        self.sizes: dict[str, int] = {}

    def leave_folders(self, steps: Sequence[Step]) -> None:
        """Let those folders stay that something is in which does not go, and then those above them."""
        for step in reversed(steps):
            effect = step.effect
            if effect.kind is EffectKind.DELETED and effect.type is EntryType.DIRECTORY and not effect.is_whole:
                with suppress(FileNotFoundError, NotADirectoryError):
                    if any(f"{step.path}/{name}" not in self.gone for name in self._names(step.path)):
                        self.gone.discard(step.path)

    def at(self, step: Step) -> Step | None:
        effect = step.effect
        if effect.kind is EffectKind.DELETED and step.left not in self.gone:
            return None
        seen = self._seen(step.left, is_ignored=effect.is_ignored)
        if effect.mode == AS_IT_IS and seen is not None:
            step = replace(step, effect=replace(effect, mode=seen.was.mode))
            effect = step.effect
        match effect.kind:
            case EffectKind.ADDED:
                return self._added(step, seen)
            case EffectKind.DELETED if seen is None:
                return None
            case EffectKind.RENAMED if self._seen(effect.path, is_ignored=True) is not None:
                return self._refuse(effect, effect.path, "exists")
            case EffectKind.RENAMED if not self._has_folder(effect.path):
                return self._refuse(effect, effect.path.rpartition("/")[0], "gone")
            case EffectKind.CHANGED if seen is None and self.rule.forces:
                return replace(step, effect=replace(effect, kind=EffectKind.ADDED, mode=effect.mode if effect.mode >= 0 else 0o644))
            case _ if seen is None:
                return None if self.rule.forces else self._refuse(effect, step.left, "gone")
            case _ if self.rule.is_foreign(effect, step.left, seen):
                return self._refuse(effect, step.left, "changed")
            case EffectKind.MODE | EffectKind.DELETED if seen.was.type is not effect.type:
                return self._refuse(effect, effect.path, "changed")
            case EffectKind.DELETED | EffectKind.CHANGED if seen.was.type is EntryType.DIRECTORY:
                self._check_folder(effect, is_emptied=effect.type is not EntryType.DIRECTORY or effect.kind is EffectKind.DELETED)
                return replace(step, was=seen.was)
            case _:
                return replace(step, was=seen.was)

    def _added(self, step: Step, seen: Seen | None) -> Step | None:
        if seen is None and not self._has_folder(step.path):
            return self._refuse(step.effect, step.path.rpartition("/")[0], "gone")
        if seen is None:
            return step
        if step.makes_folder and seen.was.type is EntryType.DIRECTORY:
            # Somebody else has made the same folder: what is in it is looked at one by one.
            return None
        if self.rule.forces and seen.was.type is not EntryType.DIRECTORY:
            return replace(step, effect=replace(step.effect, kind=EffectKind.CHANGED), was=seen.was, file_id="")
        return self._refuse(step.effect, step.path, "exists")

    def _has_folder(self, path: str) -> bool:
        """Whether there is a folder for it, or comes to be one."""
        above = path.rpartition("/")[0]
        if above not in self.folders:
            seen = seen_at(self.mount, above, hashed=False)
            if seen is None or seen.was.type is not EntryType.DIRECTORY:
                return False
            self.folders.add(above)
        return True

    def _check_folder(self, effect: Effect, *, is_emptied: bool) -> None:
        """Let nothing go with a folder that somebody has put there since."""
        if effect.is_whole:
            self._check_whole(effect)
        elif is_emptied:
            for name in self._names(effect.path):
                path = f"{effect.path}/{name}"
                if path not in self.gone:
                    self._refuse(effect, path, "exists")

    def _check_whole(self, effect: Effect) -> None:
        folders, size = [effect.path], 0
        while folders:
            above = folders.pop()
            with _folder(self.mount, above) as folder:
                for name in os.listdir(folder):
                    with suppress(FileNotFoundError):
                        about = os.lstat(name, dir_fd=folder)
                        if self.rule.is_late(effect.mount, about.st_ctime_ns):
                            self._refuse(effect, f"{above}/{name}", "changed")
                            return
                        size += about.st_size
                        if stat.S_ISDIR(about.st_mode):
                            folders.append(f"{above}/{name}")
        self.sizes[effect.path] = size

    def _names(self, path: str) -> list[str]:
        with _folder(self.mount, path) as folder:
            return os.listdir(folder)

    def _seen(self, path: str, *, is_ignored: bool) -> Seen | None:
        return seen_at(self.mount, path, hashed=self.rule.needs_hash or not is_ignored)

    def _refuse(self, effect: Effect, path: str, why: str) -> None:
        self.conflicts.append(KeepConflict(effect.mount, path, why, effect))


def lock_paths(mounts: Mapping[str, Mount], effects: Iterable[Effect], *, most_in_folder: int = 256) -> list[str]:
    """What to lock so that nobody else changes any of it: a folder that comes or goes stands for all in it."""
    covered: set[tuple[str, str]] = set()
    single: dict[tuple[str, str], list[str]] = {}
    for effect in effects:
        for path in (effect.path, effect.before) if effect.before else (effect.path,):
            if any((effect.mount, above) in covered for above in (path, *above_all(path))):
                continue
            if effect.type is EntryType.DIRECTORY and effect.kind is not EffectKind.MODE:
                covered.add((effect.mount, path))
            else:
                single.setdefault((effect.mount, path.rpartition("/")[0]), []).append(path)
    for (mount, folder), paths in single.items():
        covered.update({(mount, folder)} if len(paths) > most_in_folder else {(mount, path) for path in paths})
    return sorted({str(mounts[mount].root / path).rstrip("/") for mount, path in covered})


def _gone_with(steps: Iterable[Step]) -> set[str]:
    """The paths at which nothing stands afterwards."""
    return {step.left for step in steps if step.effect.kind in (EffectKind.DELETED, EffectKind.RENAMED)}


def _hash(mount: Mount, named: int, about: os.stat_result) -> str:
    if stat.S_ISLNK(about.st_mode):
        return hashlib.sha256(os.fsencode(os.readlink("", dir_fd=named))).hexdigest()
    if not stat.S_ISREG(about.st_mode):
        return ""
    if (kept := mount.surveys.kept(about)) is not None:
        return kept.sha256
    descriptor = os.open(f"/proc/self/fd/{named}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        digest = hashlib.sha256()
        while block := os.read(descriptor, _BLOCK):
            digest.update(block)
        return digest.hexdigest()
    finally:
        os.close(descriptor)


@contextmanager
def _folder(mount: Mount, path: str) -> Generator[int]:
    descriptor = open_beneath(mount.descriptor, path, os.O_RDONLY | os.O_DIRECTORY, follow=False)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
