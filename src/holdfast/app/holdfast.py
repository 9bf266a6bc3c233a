"""Holdfast for a Python program: one folder, every tool."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from holdfast.config.settings import load_settings
from holdfast.dispatch.road import Road
from holdfast.tool.tool import Tool
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Busy, InvalidArguments, NotDirectory, NotFound
from holdfast.vocabulary.events import Event, Show
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Outcome
from holdfast.vocabulary.profile import Profile

from .held import Held
from .platform import Platform
from .profiles import named_profile


class Holdfast:
    """A workspace with hands: every tool, on the one road, over the files of one project."""

    def __init__(self, platform: Platform, workspace_id: str, profile: Profile, run: str, held: Held | None) -> None:
        self.platform = platform
        self.workspace_id = workspace_id
        self.profile = profile
        self.run = run
        self._held = held

    @property
    def road(self) -> Road:
        """The road that calls take here.

        Raises:
            Busy: Another process holds the workspace, and calls take its road.
        """
        if self._held is None:
            raise Busy("another process holds the workspace", hint="Calls are passed on to it.")
        return self._held.road

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        folder: str | Path,
        *,
        profile: str | Profile | None = None,
        mounts: Mapping[str, str | Path] | None = None,
        run: str = "",
        home: str | Path | None = None,
    ) -> AsyncGenerator["Holdfast"]:
        """Open a project folder. Without a profile, every tool of every toolset can be called.

        A profile is named as in `holdfast profile list`. `mounts` are more
        folders by name, besides the profile's; one that ends in `:ro` is
        only read. `run` tells apart the `@state` of one run from another's.
        When another process holds the folder's workspace, calls are passed
        on to it.

        Raises:
            NotFound, NotDirectory: A folder is not there.
            InvalidArguments: There is no such profile, or a mount's name is not a name.
            InvalidSetting: There are mistakes in the settings or in the profile.
            Busy: Another process holds the workspace, and with it decides on the mounts.
        """
        project, own = Path(folder), Path(home) if home is not None else None
        if not project.exists():
            raise NotFound(f"the folder of mount @project does not exist: {folder}", hint="Create it, or name another folder.")
        if not project.is_dir():
            raise NotDirectory(f"the root of mount @project is not a directory: {folder}", hint="Name a folder.")
        if run and (not run.replace("-", "").replace("_", "").isalnum() or len(run) > 100):
            raise InvalidArguments.of("run", "is not a name", hint="Use letters, digits, '-' and '_'.")
        chosen = named_profile(profile, project=project, home=own)
        more = {**chosen.mounts, **(mounts or {})}
        # Turns that were left open are a server's to go on with: whoever opens a folder wants what they ask for, and no more.
        settings = load_settings(project, given={"resume": "ask"}, home=own)
        async with Platform.open(settings) as platform:
            workspace = await platform.ensure_workspace(project)
            platform.mount_also(workspace.id, more)
            held: Held | None = None
            try:
                held = await platform.hold(workspace.id)
            except Busy:
                # A running server has it, and calls are passed on there.
                if more:
                    raise
            yield cls(platform, workspace.id, chosen, run, held)

    async def call(self, name: str, /, **arguments: Json) -> Outcome:
        """Call a tool by its name, with its arguments as keywords."""
        return await self.take(ToolCall(f"call-{uuid4()}", name, arguments, Caller(run=self.run)))

    async def take(self, call: ToolCall, profile: Profile | None = None, *, show: Show | None = None) -> Outcome:
        """Bring a call along the road to its outcome; what it prints is shown as it comes."""
        return await self.platform.take(self.workspace_id, call, profile or self.profile, show)

    def tools(self, profile: Profile | None = None) -> list[Tool]:
        """The tools that a model with this profile may see."""
        chosen = profile or self.profile
        return self.platform.registry.list_for_scope(chosen.scope, toolsets=chosen.toolsets or None)

    def watch(self, watcher: Callable[[Event], None]) -> None:
        """Have every event of this workspace told to `watcher`, as it happens."""
        self.platform.watch(lambda workspace_id, event: watcher(event) if workspace_id == self.workspace_id else None)
