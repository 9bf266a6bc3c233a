"""The composition root: a folder and settings in, a wired Holdfast out."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from .config.home import home_folder, workspace_folder
from .dispatch.audit import AuditEntry, dump
from .dispatch.road import Road
from .policy.decide import Rules
from .tool.context import Surroundings
from .tool.definition import neutral
from .tool.registry import Registry
from .tool.tool import Tool
from .tool.toolset import find_toolsets
from .vocabulary.access import MountMode
from .vocabulary.call import Caller, ToolCall
from .vocabulary.errors import InvalidArguments, NotPermitted
from .vocabulary.events import Event
from .vocabulary.finding import Finding
from .vocabulary.json import Json, JsonObject
from .vocabulary.mode import Mode
from .vocabulary.outcome import Outcome
from .vocabulary.profile import SHIPPED, Profile
from .vocabulary.protected import ProtectedPaths
from .workspace.append import append, check_appendable
from .workspace.changes import Changes
from .workspace.health import examine_machine
from .workspace.mount import Mount
from .workspace.place import Place
from .workspace.resolve import resolve_now

EVERYTHING = Profile("everything", ())


class Holdfast:
    """A workspace with hands: every tool, on the one road, over the files of one project."""

    def __init__(self, road: Road, profile: Profile, watchers: list[Callable[[Event], None]]) -> None:
        self.road = road
        self.profile = profile
        self._watchers = watchers

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        folder: str | Path,
        *,
        profile: str | Profile | None = None,
        mounts: Mapping[str, str | Path] | None = None,
        run: str = "default",
        home: str | Path | None = None,
    ) -> AsyncGenerator["Holdfast"]:
        """Open a project folder. Without a profile, every tool of every toolset can be called.

        `mounts` are more folders by name; a folder that ends in `:ro` is
        only read. `run` tells apart the `@state` of one run from another's.

        Raises:
            NotFound, NotDirectory: A folder is not there.
            InvalidArguments: There is no such profile, or a mount's name is not a name.
        """
        chosen = named_profile(profile)
        base = Path(home) if home is not None else home_folder()
        opened = _open_mounts(Path(folder), dict(mounts or {}), run, base)
        watchers: list[Callable[[Event], None]] = []
        changes = Changes()
        try:
            road = Road(
                find_tools(),
                Surroundings(opened, changes, _Nobody(), lambda _: opened["state"]),
                Rules(ProtectedPaths(own=_own_paths(opened, base))),
                _LogFile(resolve_now(opened["state"], "logs/execution.jsonl", written="@state/logs/execution.jsonl")),
                lambda event: _tell(watchers, event),
            )
            yield cls(road, chosen, watchers)
        finally:
            await changes.finish()
            for mount in opened.values():
                mount.close()

    async def call(self, name: str, /, **arguments: Json) -> Outcome:
        """Call a tool by its name, with its arguments as keywords."""
        return await self.take(ToolCall(f"call-{uuid4()}", name, arguments, Caller()))

    async def take(self, call: ToolCall, profile: Profile | None = None) -> Outcome:
        """Bring a call along the road to its outcome."""
        return await self.road.take(call, profile or self.profile)

    def tools(self, profile: Profile | None = None) -> list[Tool]:
        """The tools that a model with this profile may see."""
        chosen = profile or self.profile
        return self.road.registry.list_for_scope(chosen.scope, toolsets=chosen.toolsets or None)

    def watch(self, watcher: Callable[[Event], None]) -> None:
        """Have every event told to `watcher`, as it happens."""
        self._watchers.append(watcher)


def named_profile(profile: str | Profile | None) -> Profile:
    """The profile of that name.

    Raises:
        InvalidArguments: There is none.
    """
    if profile is None:
        return EVERYTHING
    if isinstance(profile, Profile):
        return profile
    if profile not in SHIPPED:
        raise InvalidArguments.of("profile", f"there is none called '{profile}'", hint=f"The profiles are: {', '.join(SHIPPED)}.")
    return SHIPPED[profile]


def find_tools() -> Registry:
    """All tools that come with Holdfast."""
    return Registry(find_toolsets("holdfast.toolsets"))


def list_tools(profile: str | Profile | None = None) -> list[Tool]:
    """The tools of a profile, without opening a folder."""
    chosen = named_profile(profile)
    return find_tools().list_for_scope(chosen.scope, toolsets=chosen.toolsets or None)


def describe_tools(profile: str | Profile | None = None) -> list[dict[str, Any]]:
    """What a profile's tools are, in the words of their definitions."""
    return [
        {**neutral(tool), "toolset": tool.toolset, "category": tool.category.value, "danger": tool.danger.value}
        for tool in list_tools(profile)
    ]


def describe_arguments(name: str) -> Mapping[str, JsonObject]:
    """The schemas of a tool's arguments by their names; nothing for a tool that is not there."""
    tool = find_tools().get(name)
    return {each.wire_name: each.schema for each in tool.parameters} if tool is not None else {}


def examine() -> list[Finding]:
    """What this machine has of what Holdfast uses."""
    return examine_machine(home_folder())


def _open_mounts(folder: Path, more: dict[str, str | Path], run: str, home: Path) -> dict[str, Mount]:
    if not run.replace("-", "").replace("_", "").isalnum() or len(run) > 100:
        raise InvalidArguments.of("run", "is not a name", hint="Use letters, digits, '-' and '_'.")
    own = workspace_folder(home, folder)
    opened: dict[str, Mount] = {"project": Mount("project", folder)}
    try:
        for name, default in (("central", own / "central"), ("state", own / "state" / run)):
            if name not in more:
                default.mkdir(parents=True, exist_ok=True, mode=0o700)
                opened[name] = Mount(name, default)
        for name, root in more.items():
            if name == "project" or not name.isidentifier():
                raise InvalidArguments.of("mount", f"'{name}' cannot be the name of a mount", hint="Use letters, digits and '_'.")
            text = str(root)
            mode = MountMode.READ_ONLY if text.endswith(":ro") or name == "pkg" else MountMode.READ_WRITE
            opened[name] = Mount(name, Path(text.removesuffix(":ro")), mode)
    except BaseException:
        for mount in opened.values():
            mount.close()
        raise
    return opened


def _own_paths(mounts: Mapping[str, Mount], home: Path) -> tuple[str, ...]:
    """What is Holdfast's own and lies in somebody's mount: its folder, and the logs of a run that is mounted there."""
    folder, logs = Path(os.path.realpath(home)), mounts["state"].root / "logs"
    own = [(mount, folder) for mount in mounts.values()] + [(mount, logs) for mount in mounts.values() if mount.name != "state"]
    return tuple(str(PurePosixPath(mount.name, path.relative_to(mount.root))) for mount, path in own if path.is_relative_to(mount.root))


def _tell(watchers: list[Callable[[Event], None]], event: Event) -> None:
    for watcher in watchers:
        watcher(event)


class _Nobody:
    """There is no person here to be asked."""

    async def mode(self, session: str) -> Mode:
        """Always building."""
        return Mode.BUILD

    async def ask(self, call: ToolCall, questions: Sequence[JsonObject]) -> Json:
        """Refused."""
        raise NotPermitted("there is nobody to ask here", hint="Go on without the answer.")

    async def accept_plan(self, call: ToolCall, plan: str) -> None:
        """Nothing to turn."""


class _LogFile:
    """The audit log of a run: one JSON line for each call."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._is_good = False

    async def prepare(self, call: ToolCall) -> None:
        """Make sure that the log can be written, unless that has just been seen."""
        if not self._is_good:
            await check_appendable(self._place)

    def author(self, call: ToolCall, given: Json) -> object:
        """The call itself."""
        return call

    async def record(self, entry: AuditEntry, author: object) -> None:
        """Add the entry's line."""
        self._is_good = False
        await append(self._place, dump(entry.line()))
        self._is_good = True
