"""Which effects may be kept, and which of those are wanted."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.vocabulary.effects import Effect, EffectKind, EntryType

from .paths import MAX_NAME_BYTES
from .sight import OWN_TEMPORARY

PROTECTED = "protected"
IMPOSSIBLE = "impossible"
NEEDED = "needed"

_FOLDER_KINDS = (EffectKind.ADDED, EffectKind.CHANGED)


@dataclass(frozen=True)
class LeftOut:
    """An effect that was wanted and is not kept. `why` is `protected`, `impossible`, or `needed` by something else that is left out."""

    effect: Effect
    why: str


@dataclass(frozen=True)
class Permission:
    """What of the protected paths may be kept: those of git (`.git/config`, `.git/hooks`) when a person was asked, and all others.

    `is_plain` tells of the config of a new repository whether nothing in
    it makes git run programs.
    """

    git: bool = False
    protected: bool = False
    is_plain: Callable[[Effect], bool] = lambda _: False


@dataclass(frozen=True)
class Choice:
    """Effects with their numbers, and those that are left out."""

    chosen: list[tuple[int, Effect]]
    left_out: list[LeftOut]


def choose(every: Sequence[Effect], only: Iterable[tuple[str, str]] | None, permission: Permission) -> Choice:
    """The effects to keep; `only` are mounts and paths, each of which stands for all below it."""
    wanted = _wanted(every, only)
    new_repositories = {(one.mount, one.path) for _, one in wanted if _is_new_repository(one)}
    left_out: dict[int, str] = {}
    for number, effect in wanted:
        if why := _refusal(effect, new_repositories, permission):
            left_out[number] = why
    _leave_out_what_needs(wanted, left_out)
    return Choice(
        [(number, effect) for number, effect in wanted if number not in left_out],
        [LeftOut(effect, left_out[number]) for number, effect in wanted if number in left_out],
    )


def is_gits(path: str) -> bool:
    """Whether the path is a repository's config or one of its hooks."""
    parts = path.casefold().split("/")
    return any(parts[at : at + 2] in ([".git", "config"], [".git", "hooks"]) for at in range(len(parts)))


def _wanted(every: Sequence[Effect], only: Iterable[tuple[str, str]] | None) -> list[tuple[int, Effect]]:
    if only is None:
        return list(enumerate(every))
    named = {(mount, path.strip("/")) for mount, path in only}

    def is_named(effect: Effect) -> bool:
        paths = (effect.path, effect.before) if effect.before else (effect.path,)
        return any((effect.mount, above) in named for path in paths for above in (path, *above_all(path)))

    chosen = {number for number, effect in enumerate(every) if is_named(effect)}
    # What is in a new folder cannot be kept without the folder.
    needed = {(every[number].mount, above) for number in chosen for above in above_all(every[number].path)}
    return [
        (number, effect)
        for number, effect in enumerate(every)
        if number in chosen
        or ((effect.mount, effect.path) in needed and effect.type is EntryType.DIRECTORY and effect.kind in _FOLDER_KINDS)
    ]


def _refusal(effect: Effect, new_repositories: set[tuple[str, str]], permission: Permission) -> str:
    if effect.type is EntryType.OTHER or not all(map(_is_possible, (effect.path, effect.before or "x"))):
        return IMPOSSIBLE
    if effect.type is EntryType.FILE and not effect.hash and effect.kind is not EffectKind.DELETED:
        return IMPOSSIBLE
    if not effect.is_protected:
        return ""
    if not is_gits(effect.path) or (effect.before and not is_gits(effect.before)):
        return "" if permission.protected else PROTECTED
    if permission.git or permission.protected:
        return ""
    repository = next((above for above in above_all(effect.path) if above.rpartition("/")[2].casefold() == ".git"), "")
    if (effect.mount, repository) not in new_repositories:
        return PROTECTED
    is_harmless = effect.type is EntryType.DIRECTORY or effect.path.endswith(".sample") or _is_plain_config(effect, repository, permission)
    return "" if is_harmless else PROTECTED


def _is_plain_config(effect: Effect, repository: str, permission: Permission) -> bool:
    return effect.path == f"{repository}/config" and effect.type is EntryType.FILE and permission.is_plain(effect)


def _leave_out_what_needs(wanted: Sequence[tuple[int, Effect]], left_out: dict[int, str]) -> None:
    """A folder cannot go while something in it stays, nor a file come where something is; a repository goes whole or not at all."""
    staying: set[tuple[str, str]] = set()
    for number, effect in wanted:
        if number in left_out and effect.kind in (EffectKind.DELETED, EffectKind.RENAMED):
            staying.update((effect.mount, above) for above in above_all(effect.before or effect.path))
    if not staying:
        return
    whole = {(mount, path) for mount, path in staying if path.rpartition("/")[2].casefold() == ".git"}
    gone = {(one.mount, one.path) for _, one in wanted if one.kind is EffectKind.DELETED}
    for number, effect in wanted:
        key = (effect.mount, effect.path)
        ends = effect.kind is EffectKind.DELETED or (effect.kind is EffectKind.CHANGED and effect.type is not EntryType.DIRECTORY)
        in_repository = effect.kind is EffectKind.DELETED and any((effect.mount, above) in whole & gone for above in above_all(effect.path))
        if number not in left_out and ((key in staying and ends) or in_repository):
            left_out[number] = NEEDED
    # What stays in a repository keeps the folders above it as well.
    for number, effect in wanted:
        if left_out.get(number) == NEEDED and effect.kind is EffectKind.DELETED:
            staying.update((effect.mount, above) for above in above_all(effect.path))
    for number, effect in wanted:
        if number not in left_out and effect.kind is EffectKind.DELETED and (effect.mount, effect.path) in staying:
            left_out[number] = NEEDED


def _is_new_repository(effect: Effect) -> bool:
    return effect.kind is EffectKind.ADDED and effect.type is EntryType.DIRECTORY and effect.path.rpartition("/")[2].casefold() == ".git"


def _is_possible(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return all(not part.startswith(OWN_TEMPORARY) and len(os.fsencode(part)) <= MAX_NAME_BYTES for part in path.split("/"))


def above_all(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first; not the mount's root."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path
