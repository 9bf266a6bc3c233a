"""What makes an agent: its model and prompt, its toolsets, what it may do with them, when it asks, and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .limits import Limits
from .mode import Mode
from .scope import Scope
from .trust import Trust, When

# How programs inside a sandbox are found, and where they keep their things, is for the sandbox to say.
RESERVED_VARIABLES = frozenset({"HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "GIT_OPTIONAL_LOCKS"})


@dataclass(frozen=True)
class Workflow:
    """The steps that `@state/workflow.md` may go through: which node leads to which."""

    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True)
class Environment:
    """What commands are given besides the usual variables.

    `passed` are names whose values are the server's, `given` are names
    with values. `inherits` passes on all that does not look like a secret.
    """

    inherits: bool = False
    passed: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict[str, str])


class Origin(Enum):
    """Who wrote a profile: we, the person, or whoever wrote the project."""

    SHIPPED = "shipped"
    PERSON = "person"
    PROJECT = "project"


@dataclass(frozen=True)
class Profile:
    """One agent. `scope` None means every tool of its toolsets, which only shipped profiles may say.

    `dangerous` False leaves only the safe tools. `trust` and `model` None
    leave it to the settings. `mode` is that of its new sessions. `mounts`
    are folders by name, as the command line takes them, which are there
    where a workspace is opened for this profile.
    """

    name: str
    toolsets: tuple[str, ...]
    scope: Scope | None = None
    dangerous: bool = True
    limits: Limits = field(default_factory=Limits)
    workflow: Workflow | None = None
    description: str = ""
    model: str | None = None
    system_prompt: str = ""
    trust: Trust | None = None
    ask: When = When.BEFORE
    mode: Mode = Mode.BUILD
    mounts: Mapping[str, str] = field(default_factory=dict[str, str])
    env: Environment = field(default_factory=Environment)
    origin: Origin = Origin.PERSON

    @property
    def reads_protected(self) -> bool:
        """Whether one of its toolsets lets protected files be read: then a command may as well."""
        return not self.toolsets or "workspace" in self.toolsets


def _shipped(name: str, description: str, *toolsets: str, ask: When = When.BEFORE, mode: Mode = Mode.BUILD) -> Profile:
    return Profile(name, toolsets, description=description, ask=ask, mode=mode, origin=Origin.SHIPPED)


SHIPPED = {
    each.name: each
    for each in (
        _shipped("coder", "works on a project: files, commands, the web", "workspace", "core", ask=When.EFFECTS),
        _shipped("core", "four tools: read, write, run, search the web", "core"),
        _shipped("fs", "files by @mount/path, for a workflow's engine", "fs"),
        _shipped("simple", "reads files and lists folders", "simple"),
        _shipped("planner", "looks around and writes plans; nothing else changes", "workspace", mode=Mode.PLAN),
    )
}
