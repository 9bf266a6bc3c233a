"""What makes an agent: its toolsets, what it may do with them, and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .limits import Limits
from .scope import Scope


@dataclass(frozen=True)
class Workflow:
    """The steps that `@state/workflow.md` may go through: which node leads to which."""

    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True)
class Profile:
    """One agent. `scope` None means every tool of its toolsets, which only shipped profiles may say.

    `dangerous` False leaves only the safe tools.
    """

    name: str
    toolsets: tuple[str, ...]
    scope: Scope | None = None
    dangerous: bool = True
    limits: Limits = field(default_factory=Limits)
    workflow: Workflow | None = None

    @property
    def reads_protected(self) -> bool:
        """Whether one of its toolsets lets protected files be read: then a command may as well."""
        return not self.toolsets or "workspace" in self.toolsets


SHIPPED = {
    "coder": Profile("coder", ("workspace", "core")),
    "core": Profile("core", ("core",)),
    "fs": Profile("fs", ("fs",)),
    "simple": Profile("simple", ("simple",)),
    "planner": Profile("planner", ("workspace",)),
}
