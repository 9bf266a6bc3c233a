"""What is prepared once for the commands of a workspace: whose hands, which trees, which programs."""

import asyncio
import os
import pwd
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from . import kernel
from .cgroup import Groups, find_groups
from .chain import Programs, find_programs
from .command import SandboxMount
from .hands import Hands, mapping
from .hub import Hub
from .made import make
from .settings import SandboxSettings
from .tools import tool_folders
from .view import Shown

_MADE = ".made"
# As many sessions as can be expected to be at work in one workspace.
_MOST_OUTPUTS = 64


class NotMapped(Exception):
    """The kernel does not show root's files as somebody else's."""


@dataclass
class Ground:
    """Where everything lies for whoever starts a command: for a root server in its thread's own mounts."""

    mounts: Sequence[SandboxMount]
    settings: SandboxSettings
    hands: Hands
    hub: Hub
    programs: Programs = field(default_factory=find_programs)
    groups: Groups | None = None
    layers: str = ""
    home: str = ""
    made: str = ""
    tools: list[Shown] = field(default_factory=list[Shown])
    _roots: dict[str, str] = field(default_factory=dict[str, str])
    _outputs: dict[Path, str] = field(default_factory=dict[Path, str])

    @classmethod
    async def lay(cls, mounts: Sequence[SandboxMount], settings: SandboxSettings, hands: Hands, hub: Hub) -> "Ground":
        """Make the folders, and in a root server the mounts.

        Raises:
            NotMapped: The root belongs to root, and cannot be shown as anybody else's.
            OSError: The machine refuses something.
        """
        ground = cls(mounts, settings, hands, hub)
        await asyncio.to_thread(ground.make_folders)
        ground.groups = await asyncio.to_thread(find_groups)
        if ground.groups is not None:
            await asyncio.to_thread(ground.groups.sweep)
        folders = [str(settings.layers), str(settings.home), str(settings.layers / _MADE), *ground.tool_folders()]
        seen = folders if not hands.dropped else await ground.show_all(folders)
        ground.layers, ground.home, ground.made = seen[:3]
        await asyncio.wrap_future(hub.prepare(hands))
        ground.tools = [Shown(source, at) for source, at in zip(seen[3:], folders[3:], strict=True)]
        return ground

    def make_folders(self) -> None:
        """The folders of layers, which others may pass through but not look into, and HOME."""
        self.settings.layers.mkdir(parents=True, exist_ok=True)
        self.settings.layers.chmod(0o711 if self.hands.dropped else 0o700)
        make(self.settings.layers / _MADE)
        self.settings.home.mkdir(parents=True, exist_ok=True)
        self.settings.home.chmod(0o700)
        if self.hands.dropped:
            os.chown(self.settings.home, self.hands.uid, self.hands.gid, follow_symlinks=False)

    def tool_folders(self) -> list[str]:
        """Programs outside of /usr that may be shown."""
        private = [mount.root for mount in self.mounts] + [self.settings.layers, self.settings.home]
        if self.settings.holdfast_home is not None:
            private.append(self.settings.holdfast_home)
        return tool_folders(os.environ.get("PATH", ""), private=private, homes=[Path.home(), *_home_of(os.geteuid())])

    def root(self, mount: SandboxMount) -> str:
        """Where a mount's root is to be found now.

        Raises:
            FileNotFoundError: It has been removed.
        """
        if mount.name in self._roots:
            return self._roots[mount.name]
        path = os.readlink(f"/proc/self/fd/{mount.descriptor}")
        if not os.path.samestat(os.stat(path), os.fstat(mount.descriptor)):
            raise FileNotFoundError(path)
        return path

    async def show_all(self, folders: Sequence[str]) -> list[str]:
        """For a root server: clone everything, and attach it where the hands can reach it."""
        await asyncio.wrap_future(self.hub.enter())
        for mount in self.mounts:
            clone = await asyncio.to_thread(self._clone_root, mount)
            self._roots[mount.name] = await asyncio.wrap_future(self.hub.show(clone))
        return [await self._show(folder) for folder in folders]

    async def outputs(self, folder: Path) -> str:
        """Where the folder of outputs is to be found, readable for the hands."""
        if not self.hands.dropped:
            return str(folder)
        path = self._outputs.pop(folder, None) or await self._show(str(folder), mapped=True)
        self._outputs[folder] = path
        if len(self._outputs) > _MOST_OUTPUTS:
            oldest = next(iter(self._outputs))
            self.hub.hide(self._outputs.pop(oldest))
        return path

    async def _show(self, folder: str, *, mapped: bool = False) -> str:
        def clone() -> int:
            descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                return self._clone(descriptor, mapped=mapped)
            finally:
                os.close(descriptor)

        return await asyncio.wrap_future(self.hub.show(await asyncio.to_thread(clone)))

    def _clone_root(self, mount: SandboxMount) -> int:
        try:
            return self._clone(mount.descriptor, mapped=True)
        except OSError as error:
            raise NotMapped(str(error)) from error

    def _clone(self, descriptor: int, *, mapped: bool) -> int:
        """A mount of the tree, in which its owner's files are the hands' when `mapped`."""
        owner = os.fstat(descriptor)
        with ExitStack() as undo:
            clone = kernel.clone_mount(descriptor)
            undo.callback(os.close, clone)
            if mapped and owner.st_uid != self.hands.uid:
                namespace = undo.enter_context(mapping(owner=(owner.st_uid, owner.st_gid), to=self.hands))
                kernel.map_owners(clone, namespace)
            return os.dup(clone)


def _home_of(uid: int) -> list[Path]:
    try:
        return [Path(pwd.getpwuid(uid).pw_dir)]
    except KeyError:
        return []
