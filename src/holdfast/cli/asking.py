"""Asking the person at the terminal what a turn asks: may this run, what becomes of that, and the model's own questions."""

import contextlib
import json
import sys
import termios
from collections.abc import Mapping, Sequence
from typing import Any, cast

from holdfast.app import Holdfast
from holdfast.app.talk import ANSWER, APPROVE, CANCEL, Frame, fits
from holdfast.vocabulary.errors import HoldfastError, NotFound
from holdfast.vocabulary.json import Json

from .diff import diff_line
from .effects import Left, asked, called, choose, show_effects
from .undo import UNDONE
from .visible import visible, visible_line
from .watcher import Watcher, summary

_MAX_DIFF_LINES = 400
_MAX_INPUT_LINES = 40
_WOULD = {"added": "make", "changed": "change", "deleted": "delete", "renamed": "rename"}
_YES, _NO = ("y", "yes"), ("", "n", "no")


def said_no(told: Mapping[str, Any], feedback: str) -> Frame:
    """The no to what a `chat:tool-confirm` asks; about effects it names those that were seen."""
    seen = {"effectsHash": told["effectsHash"]} if "effectsHash" in told else {}
    return {"type": APPROVE, "payload": {"approvalId": told["approvalId"], "approved": False, "feedback": feedback, **seen}}


def cancelled(told: Mapping[str, Any]) -> Frame:
    """What ends a turn."""
    return {"type": CANCEL, "payload": {"conversationId": told["conversationId"]}}


class Asker:
    """Asks, one thing after the other, and gives the frames that say what the person said."""

    def __init__(self, holdfast: Holdfast, watcher: Watcher) -> None:
        self._holdfast = holdfast
        self._watcher = watcher

    async def confirm(self, told: Mapping[str, Any]) -> Frame:
        """Ask whether a call may run, or what becomes of its effects."""
        try:
            return await (self._effects(told) if told.get("effectsHash") else self._call(told))
        except Left:
            return said_no(told, "the person has left")

    async def answer(self, told: Mapping[str, Any]) -> Frame:
        """Ask the model's questions; whoever does not answer ends the turn."""
        answers: dict[str, Json] = {}
        try:
            for question in cast("Sequence[Mapping[str, Any]]", told["questions"]):
                answers[str(question["name"])] = await self._answer(question)
        except Left:
            return cancelled(told)
        return {"type": ANSWER, "payload": {"questionId": told["questionId"], "answers": answers}}

    async def offer_undo(self, session_id: str) -> None:
        """Ask whether all that a session did to files is to be taken back, and do it, the last call first."""
        try:
            said = await self._typed("Take back what the tour changed, as `holdfast undo` does? [Y/n] ")
        except Left:
            return
        if said.casefold() not in (*_YES, ""):
            return
        taken_back = False
        with contextlib.suppress(NotFound):
            while True:
                undone = await called(self._holdfast, "undo", session_id=session_id)
                taken_back = True
                for one in undone["restored"]:
                    self._watcher.line(visible_line(f"  {one['path']}: {UNDONE[one['kind']]}"))
        if not taken_back:
            self._watcher.line("  there was nothing to take back")

    async def _call(self, told: Mapping[str, Any]) -> Frame:
        foreseen = cast("Sequence[Mapping[str, Any]]", told.get("effects") or ())
        diffs = [line for one in foreseen if one.get("diff") for line in str(one["diff"]).removesuffix("\n").split("\n")]
        would = ", ".join(f"would {_WOULD.get(one['kind'], one['kind'])} {one['text']}" for one in foreseen)
        self._watcher.line(visible_line(f"? {told['toolName']} {would or summary(cast('Json', told['input']))}"), "1")
        if not foreseen:
            _show(_written_out(cast("Json", told["input"])), _MAX_INPUT_LINES)
        _show(diffs, _MAX_DIFF_LINES)
        self._watcher.note(visible_line(str(told["reason"])))
        said = await self._typed("Do it? [y/N, or say what to do instead] ")
        if said.casefold() in _YES:
            return {"type": APPROVE, "payload": {"approvalId": told["approvalId"], "approved": True}}
        return said_no(told, "" if said.casefold() in _NO else said)

    async def _effects(self, told: Mapping[str, Any]) -> Frame:
        self._watcher.line(f"? {told['toolName']} has run. Nothing in the project has changed yet; this is what would:", "1")
        found = await self._found(told)
        if found is None:
            for one in cast("Sequence[Mapping[str, Any]]", told.get("effects") or ()):
                self._watcher.line(visible_line(f"{one['kind']:>8}  {one['text']}"))
        else:
            await show_effects(self._holdfast, found)
        yes = {"approvalId": told["approvalId"], "approved": True, "effectsHash": told["effectsHash"]}
        while True:
            said = await self._typed("keep, choose or drop? [or say what to do instead] ")
            word = said.casefold()
            if word in ("k", "keep", *_YES):
                return {"type": APPROVE, "payload": yes}
            if word in ("d", "drop", "n", "no"):
                return said_no(told, "")
            if word in ("c", "choose") and found is not None:
                chosen = await choose(_without_git(found), is_all=False)
                if chosen.paths:
                    return {"type": APPROVE, "payload": {**yes, "keep": [{"path": path} for path in chosen.paths]}}
                self._watcher.line("nothing is chosen")
            elif len(word) > len("choose"):
                return said_no(told, said)

    async def _found(self, told: Mapping[str, Any]) -> dict[str, Any] | None:
        """The effects that are asked about, as the tool `effects` tells of them; None when it cannot."""
        try:
            for effects_id in (await called(self._holdfast, "effects"))["pending"]:
                found = await called(self._holdfast, "effects", effects_id=effects_id)
                if found["effects_hash"] == told["effectsHash"] and found["call_id"] == told["toolId"]:
                    return found
        except HoldfastError:
            return None
        return None

    async def _typed(self, question: str) -> str:
        # What was typed before this was shown is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        self._watcher.is_in_line = True
        said = await asked(question, as_typed=True)
        self._watcher.is_in_line = False
        return visible(said.strip())

    async def _answer(self, question: Mapping[str, Any]) -> Json:
        self._watcher.line(f"? {visible_line(str(question.get('question') or question['name']))}", "1")
        buttons = cast("Sequence[Mapping[str, Any]]", question.get("buttons") or ())
        for number, button in enumerate(buttons, 1):
            self._watcher.line(f"  {number}  {visible_line(str(button.get('label') or button['value']))}")
        while True:
            for each in _meant(await self._typed("> "), buttons):
                if fits(question, each):
                    return each
            wanted = question.get("schema")
            self._watcher.note(f"that does not fit; what is wanted is {visible_line(json.dumps(wanted))}")


def _without_git(found: dict[str, Any]) -> dict[str, Any]:
    """The effects but for the settings of git, which cannot be kept from here."""
    of_git = {one["path"] for one in found["left_out"] if one["git_settings"]}
    return {**found, "left_out": [], "effects": [one for one in found["effects"] if one["path"] not in of_git]}


def _meant(said: str, buttons: Sequence[Mapping[str, Any]]) -> list[Json]:
    """What may be meant by what was typed: a button by its number, the words, or JSON."""
    meant: list[Json] = []
    if said.isdigit() and 0 < int(said) <= len(buttons):
        meant.append(buttons[int(said) - 1]["value"])
    meant += [button["value"] for button in buttons if str(button.get("label", "")).casefold() == said.casefold()]
    meant.append(said)
    with contextlib.suppress(ValueError):
        meant.append(json.loads(said))
    return meant


def _written_out(given: Json) -> list[str]:
    """The arguments, when there is no diff: each text in its own lines."""
    if not isinstance(given, Mapping):
        return str(given).splitlines()
    lines: list[str] = []
    for name, value in given.items():
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"  {name}:", *(f"    {line}" for line in said.splitlines())] if "\n" in said or len(said) > 80 else []
    return lines


def _show(lines: Sequence[str], most: int) -> None:
    for line in lines[:most]:
        print(diff_line(line))
    if len(lines) > most:
        print(f"… and {len(lines) - most} more lines")
    sys.stdout.flush()
