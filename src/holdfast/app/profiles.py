"""Profiles by their names, and as they travel to another process."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.config.home import home_folder
from holdfast.config.profile_document import as_yaml
from holdfast.config.profile_file import KnownTools, read_profile
from holdfast.config.profiles import ProfileFolders
from holdfast.tool.registry import Registry
from holdfast.tool.toolset import find_toolsets
from holdfast.vocabulary.profile import SHIPPED, Origin, Profile
from holdfast.vocabulary.scope import Scope

EVERYTHING = Profile("everything", ())
SAFE_ONLY = Profile("safe-only", (), dangerous=False)
_BUILT_IN = {**SHIPPED, EVERYTHING.name: EVERYTHING, SAFE_ONLY.name: SAFE_ONLY}
# Its tools are for people alone.
_NOT_FOR_MODELS = "person"


def named_profile(profile: str | Profile | None, *, project: Path | None = None, home: Path | None = None) -> Profile:
    """The profile of that name: the person's own, a shipped one, or the project's; None is every tool of every toolset.

    Raises:
        InvalidArguments: There is none.
        InvalidSetting: There are mistakes in it.
    """
    if profile is None or profile == EVERYTHING.name:
        return EVERYTHING
    if profile == SAFE_ONLY.name:
        return SAFE_ONLY
    return profile if isinstance(profile, Profile) else profile_folders(project, home=home).find(profile)


def profile_folders(project: Path | None, *, home: Path | None = None) -> ProfileFolders:
    """Where the profiles of a person in a project are."""
    return ProfileFolders(home or home_folder(), project, known_tools())


@cache
def known_tools() -> KnownTools:
    """What a profile can name."""
    toolsets = [toolset for toolset in find_toolsets("holdfast.toolsets") if toolset.name != _NOT_FOR_MODELS]
    registry = Registry(toolsets)

    def takes_paths(name: str) -> bool:
        tool = registry.get(name)
        return tool is not None and bool(tool.asks)

    return KnownTools({toolset.name: tuple(toolset.names()) for toolset in toolsets}, takes_paths)


def tell_profile(profile: Profile) -> str | dict[str, Any]:
    """A profile for another process of the same person: its name when all processes have it, otherwise what it says."""
    if _BUILT_IN.get(profile.name) == profile:
        return profile.name
    # Toolsets and scope are told as they are: what a program made need not fit together as in a file.
    says = as_yaml(replace(profile, toolsets=(), scope=profile.scope or Scope()), known_tools())
    return {
        "name": profile.name,
        "origin": profile.origin.value,
        "toolsets": profile.toolsets,
        "is_scoped": profile.scope is not None,
        "dangerous": profile.dangerous,
        "says": says,
    }


def hear_profile(told: str | dict[str, Any]) -> Profile:
    """The profile that another process told, judged as its file would be.

    Raises:
        InvalidSetting: There are mistakes in it.
        ValueError: It is not what `tell_profile` tells.
    """
    if isinstance(told, str):
        if told not in _BUILT_IN:
            raise ValueError(told)
        return _BUILT_IN[told]
    name, origin = str(told["name"]), Origin(told["origin"])
    read = read_profile(str(told["says"]), name=name, origin=origin, file=f"the profile '{name}'", known=known_tools())
    scope = read.scope if told["is_scoped"] else None
    return replace(read, scope=scope, toolsets=tuple(map(str, told["toolsets"])), dangerous=bool(told["dangerous"]))
