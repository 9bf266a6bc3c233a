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

    def names(self, scope: Scope | None = None, *, toolsets: Iterable[str] | None = None) -> list[str]:
        """The names of the tools that a scope allows, in order of their toolsets; none of them is imported for that."""
        wanted = set(self._toolsets if toolsets is None else toolsets)
        named = [name for name, toolset in self._owners.items() if toolset.name in wanted]
        return named if scope is None else [name for name in named if scope.permission(name) is not None]

    def list_for_scope(self, scope: Scope | None, *, toolsets: Iterable[str] | None = None) -> list[Tool]:
        """The tools that a model may see: with no scope all, otherwise exactly those that it allows."""
        found = [self.get(name) for name in self.names(scope, toolsets=toolsets)]
        return [tool for tool in found if tool is not None and tool.declaration.audience is Audience.MODEL]

    @cached_property
    def _owners(self) -> dict[str, Toolset]:
        owners: dict[str, Toolset] = {}
        for toolset in self._toolsets.values():
            for name in toolset.names():
                if name in owners:
                    raise TypeError(f"two toolsets have a tool called {name}: {owners[name].name} and {toolset.name}")
                owners[name] = toolset
        return owners
