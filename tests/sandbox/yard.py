"""A sandbox over a small project of its own, for tests that run commands."""

import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.sandbox.command import Command, Finished, SandboxMount, Tier
from holdfast.sandbox.discard import remove
from holdfast.sandbox.layer import Layer
from holdfast.sandbox.sandbox import Sandbox
from holdfast.sandbox.settings import CommandLimits, SandboxSettings

PERSON = 12345
SMALL = CommandLimits(memory_bytes=400 * 1024 * 1024, processes=64, file_bytes=64 * 1024 * 1024, layer_bytes=48 * 1024 * 1024)


@dataclass
class Yard:
    """A project with one file, what is outside of it, and the sandbox."""

    sandbox: Sandbox
    folder: Path
    settings: SandboxSettings
    shown: list[bytes] = field(default_factory=list[bytes])

    @property
    def project(self) -> Path:
        return self.folder / "project"

    async def run(self, script: str, *, seconds: float = 30, **more: Any) -> Finished:
        """Run a script in a layer that is thrown away."""
        layer = self.layer()
        try:
            return await self.run_in(layer, script, seconds=seconds, **more)
        finally:
            if layer is not None:
                await self.sandbox.discard(layer)

    async def run_in(self, layer: Layer | None, script: str, *, seconds: float = 30, cwd: str = "", **more: Any) -> Finished:
        command = Command(script, seconds, ("project", cwd), **more)
        return await self.sandbox.run(command, layer, self.shown.append)

    def layer(self) -> Layer | None:
        return self.sandbox.new_layer() if self.sandbox.tier is Tier.LAYERED else None


@asynccontextmanager
async def open_yard(
    *,
    owner: int | None = None,
    limits: CommandLimits = SMALL,
    prepare: Callable[[Path], None] = lambda _: None,
    read_only: Mapping[str, Path] | None = None,
    **settings: Any,
) -> AsyncGenerator[Yard]:
    """Not beneath pytest's own folder: nobody but root may pass through that one."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-yard-", dir="/var/tmp"))
    with ExitStack() as undo:
        undo.callback(remove, folder)
        project = _project(folder, owner, prepare)
        mounts = [_mount(undo, "project", project, writable=True)]
        mounts += [_mount(undo, name, root, writable=False) for name, root in (read_only or {}).items()]
        home = folder / "data"
        own = replace(SandboxSettings(home / "layers", home / "home", home, limits=limits), **settings)
        sandbox = await Sandbox.open(mounts, own, workspace_id=folder.name)
        undo.callback(sandbox.close)
        yield Yard(sandbox, folder, own)


def _project(folder: Path, owner: int | None, prepare: Callable[[Path], None]) -> Path:
    folder.chmod(0o755)
    project = folder / "project"
    project.mkdir()
    (project / "notes.txt").write_text("first\n")
    (project / "notes.txt").chmod(0o600)
    prepare(project)
    if owner is not None:
        for path in (project, *project.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)
    return project


def _mount(undo: ExitStack, name: str, root: Path, *, writable: bool) -> SandboxMount:
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    undo.callback(os.close, descriptor)
    return SandboxMount(name, root, descriptor, writable)
