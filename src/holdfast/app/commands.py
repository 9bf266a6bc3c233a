"""Commands of one workspace: the settings in the words of the sandbox, and what is left of earlier holders."""

import asyncio
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.config.settings import Settings
from holdfast.sandbox import discard
from holdfast.sandbox.lack import Lack
from holdfast.sandbox.layer import Layer
from holdfast.sandbox.layers import sweep
from holdfast.sandbox.probe import probe_folder
from holdfast.sandbox.settings import CommandLimits, SandboxSettings
from holdfast.sandbox.upper import open_uppers
from holdfast.tool.commands import Commands
from holdfast.vocabulary.finding import Finding
from holdfast.vocabulary.limits import MIB
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.keep_recovery import LayersLeft
from holdfast.workspace.mount import Mount
from holdfast.workspace.records import Records
from holdfast.workspace.trash import Trash

UNDERSTOOD = "I understand"


def lacks_of(lacks: Sequence[Lack]) -> list[Finding]:
    """What is missing, as findings."""
    return [Finding("commands", is_there=False, detail=lack.what, fix=lack.fix, is_needed=False) for lack in lacks]


async def find_lacks(settings: Settings, folder: Path) -> list[Finding]:
    """What keeps commands from being confined in a folder, found by trying; nothing is left of that.

    It depends on the file system of our data, so it is tried there, or
    where that would be made.
    """
    nearest = next(each for each in (settings.home, *settings.home.parents) if each.exists())
    above = nearest if os.access(nearest, os.W_OK | os.X_OK) else None
    trial = Path(tempfile.mkdtemp(prefix=".holdfast-trial-", dir=above))
    try:
        tried = replace(sandbox_settings(settings, "trial"), layers=trial / "layers", home=trial / "home")
        return lacks_of(await probe_folder(folder, tried))
    finally:
        discard.remove(trial)


async def open_commands(
    settings: Settings, records: Records, mounts: Mapping[str, Mount], protected: ProtectedPaths, *, pending: Collection[str]
) -> Commands:
    """Where the commands of a workspace will run. Layers of earlier holders that are not `pending` are removed."""
    sandbox = sandbox_settings(settings, records.workspace_id)
    await asyncio.to_thread(sweep, sandbox.layers, pending)
    trash = _trash(settings, records.workspace_id)
    return Commands(mounts, sandbox, records.workspace_id, protected, trash, max_undecided=settings["undecided_effects"])


def layers_left(settings: Settings, workspace_id: str) -> LayersLeft:
    """Where earlier holders of a workspace left their layers and what they took away."""
    folder = sandbox_settings(settings, workspace_id).layers
    return LayersLeft(_trash(settings, workspace_id), lambda row: open_uppers(Layer(row.id, folder / row.id, row.started)))


def _trash(settings: Settings, workspace_id: str) -> Trash:
    return Trash(settings.home / "trash" / workspace_id, settings["trash_mib"] * MIB)


def sandbox_settings(settings: Settings, workspace_id: str) -> SandboxSettings:
    """How commands run, as the person has set it."""
    limits = CommandLimits(
        memory_bytes=settings["command_memory_mib"] * MIB,
        processes=settings["command_processes"],
        free_disk_bytes=settings["command_free_disk_mib"] * MIB,
        layer_bytes=settings["command_layer_mib"] * MIB,
    )
    named = [name.strip() for name in settings["command_env"].split(",")]
    return SandboxSettings(
        layers=settings.home / "layers" / workspace_id,
        home=settings.home / "command-homes" / workspace_id,
        holdfast_home=settings.home,
        limits=limits,
        env=tuple(name for name in named if name not in ("", "inherit")),
        env_inherit="inherit" in named,
        unconfined=settings["unconfined_commands"] == UNDERSTOOD,
    )
