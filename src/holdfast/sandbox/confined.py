"""Running commands so that what they do lands in a layer and nowhere else."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache

from holdfast.vocabulary.errors import NoSpace, NotFound

from . import chain, discard
from .cgroup import Group
from .command import Command, Finished, SandboxMount, Tier
from .environment import environment_for
from .ground import Ground
from .guard import has_room, size_of
from .hands import hands_for
from .hidden import hidden_paths
from .hub import Hub
from .job import Job, run_job
from .launching import request
from .layer import Layer
from .layers import make_layer, renew_work
from .seccomp import program
from .settings import SandboxSettings
from .view import Shown, View, words

# What runs shorter than this cannot have put much into its HOME.
_LONG_SECONDS = 2.0


class Confined:
    """Tier 1 for one workspace."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._settings = ground.settings
        self._mounts = {mount.name: mount for mount in ground.mounts}
        self._running = 0
        self._home_was_measured = False

    @classmethod
    async def prepare(cls, mounts: Sequence[SandboxMount], settings: SandboxSettings, workspace_id: str) -> "Confined":
        """Have everything at hand that a command needs.

        Raises:
            NoHands: There is no user to run as.
            NotMapped: The root belongs to root, and cannot be shown as anybody else's.
            OSError: The machine refuses something.
        """
        hub = Hub(workspace_id[:8])
        try:
            hands = await asyncio.to_thread(hands_for, mounts, workspace_id)
            return cls(await Ground.lay(mounts, settings, hands, hub))
        except BaseException:
            hub.close()
            raise

    def new_layer(self) -> Layer:
        """A layer that shows the workspace as it is now."""
        return make_layer(self._settings.layers, list(self._mounts.values()), self._ground.hands)

    async def run(self, command: Command, layer: Layer, show: Callable[[bytes], None]) -> Finished:
        """Run a command in a layer, to its end."""
        limits = self._settings.limits
        view = await self._view(command, layer)
        if not has_room(self._settings.layers, limits):
            raise NoSpace("The disk that commands write to is nearly full", hint="Make room on it, then run the command again.")
        await self._look_after_home()
        with ExitStack() as undo:
            options = _memory(undo, os.fsencode("\0".join((*words(view), ""))))
            seccomp = _memory(undo, _filter())
            ground = self._ground
            folders = [f"{ground.layers}/{layer.id}/{mount.name}" for mount in self._mounts.values() if mount.writable]
            told, tell = os.pipe()
            waits, word = os.pipe()
            undo.callback(os.close, waits)
            wanted = _memory(undo, request(folders, chain.confined(ground.programs, chain.limited(limits, command.script, waits=True))))
            job = Job(
                start=lambda out, complaints: ground.hub.launch(ground.hands, wanted, (waits, out, complaints, options, seccomp, tell)),
                word=word,
                status=(told, tell),
                seconds=command.seconds,
                output=command.output,
                limits=limits,
                written=[(layer.folder, limits.layer_bytes), (self._settings.home, limits.home_bytes)],
                group=Group(ground.groups, limits),
                clean=None,
                grace_seconds=self._settings.grace_seconds,
                tier=Tier.LAYERED,
            )
            self._running += 1
            try:
                finished = await run_job(ground.hub, job, show)
            finally:
                self._running -= 1
        self._home_was_measured = self._home_was_measured and finished.seconds < _LONG_SECONDS and finished.reason != "disk"
        return finished

    def close(self) -> None:
        """Let the thread end that starts commands, and with it the mounts that it holds."""
        self._ground.hub.close()

    async def _view(self, command: Command, layer: Layer) -> View:
        name, path = command.cwd
        if name not in self._mounts:
            raise NotFound(f"There is no mount {name}")
        trees = list(self._ground.tools)
        for mount in self._mounts.values():
            source = self._ground.root(mount)
            if mount.writable:
                _point(layer.folder / mount.name / "lower", source)
                renew_work(layer, mount.name, self._ground.hands)
                source = f"{self._ground.layers}/{layer.id}/{mount.name}/seen"
            trees.append(Shown(source, str(mount.root), mount.writable))
        if command.outputs is not None:
            trees.append(Shown(await self._ground.outputs(command.outputs), str(command.outputs)))
        server = os.environ
        return View(
            trees=trees,
            home=self._ground.home,
            made=self._ground.made,
            hidden=hidden_paths(command.hidden, self._mounts),
            covered=self._covered(),
            cwd=str(self._mounts[name].root / path),
            environment=environment_for(self._settings, server, path=server.get("PATH", ""), additions=command.environment),
            limits=self._settings.limits,
        )

    def _covered(self) -> list[str]:
        """Our own data, where a mount would show it."""
        own = self._settings.holdfast_home
        if own is None or not any(own.is_relative_to(mount.root) for mount in self._mounts.values()):
            return []
        return [str(own)]

    async def _look_after_home(self) -> None:
        """Empty a HOME that has grown too large: it holds caches only. While a command uses it, it is left alone."""
        if self._home_was_measured or self._running:
            return
        self._home_was_measured = True
        home = self._settings.home
        if await asyncio.to_thread(size_of, home) > self._settings.limits.home_bytes:
            await asyncio.to_thread(discard.empty, home)


def _point(link: "os.PathLike[str]", target: str) -> None:
    """Where the mount's root is, under a name without characters that mount options cannot have."""
    try:
        if os.readlink(link) == target:
            return
        os.unlink(link)
    except FileNotFoundError:
        pass
    os.symlink(target, link)


def _memory(undo: ExitStack, content: bytes) -> int:
    """A file in memory to be read from its beginning."""
    descriptor = os.memfd_create("holdfast", os.MFD_CLOEXEC)
    undo.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@cache
def _filter() -> bytes:
    return program(os.uname().machine)
