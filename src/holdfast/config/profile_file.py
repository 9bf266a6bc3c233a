"""A profile, from what its file says.

A project's profile comes with the project, from whoever wrote that, so
it may say only what cannot be used against the person: decision 10.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.vocabulary.limits import Limits
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import RESERVED_VARIABLES, Environment, Origin, Profile, Workflow
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import Trust, When

from .profile_limits import MAX_SECONDS, MAX_SECONDS_BY_PROJECT, read_limits
from .yaml_page import Node, Page

KEYS = (
    "description",
    "model",
    "system_prompt",
    "toolsets",
    "tool_permissions",
    "trust",
    "ask",
    "mode",
    "mounts",
    "env",
    "limits",
    "workflow",
)
INHERIT = "inherit"

# The toolset of the tools that a profile has when it permits none.
_FALLBACK = "core"
_MAX_DESCRIPTION = 200
_MODEL = re.compile(r"[a-z0-9][a-z0-9-]*/\S+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_REMOTE = re.compile(r"mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+", re.ASCII)


@dataclass(frozen=True)
class KnownTools:
    """What a profile can name: the toolsets with their tools, and which of those take paths."""

    toolsets: Mapping[str, tuple[str, ...]]
    takes_paths: Callable[[str], bool]

    def toolset_of(self, tool: str) -> str | None:
        """The toolset that a tool is of."""
        return next((toolset for toolset, tools in self.toolsets.items() if tool in tools), None)


def read_profile(text: str, *, name: str, origin: Origin, file: str, known: KnownTools) -> Profile:
    """The profile that a YAML text describes.

    Raises:
        InvalidSetting: There are mistakes in it; all are told, with their lines.
    """
    page = Page(file)
    root = page.compose(text)
    profile = _Reading(name, origin, known, root.fields(KEYS) if root is not None else {}).profile()
    page.check()
    return profile


@dataclass(frozen=True)
class _Reading:
    """One profile in the making."""

    name: str
    origin: Origin
    known: KnownTools
    fields: Mapping[str, Node]

    def profile(self) -> Profile:
        toolsets = self._toolsets()
        permissions = self._permissions(toolsets)
        ask, mode = self.fields.get("ask"), self.fields.get("mode")
        return Profile(
            self.name,
            self._chosen(toolsets, permissions),
            Scope(permissions),
            limits=self._limits(),
            workflow=self._workflow(),
            description=self._description(),
            model=self._model(),
            system_prompt=self._text("system_prompt"),
            trust=self._trust(),
            ask=(ask.choice(When) if ask is not None else None) or When.BEFORE,
            mode=(mode.choice(Mode) if mode is not None else None) or Mode.BUILD,
            mounts=self._mounts(),
            env=self._environment(),
            origin=self.origin,
        )

    @property
    def _by_project(self) -> bool:
        return self.origin is Origin.PROJECT

    def _text(self, key: str) -> str:
        node = self.fields.get(key)
        return (node.text() if node is not None else None) or ""

    def _description(self) -> str:
        text = self._text("description")
        if len(text) > _MAX_DESCRIPTION or "\n" in text:
            self.fields["description"].wrong(f"this must be one line of at most {_MAX_DESCRIPTION} characters")
        return text

    def _model(self) -> str | None:
        model = self._text("model")
        if model and _MODEL.fullmatch(model) is None:
            self.fields["model"].wrong("this must be provider/name, such as ollama/qwen3")
        return model or None

    def _trust(self) -> Trust | None:
        node = self.fields.get("trust")
        if node is None:
            return None
        trust = node.choice(Trust)
        if trust is Trust.AUTONOMOUS and self._by_project:
            node.wrong("a project's profile can be supervised or guided; autonomous is for you to say, in your own folder or at the start")
        return trust

    def _toolsets(self) -> tuple[str, ...]:
        node = self.fields.get("toolsets")
        if node is None:
            return ()
        found = node.texts()
        if node.is_empty_list:
            node.wrong("this must not be empty; without it, it is the toolsets of the permitted tools")
        for toolset, item in found:
            if toolset not in self.known.toolsets:
                item.wrong(f"there is no toolset '{toolset[:60]}'; there is: {', '.join(self.known.toolsets)}")
        return tuple(toolset for toolset, _ in found)

    def _chosen(self, toolsets: tuple[str, ...], permissions: Mapping[str, Permission]) -> tuple[str, ...]:
        """The toolsets as they are said, or those of the permitted tools; never none, which would be all."""
        named = {self.known.toolset_of(tool) for tool in permissions}
        chosen = toolsets or tuple(each for each in self.known.toolsets if each in named)
        return chosen if permissions and chosen else (*chosen, *({_FALLBACK} - set(chosen)))

    def _permissions(self, toolsets: tuple[str, ...]) -> dict[str, Permission]:
        node = self.fields.get("tool_permissions")
        if node is None or node.is_nothing:
            return {}
        every = [tool for tools in self.known.toolsets.values() for tool in tools]
        found: dict[str, Permission] = {}
        for tool, value in node.fields(every, also=_REMOTE, listed="`holdfast tools` lists them").items():
            found[tool] = self._permission(tool, value)
            toolset = self.known.toolset_of(tool)
            if toolsets and toolset is not None and toolset not in toolsets:
                value.wrong(f"this is of the toolset {toolset}, which is not among the toolsets")
        return found

    def _permission(self, tool: str, node: Node) -> Permission:
        fields = node.fields(("allowed", "paths", "timeout"), required=("allowed",))
        allowed = fields["allowed"].yes_or_no() if "allowed" in fields else None
        paths = self._paths(tool, fields["paths"]) if "paths" in fields else ()
        most = MAX_SECONDS_BY_PROJECT if self._by_project else MAX_SECONDS
        timeout = fields["timeout"].seconds(most=most) if "timeout" in fields else None
        return Permission(bool(allowed), paths, timeout)

    def _paths(self, tool: str, node: Node) -> tuple[str, ...]:
        # A limit that does not hold is worse than none.
        if self.known.toolset_of(tool) is None or not self.known.takes_paths(tool):
            node.wrong(f"{tool} takes no paths, so this would not limit it")
            return ()
        found = node.texts()
        if node.is_empty_list:
            node.wrong("this must not be empty; without it every path is permitted, and `allowed: false` permits none")
        for pattern, item in found:
            if pattern.startswith(("/", "@", "~")) or ".." in pattern.split("/") or "\\" in pattern:
                item.wrong(f"'{pattern[:60]}' would match nothing; count from the root of the mount, such as src/**")
        return tuple(pattern for pattern, _ in found)

    def _mounts(self) -> dict[str, str]:
        node = self.fields.get("mounts")
        if node is None:
            return {}
        if self._by_project:
            node.wrong("a project's profile cannot mount folders; do that in a profile in your own folder, or with --mount")
            return {}
        mounts: dict[str, str] = {}
        for name, value in node.pairs():
            folder = value.text()
            if name == "project" or not name.isidentifier():
                value.wrong("this cannot be the name of a mount; use letters, digits and '_', and not 'project'")
            elif folder is not None and not folder.startswith(("/", "~/")):
                value.wrong("this must be a folder from / or ~/, which may end in :ro")
            elif folder is not None:
                mounts[name] = os.path.expanduser(folder)
        return mounts

    def _environment(self) -> Environment:
        node = self.fields.get("env")
        if node is None:
            return Environment()
        if self._by_project:
            node.wrong("a project's profile cannot give commands variables; do that in a profile in your own folder")
            return Environment()
        given: dict[str, str] = {}
        passed: list[str] = []
        inherits = False
        for text, item in node.texts(or_one=True):
            name, equals, value = text.partition("=")
            if text == INHERIT:
                inherits = True
            elif _VARIABLE.fullmatch(name) is None or "\0" in value:
                item.wrong("this must be inherit, NAME to pass on, or NAME=value to set")
            elif name in RESERVED_VARIABLES or name.startswith("HOLDFAST_"):
                item.wrong(f"{name} is for Holdfast to say")
            elif name in given or name in passed:
                item.wrong(f"{name} is here twice")
            elif equals:
                given[name] = value
            else:
                passed.append(name)
        return Environment(inherits, tuple(passed), given)

    def _limits(self) -> Limits:
        node = self.fields.get("limits")
        return read_limits(node, by_project=self._by_project) if node is not None else Limits()

    def _workflow(self) -> Workflow | None:
        node = self.fields.get("workflow")
        if node is None:
            return None
        fields = node.fields(("edges",), required=("edges",))
        edges = fields["edges"].pairs() if "edges" in fields else ()
        return Workflow({name: tuple(text for text, _ in value.texts()) for name, value in edges})
