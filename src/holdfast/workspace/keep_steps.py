"""What a keep is made of: one step for each effect, with what stood there before, so that it can be repeated and taken back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from holdfast.store.layers import effect_of, effect_row, pack_rows, unpack_effects, unpack_rows
from holdfast.vocabulary.effects import Effect, EffectKind, EntryType
from holdfast.vocabulary.json import Json


@dataclass(frozen=True, slots=True)
class Was:
    """What stood at a path. `hash` is "" for folders, and for files that nobody had to read."""

    type: EntryType
    mode: int
    size: int
    hash: str
    inode: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Step:
    """One effect on its way into the workspace.

    `number` is its own among those of the layer. `aside` is where, in the
    trash, that goes which it replaces; `source` where, in the trash, that
    comes from which it puts there. `file_id` is the removed file that
    comes back with it.
    """

    number: int
    effect: Effect
    was: Was | None = None
    content_kind: str = ""
    source: str = ""
    aside: str = ""
    file_id: str = ""

    @property
    def mount(self) -> str:
        return self.effect.mount

    @property
    def path(self) -> str:
        return self.effect.path

    @property
    def left(self) -> str:
        """The path at which something stood: of a rename the old one."""
        return self.effect.before or self.effect.path

    @property
    def puts_bytes(self) -> bool:
        """Whether a file or a link comes to stand there with content of its own."""
        return self.effect.kind in (EffectKind.ADDED, EffectKind.CHANGED) and self.effect.type in (EntryType.FILE, EntryType.LINK)

    @property
    def makes_folder(self) -> bool:
        """Whether a folder comes to stand there, which is empty at first."""
        is_new = self.effect.kind in (EffectKind.ADDED, EffectKind.CHANGED)
        return is_new and self.effect.type is EntryType.DIRECTORY and not self.effect.is_whole

    @property
    def takes_bytes(self) -> bool:
        """Whether a file or a link that stood there is no longer the same."""
        return self.was is not None and self.was.type in (EntryType.FILE, EntryType.LINK)


def pack_steps(steps: Iterable[Step], every: Sequence[Effect]) -> bytes:
    """Steps as the store has them, beside all effects, which they are not told again for."""
    return pack_rows(_row(step, every) for step in steps)


def unpack_steps(packed: bytes, effects: bytes) -> list[Step]:
    """The steps that `pack_steps` packed; `effects` are packed too."""
    every = unpack_effects(effects).every
    return [_step(row, every) for row in unpack_rows(packed)]


def ordered(steps: Sequence[Step]) -> list[Step]:
    """The steps in the order in which they are possible.

    Folders come first, then what moves, then what goes, from the bottom
    up, and then what takes the place of something.
    """
    folders = [step for step in steps if step.makes_folder]
    moved = [step for step in steps if step.effect.kind is EffectKind.RENAMED]
    gone = [step for step in steps if step.effect.kind is EffectKind.DELETED]
    modes = [step for step in steps if step.effect.kind is EffectKind.MODE]
    early = {id(step) for step in (*folders, *moved, *gone, *modes)}
    put = [step for step in steps if id(step) not in early]
    return [*folders, *moved, *reversed(gone), *put, *modes]


def folder_modes(steps: Sequence[Step]) -> Iterator[Step]:
    """The folders whose modes are set when all else is done, the lower ones first: a mode may keep us out as well."""
    kinds = (EffectKind.ADDED, EffectKind.CHANGED, EffectKind.MODE)
    return (
        step
        for step in reversed(steps)
        if step.effect.type is EntryType.DIRECTORY and step.effect.kind in kinds and not step.effect.is_whole
    )


def _row(step: Step, every: Sequence[Effect]) -> list[Json]:
    was = step.was
    before: list[Json] | None = [was.type.value, was.mode, was.size, was.hash, was.inode, was.changed_ns] if was is not None else None
    effect = None if step.number < len(every) and step.effect is every[step.number] else effect_row(step.effect)
    return [step.number, effect, before, step.content_kind, step.source, step.aside, step.file_id]


def _step(row: Sequence[Json], every: Sequence[Effect]) -> Step:
    number, effect, before, *words = cast("tuple[int, list[Json] | None, list[Json] | None, str, str, str, str]", tuple(row))
    content_kind, source, aside, file_id = words
    was = None
    if before is not None:
        kind, *rest = before
        was = Was(EntryType(kind), *rest)  # pyright: ignore[reportArgumentType] - as `_row` wrote them
    return Step(number, every[number] if effect is None else effect_of(effect), was, content_kind, source, aside, file_id)
