"""What can be said without opening a folder: which tools there are, and what the machine has."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.config.home import home_folder
from holdfast.config.settings import load_settings
from holdfast.tool.definition import neutral
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Category, Tool
from holdfast.tool.toolset import find_toolsets
from holdfast.vocabulary.finding import Finding
from holdfast.vocabulary.json import JsonObject
from holdfast.vocabulary.profile import Profile
from holdfast.workspace.health import examine_machine

from .commands import find_lacks
from .profiles import named_profile


def find_tools() -> Registry:
    """All tools that come with Holdfast."""
    return Registry(find_toolsets("holdfast.toolsets"))


def list_tools(profile: str | Profile | None = None, *, project: Path | None = None) -> list[Tool]:
    """The tools that a model with this profile may see; `project` is where it may come from."""
    chosen = named_profile(profile, project=project)
    return find_tools().list_for_scope(chosen.scope, toolsets=chosen.toolsets or None)


def describe_tools(profile: str | Profile | None = None, *, project: Path | None = None) -> list[dict[str, Any]]:
    """What a profile's tools are, in the words of their definitions."""
    return [describe(tool) for tool in list_tools(profile, project=project)]


def describe(tool: Tool) -> dict[str, Any]:
    """What a tool is, in the words of its definition."""
    return {**neutral(tool), "toolset": tool.toolset, "category": tool.category.value, "danger": tool.danger.value}


def describe_arguments(name: str) -> Mapping[str, JsonObject]:
    """The schemas of a tool's arguments by their names; nothing for a tool that is not there."""
    tool = find_tools().get(name)
    return {each.wire_name: each.schema for each in tool.parameters} if tool is not None else {}


def is_command(name: str) -> bool:
    """Whether a tool runs commands, which have effects to be decided on."""
    tool = find_tools().get(name)
    return tool is not None and tool.category is Category.EXEC


def examine(folder: Path) -> list[Finding]:
    """What this machine has of what Holdfast uses, and whether commands can be confined in a folder."""
    lacks = asyncio.run(find_lacks(load_settings(folder), folder.resolve()))
    confined = [Finding("commands", is_there=True, detail="confined by the kernel, in layers (tier 1)", is_needed=False)]
    return [*examine_machine(home_folder()), *(lacks or confined)]
