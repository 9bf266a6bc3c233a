"""Showing the person at the terminal what a command did, and asking what becomes of it."""

import asyncio
import os
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from holdfast.app import EVERYTHING, Holdfast, is_command
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Conflict, InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done

from .diff import diff_line
from .versions import complain
from .visible import visible_line

_MAX_LISTED = 200
_MAX_DIFFS = 20
_MAX_DIFF_LINES = 200


class Left(Exception):
    """The person has gone, and decides nothing."""


@dataclass(frozen=True)
class Chosen:
    """What is to be kept: everything, or these paths; and whether that includes what can make git run programs."""

    paths: Sequence[str] | None
    git_settings: bool

    @property
    def arguments(self) -> dict[str, Json]:
        """The same, for the tool."""
        named: dict[str, Json] = {} if self.paths is None else {"paths": [*self.paths]}
        return {**named, "git_settings": self.git_settings}


def takes_decisions(tool: str) -> bool:
    """Whether the tool runs commands, and somebody sits here who can be asked about their effects."""
    return sys.stdin.isatty() and sys.stdout.isatty() and is_command(tool)


async def wants_live() -> bool:
    """Whether the person wants a command that runs without a sandbox."""
    try:
        answer = await asked("There is no sandbox here: what the command does is real at once, anywhere. Run it? [y/N] ")
    except Left:
        return False
    return answer.startswith("y")


async def decide(holdfast: Holdfast, metadata: Mapping[str, Json]) -> None:
    """Show what a command did, ask, and do what the person says; who leaves has it held.

    Raises:
        HoldfastError: The effects are not there any more, or cannot be looked at.
    """
    effects_id = metadata.get("effectsId")
    if metadata.get("effectsState") != "held" or not isinstance(effects_id, str):
        return
    told = await called(holdfast, "effects", effects_id=effects_id)
    await show_effects(holdfast, told)
    later = f"held; decide later by: holdfast call keep effects_id={effects_id}   or: holdfast call drop effects_id={effects_id}"
    # What was typed before the effects were shown is no answer to them.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    try:
        while not await _is_decided(holdfast, effects_id, told):
            pass
    except Left:
        print(later)
    except asyncio.CancelledError:
        print(f"\n{later}")
        raise


async def _is_decided(holdfast: Holdfast, effects_id: str, told: dict[str, Any]) -> bool:
    """Ask once, and do it; False when nothing came of the answer, so that there is still something to decide."""
    answer = await asked("keep, choose, drop or hold? ")
    if answer.startswith("h"):
        raise Left
    if answer.startswith("d"):
        await called(holdfast, "drop", effects_id=effects_id)
        print("dropped")
        return True
    if not answer.startswith(("k", "c")):
        return False
    chosen = await choose(told, is_all=answer.startswith("k"))
    if chosen.paths is not None and not chosen.paths:
        print("nothing is chosen")
        return False
    try:
        kept = await called(holdfast, "keep", effects_id=effects_id, effects_hash=told["effects_hash"], **chosen.arguments)
    except (Conflict, InvalidArguments) as error:
        complain("holdfast call", error)
        # When somebody else has decided meanwhile, this says so.
        await called(holdfast, "effects", effects_id=effects_id)
        return False
    print(f"kept {kept['count']}" + "".join(f"\nnot kept: {visible_line(one['path'])} ({one['why']})" for one in kept["left_out"]))
    return True


async def choose(told: dict[str, Any], *, is_all: bool) -> Chosen:
    """What the person wants of the effects. A folder stands for what is in it, and is asked for once; so are the settings of git."""
    of_git: list[str] = [one["path"] for one in told["left_out"] if one["git_settings"]]
    paths: list[str] = []
    for one in told["effects"][: 0 if is_all else None]:
        path: str = one["path"]
        if path in of_git or any(path.startswith(f"{above}/") for above in paths):
            continue
        within = " and what is in it" if one["type"] == "directory" else ""
        if (await asked(f"keep {visible_line(path)}{within} ({one['kind']})? [y/N] ")).startswith("y"):
            paths.append(path)
    git_settings = False
    if of_git:
        named = ", ".join(map(visible_line, of_git[:5])) + (f" and {len(of_git) - 5} more" if len(of_git) > 5 else "")
        git_settings = (await asked(f"These can make git run programs: {named}. Keep them too? [y/N] ")).startswith("y")
    if git_settings:
        paths += of_git
    return Chosen(None if is_all else paths, git_settings)


async def show_effects(holdfast: Holdfast, told: dict[str, Any]) -> None:
    """Show what the tool `effects` told, with the diffs of the first of them."""
    effects_id: str = told["effects_id"]
    effects, left_out = told["effects"], {one["path"] for one in told["left_out"]}
    for number, one in enumerate(effects[:_MAX_LISTED]):
        note = "protected" if one["path"] in left_out and one.get("protected") else one.get("note")
        print(visible_line(f"{one['kind']:>8}  {one['text']}" + (f"  ({note})" if note else "")))
        # What is protected and kept all the same belongs to a new repository, and is as git makes it.
        is_usual = one.get("protected") and one["path"] not in left_out
        if number < _MAX_DIFFS and (one["added"] or one["removed"]) and not is_usual:
            shown = await called(holdfast, "effects", effects_id=effects_id, path=one["path"])
            lines = (shown["diff"] or "").removesuffix("\n").split("\n")
            print("\n".join(diff_line(line) for line in lines[:_MAX_DIFF_LINES]))
            if len(lines) > _MAX_DIFF_LINES:
                print(f"… and {len(lines) - _MAX_DIFF_LINES} more lines")
    if len(effects) > _MAX_LISTED:
        print(f"… and {len(effects) - _MAX_LISTED} more; all of them: holdfast call effects effects_id={effects_id}")


async def called(holdfast: Holdfast, name: str, **arguments: Json) -> dict[str, Any]:
    """What a tool of the toolsets `workspace` and `person` gives.

    Raises:
        HoldfastError: It was refused, or failed.
    """
    outcome = await holdfast.take(ToolCall(f"cli-{uuid4()}", name, arguments, Caller(run=holdfast.run)), EVERYTHING)
    if not isinstance(outcome, Done):
        raise outcome.error
    return cast("dict[str, dict[str, Any]]", outcome.answer.body)["result"]


async def asked(question: str, *, as_typed: bool = False) -> str:
    """What the person types, in small letters unless it is wanted `as_typed`.

    The workspace stays ours while they think, so nothing here may wait for them but this.

    Raises:
        Left: They have ended the input.
    """
    print(question, end="", flush=True)
    loop, terminal = asyncio.get_running_loop(), sys.stdin.fileno()
    typed = asyncio.Event()
    loop.add_reader(terminal, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(terminal)
    # A terminal gives one line, or nothing when its end was typed.
    line = os.read(terminal, 4096)
    if not line:
        print()
        raise Left
    said = line.decode(errors="replace").strip()
    return said if as_typed else said.casefold()
