"""Asking the person at the terminal what becomes of a command's effects."""

import sys
from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

from holdfast.app import EVERYTHING, Holdfast, is_command
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done

from .diff import diff_line
from .versions import visible

_MAX_DIFFS = 20


def takes_decisions(tool: str) -> bool:
    """Whether the tool runs commands, and somebody sits here who can be asked about their effects."""
    return sys.stdin.isatty() and sys.stdout.isatty() and is_command(tool)


async def decide(holdfast: Holdfast, metadata: Mapping[str, Json]) -> None:
    """Show what a command did, ask, and do what the person says."""
    effects_id = metadata.get("effectsId")
    if metadata.get("effectsState") != "held" or not isinstance(effects_id, str):
        return
    told = await _called(holdfast, "effects", effects_id=effects_id)
    await _show(holdfast, effects_id, told)
    paths: list[str] | None = None
    answer = _answer()
    if answer.startswith("c"):
        paths = [one["path"] for one in told["effects"] if _asked(f"keep {visible(one['path'])}? [y/N] ").startswith("y")]
        answer = "keep" if paths else "drop"
    if answer.startswith("k"):
        chosen: dict[str, Json] = {} if paths is None else {"paths": [*paths]}
        kept = await _called(holdfast, "keep", effects_id=effects_id, effects_hash=told["effects_hash"], **chosen)
        print(f"kept {kept['count']}" + "".join(f"\nnot kept: {visible(one['path'])} ({one['why']})" for one in kept["left_out"]))
    elif answer.startswith("d"):
        await _called(holdfast, "drop", effects_id=effects_id)
        print("dropped")
    else:
        print(f"held; decide later by: holdfast call keep effects_id={effects_id}   or: holdfast call drop effects_id={effects_id}")


async def _show(holdfast: Holdfast, effects_id: str, told: dict[str, Any]) -> None:
    for number, one in enumerate(told["effects"]):
        print(visible(f"{one['kind']:>8}  {one['text']}" + (f"  ({one['note']})" if one.get("note") else "")))
        if number < _MAX_DIFFS and (one["added"] or one["removed"]):
            shown = await _called(holdfast, "effects", effects_id=effects_id, path=one["path"])
            if shown["diff"]:
                print("\n".join(diff_line(line) for line in shown["diff"].removesuffix("\n").split("\n")))


async def _called(holdfast: Holdfast, name: str, **arguments: Json) -> dict[str, Any]:
    outcome = await holdfast.take(ToolCall(f"cli-{uuid4()}", name, arguments, Caller(run=holdfast.run)), EVERYTHING)
    if not isinstance(outcome, Done):
        raise outcome.error
    return cast("dict[str, dict[str, Any]]", outcome.answer.body)["result"]


def _answer() -> str:
    while True:
        answer = _asked("keep, choose, drop or hold? ")
        if answer[:1] in ("k", "c", "d", "h"):
            return answer


def _asked(question: str) -> str:
    """What the person types; who leaves decides nothing."""
    try:
        return input(question).strip().casefold()
    except EOFError:
        return "hold"
