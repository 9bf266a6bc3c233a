"""Running commands, and deciding what becomes of their effects: where the sandbox and the files meet."""

import asyncio
import codecs
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import Enum
from threading import Event
from typing import TypeVar

from holdfast.sandbox.command import Command, Finished, SandboxMount, Tier
from holdfast.sandbox.effects import Judge, effects_of
from holdfast.sandbox.effects_shown import Shown, diff_of, shown
from holdfast.sandbox.environment import additions_for
from holdfast.sandbox.layer import Layer
from holdfast.sandbox.sandbox import Sandbox
from holdfast.sandbox.settings import SandboxSettings
from holdfast.sandbox.upper import open_uppers
from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.call import ToolCall, Wish
from holdfast.vocabulary.difference import Difference
from holdfast.vocabulary.effects import Effects
from holdfast.vocabulary.errors import Busy, Conflict, HoldfastError, InvalidArguments, NotFound, NotPermitted
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.profile import Environment
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.keep import Kept
from holdfast.workspace.keep_choice import LeftOut
from holdfast.workspace.layers import LayerBook, Undecided
from holdfast.workspace.mount import Mount
from holdfast.workspace.outputs import output_file, output_place
from holdfast.workspace.place import Place
from holdfast.workspace.protected_files import protected_files
from holdfast.workspace.trash import Trash

T = TypeVar("T")


class Fate(Enum):
    """What became of a command's effects; `LIVE` means that there was no layer, and that nobody knows them."""

    NONE = "none"
    KEPT = "kept"
    DROPPED = "dropped"
    HELD = "held"
    LIVE = "live"


@dataclass(frozen=True)
class Ran:
    """A command that has ended, and what became of its effects.

    `layer` is the name under which held effects can be decided, `problem`
    why effects that should have been kept are held instead. `output` is
    the file that has the whole output, when that is too long for an answer.
    """

    finished: Finished
    effects: Effects = field(default_factory=Effects)
    lines: tuple[Shown, ...] = ()
    fate: Fate = Fate.NONE
    layer: str = ""
    kept: Kept = field(default_factory=Kept)
    problem: HoldfastError | None = None
    output: Place | None = None


@dataclass
class Commands:
    """What the commands of one workspace share. The sandbox is tried when the first one comes."""

    mounts: Mapping[str, Mount]
    settings: SandboxSettings
    workspace_id: str
    protected: ProtectedPaths
    trash: Trash
    max_undecided: int = 8
    _sandbox: Sandbox | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def sandbox(self) -> Sandbox:
        """Where commands run, tried out."""
        async with self._opening:
            if self._sandbox is None:
                roots = [
                    SandboxMount(mount.name, mount.root, mount.descriptor, mount.mode is not MountMode.READ_ONLY)
                    for mount in self.mounts.values()
                ]
                self._sandbox = await Sandbox.open(roots, self.settings, workspace_id=self.workspace_id)
            return self._sandbox

    @property
    def lowers(self) -> dict[str, int]:
        """The roots of the mounts that layers are over."""
        return {mount.name: mount.descriptor for mount in self.mounts.values() if mount.mode is not MountMode.READ_ONLY}

    def layer(self, undecided: Undecided) -> Layer:
        """The layer of effects that are pending."""
        return Layer(undecided.id, self.settings.layers / undecided.id, undecided.started)

    def close(self) -> None:
        """Let no more commands be started."""
        if self._sandbox is not None:
            self._sandbox.close()


@dataclass(frozen=True)
class Shell:
    """Commands as one call sees them."""

    commands: Commands
    book: LayerBook
    call: ToolCall
    show: Callable[[str], None]
    state: Mount
    drops: bool = False
    hides: bool = False
    env: Environment = field(default_factory=Environment)

    async def run(self, script: str, seconds: float) -> Ran:
        """Run a script to its end, and do with its effects what the caller wished.

        A call that is cancelled leaves no process and no effect.

        Raises:
            AccessDenied: Commands cannot be confined here.
            NotPermitted: Without a layer its effects could be neither held nor dropped.
            Busy: Too many effects wait for a decision.
        """
        sandbox = await self.commands.sandbox()
        wish = Wish.DROP if self.drops else self.call.effects
        if sandbox.tier is Tier.UNCONFINED:
            return await self._run_live(sandbox, script, seconds, wish)
        if wish is Wish.HOLD and len(await self.book.pending()) >= self.commands.max_undecided:
            raise Busy("too many effects wait for a decision", hint="Keep or drop some of them first.", most=self.commands.max_undecided)
        layer = await asyncio.to_thread(sandbox.new_layer)
        is_held = False
        try:
            await self.book.begin(layer.id, layer.started, self.call)
            finished, output = await self._finished(sandbox, script, seconds, layer)
            ran = await self._decided(layer, Ran(finished, output=output), wish)
            is_held = ran.fate is Fate.HELD
            return ran
        finally:
            if not is_held:
                await asyncio.shield(self._forget(sandbox, layer))

    async def effects(self, layer_id: str) -> tuple[Undecided, tuple[Shown, ...]]:
        """What is pending under that name, and a line for each.

        Raises:
            NotFound, Conflict: There is nothing pending.
        """
        undecided = await self.book.undecided(layer_id)
        layer = self.commands.layer(undecided)
        return undecided, await asyncio.to_thread(shown, layer, self.commands.lowers, undecided.effects)

    async def diff(self, undecided: Undecided, mount: str, path: str) -> Difference | None:
        """What an effect changes in a text.

        Raises:
            NotFound: There is no effect at that path.
        """
        effect = next((one for one in undecided.effects.every if (one.mount, one.path) == (mount, path)), None)
        if effect is None:
            raise NotFound(f"there is no effect at '{path}'", hint="Name one of the paths in the list.", path=path)
        return await asyncio.to_thread(diff_of, self.commands.layer(undecided), self.commands.lowers, effect)

    async def left_out(self, undecided: Undecided, *, may_write_git: bool) -> list[LeftOut]:
        """What a keep of all pending effects would leave out."""
        with open_uppers(self.commands.layer(undecided)) as uppers:
            return await self.book.left_out(undecided.effects, uppers, may_write_git=may_write_git)

    async def keep(self, layer_id: str, *, only: Sequence[tuple[str, str]] | None, effects_hash: str = "", may_write_git: bool) -> Kept:
        """Make pending effects real, all of them or those at or below some paths; the rest is dropped.

        Raises:
            NotFound, Conflict: There is nothing pending, or not what was looked at.
        """
        undecided = await self.book.undecided(layer_id)
        if effects_hash and effects_hash != undecided.effects.hash:
            raise Conflict("the effects are not those that were looked at", hint="Look at them again.", hash=undecided.effects.hash)
        layer = self.commands.layer(undecided)
        kept = await self._kept(layer, undecided.effects, only=only, may_write_git=may_write_git)
        if kept.conflicts:
            named = ", ".join(f"/{each.path}" for each in kept.conflicts[:10])
            raise Conflict(
                f"these have changed meanwhile: {named}",
                hint="Nothing was kept. Keep other paths, or drop the effects.",
                conflicts=[{"path": each.path, "why": each.why} for each in kept.conflicts[:100]],
            )
        if not kept.kept:
            raise InvalidArguments.of("paths", "name nothing that can be kept", hint="Look at the effects, and name paths among them.")
        await (await self.commands.sandbox()).discard(layer)
        return kept

    async def drop(self, layer_id: str) -> Undecided:
        """Throw pending effects away.

        Raises:
            NotFound, Conflict: There is nothing pending.
        """
        undecided = await self.book.undecided(layer_id)
        await self.book.drop(layer_id)
        await (await self.commands.sandbox()).discard(self.commands.layer(undecided))
        return undecided

    async def _run_live(self, sandbox: Sandbox, script: str, seconds: float, wish: Wish) -> Ran:
        if sandbox.offers_commands and wish is not Wish.KEEP:
            raise NotPermitted("without a sandbox a command's effects are real at once", hint="See what `holdfast doctor` says.")
        finished, output = await self._finished(sandbox, script, seconds, None)
        return Ran(finished, fate=Fate.LIVE, output=output)

    async def _finished(self, sandbox: Sandbox, script: str, seconds: float, layer: Layer | None) -> tuple[Finished, Place | None]:
        project = self.commands.mounts["project"]
        hidden = await project.pool.run(protected_files, project, self.commands.protected) if self.hides and layer else []
        name = f"{''.join(letter if letter.isalnum() or letter in '-_' else '_' for letter in self.call.id)[:80]}.txt"
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with ExitStack() as undo:
            path = undo.enter_context(output_file(self.state, name))
            command = Command(
                script,
                seconds,
                cwd=("project", ""),
                environment=additions_for(self.env, os.environ),
                output=path,
                outputs=path.parent.resolve() if layer else None,
                hidden=[("project", each) for each in hidden],
            )
            try:
                finished = await sandbox.run(command, layer, lambda data: self.show(decode(data)))
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            if finished.total_bytes <= len(finished.head):
                path.unlink(missing_ok=True)
                return finished, None
        return finished, output_place(self.state, name)

    async def _decided(self, layer: Layer, ran: Ran, wish: Wish) -> Ran:
        judge = Judge(self.commands.protected)
        effects = await _until_left(lambda stop: effects_of(layer, self.commands.lowers, judge, stop=stop))
        if not effects:
            return ran
        lines = await asyncio.to_thread(shown, layer, self.commands.lowers, effects)
        ran = replace(ran, effects=effects, lines=lines)
        match wish:
            case Wish.DROP:
                return replace(ran, fate=Fate.DROPPED)
            case Wish.HOLD:
                await self.book.hold(layer.id, layer.started, self.call, effects)
                return replace(ran, fate=Fate.HELD, layer=layer.id)
            case Wish.KEEP:
                return await self._kept_or_held(layer, ran)

    async def _kept_or_held(self, layer: Layer, ran: Ran) -> Ran:
        """Keep, and hold what cannot be kept because somebody else has changed the same: it would be lost otherwise."""
        problem: HoldfastError | None = None
        kept = Kept()
        try:
            kept = await self._kept(layer, ran.effects, only=None, may_write_git=False)
        except Conflict as error:
            problem = error
        if problem is None and not kept.conflicts:
            return replace(ran, fate=Fate.KEPT if kept.kept else Fate.DROPPED, kept=kept)
        await self.book.hold(layer.id, layer.started, self.call, ran.effects)
        return replace(ran, fate=Fate.HELD, layer=layer.id, kept=kept, problem=problem)

    async def _kept(self, layer: Layer, effects: Effects, *, only: Sequence[tuple[str, str]] | None, may_write_git: bool) -> Kept:
        with open_uppers(layer) as uppers:
            return await self.book.keep(layer.id, layer.started, self.call, effects, uppers, only=only, may_write_git=may_write_git)

    async def _forget(self, sandbox: Sandbox, layer: Layer) -> None:
        """Remove the layer, unless it is still needed to finish what was promised."""
        try:
            await self.book.drop(layer.id)
        except NotFound:
            pass
        except Conflict as error:
            if error.facts.get("state") != "settled":
                return
        except HoldfastError:
            return
        await sandbox.discard(layer)


async def _until_left(work: Callable[[Event], T]) -> T:
    """Do the work in a thread, and stop it when nobody waits any more."""
    stop = Event()
    try:
        return await asyncio.to_thread(work, stop)
    finally:
        stop.set()


def listed(lines: Sequence[Shown]) -> list[Json]:
    """Effects as every door tells them: numbered, by path, with how many lines are added and removed."""
    told: list[Json] = []
    for number, line in enumerate(lines, 1):
        one: dict[str, Json] = {"n": number, "path": path_of(line.mount, line.path), "kind": line.kind.value, "type": line.type.value}
        one.update({"added": line.added, "removed": line.removed, "text": line.text})
        optional: dict[str, Json] = {"count": line.count if line.count > 1 else None, "note": line.note or None}
        optional.update({"protected": line.is_protected or None, "ignored": line.is_ignored or None})
        one.update({name: value for name, value in optional.items() if value is not None})
        told.append(one)
    return told


def path_of(mount: str, path: str) -> str:
    """The path of an effect: counted from the project's root, or by its mount when it is elsewhere."""
    return f"/{path}" if mount == "project" else f"@{mount}/{path}"


def parsed_path(text: str) -> tuple[str, str]:
    """The mount and the path that `path_of` told."""
    if not text.startswith("@"):
        return "project", text.strip("/")
    mount, _, path = text[1:].partition("/")
    return mount, path.strip("/")
