"""Which tools there are, and which of them somebody may see."""

from collections.abc import Iterable
from functools import cached_property

from holdfast.vocabulary.scope import Scope

from .tool import Audience, Tool
from .toolset import Toolset


class Registry:
    """All tools of some toolsets, each imported when it is first asked for."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self._toolsets = {toolset.name: toolset for toolset in toolsets}
        self._loaded: dict[str, Tool] = {}

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        if name in self._loaded:
            return self._loaded[name]
        toolset = self._owners.get(name)
        tool = toolset.load(name) if toolset is not None else None
        if tool is not None:
            self._loaded[name] = tool
        return tool

    def names(self) -> list[str]:
        """The names of all tools, in order of their toolsets."""
        return list(self._owners)

    def list_for_scope(self, scope: Scope | None, *, toolsets: Iterable[str] | None = None) -> list[Tool]:
        """The tools that a model may see: with no scope all, otherwise exactly those that it allows."""
        wanted = set(self._toolsets if toolsets is None else toolsets)
        listed: list[Tool] = []
        for name, toolset in self._owners.items():
            if toolset.name not in wanted or (scope is not None and scope.permission(name) is None):
                continue
            tool = self.get(name)
            if tool is not None and tool.declaration.audience is Audience.MODEL:
                listed.append(tool)
        return listed

    @cached_property
    def _owners(self) -> dict[str, Toolset]:
        owners: dict[str, Toolset] = {}
        for toolset in self._toolsets.values():
            for name in toolset.names():
                if name in owners:
                    raise TypeError(f"two toolsets have a tool called {name}: {owners[name].name} and {toolset.name}")
                owners[name] = toolset
        return owners
