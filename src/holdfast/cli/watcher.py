"""What somebody at a terminal sees of a turn."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from holdfast.app.demo import DEMO_MODEL
from holdfast.vocabulary.chat import DONE, ChatEvent
from holdfast.vocabulary.json import Json, dump

from .again import typed
from .versions import is_colourful
from .visible import visible, visible_line

# What a diff shows, and what nobody wants to read.
_SEEN_ELSEWHERE = ("content", "old_string", "new_string", "insert_content", "last_read_hash", "if_match_sha256", "ifMatchSha256")
_MAX_ERROR = 1_000
_MAX_VALUE = 80
_MAX_COMMAND = 1_000
_DIM, _BOLD, _RED, _CYAN = "2", "1", "31", "36"


class Watcher:
    """Shows events as they come: the model's words as they are, everything else in lines of its own.

    `is_in_line` is whether a line has been begun.
    """

    def __init__(self, again: Sequence[str], *, explains_demo: bool) -> None:
        self._again = again
        self._explains_demo = explains_demo
        self.is_in_line = False
        self._is_speaking = False
        self.model = ""

    def show(self, event: ChatEvent) -> None:
        """Show one event."""
        told = cast("Mapping[str, Any]", event.payload)
        match event.type:
            case "chat:stream-start":
                self.model = told["model"]
                self.note(f"model {visible_line(told['model'])} · session {visible_line(told['conversationId'])}")
                if self.model == DEMO_MODEL and self._explains_demo:
                    self.note("no model is set up, so a script plays one: a tour, and no answer to what you said (see: holdfast models)")
            case "chat:text-delta":
                self._begin_words()
                self._write(visible(told["content"]))
            case "chat:thinking-delta" if is_colourful():
                self._is_speaking = False
                self._write(visible(told["content"]), _DIM)
            case "chat:tool-start" if told["toolName"] != "ask_user":
                self.line(f"▸ {visible_line(told['toolName'])} {summary(told['input'])}", _CYAN)
            case "chat:tool-delta":
                self._write(visible(told["chunk"]), _DIM, prefix="  ")
            case "chat:tool-result" if told["status"] == "error":
                said = _problem(told["result"]) or f"exit code {told.get('metadata', {}).get('exitCode', 'not known')}"
                self.line(f"✗ {visible(said)[:_MAX_ERROR]}", _RED)
            case "chat:tool-decided":
                self._decided(told)
            case "chat:retry":
                self.note(f"{visible_line(told['reason'])}; again in {told['seconds']:g} s")
            case "chat:error":
                self.line(f"holdfast run: {visible(told['message'])}", _RED, to_errors=True)
            case "chat:stream-end":
                self._end(told)
            case _:
                pass

    def line(self, text: str, colour: str = "", *, to_errors: bool = False) -> None:
        """A line of its own; what is in it must be fit for a terminal."""
        self.break_line()
        self._is_speaking = False
        print(_coloured(text, colour), file=sys.stderr if to_errors else sys.stdout, flush=True)

    def note(self, text: str) -> None:
        """A line about the turn, and not of it."""
        self.line(f"· {text}", _DIM, to_errors=True)

    def break_line(self) -> None:
        """Begin a new line, if one has been begun."""
        if self.is_in_line:
            print(flush=True)
            self.is_in_line = False

    def _begin_words(self) -> None:
        """The model's words stand apart from what else happens."""
        if not self._is_speaking:
            self._is_speaking = True
            self.break_line()
            print()

    def _decided(self, told: Mapping[str, Any]) -> None:
        paths = ", ".join(visible_line(str(path)) for path in told.get("kept") or ())
        self.line(f"  {visible_line(told['toolName'])}: {visible_line(told['decision'])}{f' {paths}' if paths else ''}", _DIM)

    def _end(self, told: Mapping[str, Any]) -> None:
        used = cast("Mapping[str, Any]", told.get("usage") or {})
        count = f"tokens: {used.get('inputTokens', 0):,} in, {used.get('outputTokens', 0):,} out"
        cost = f", ${used['cost']:.4f}" if "cost" in used else ""
        how = "done" if told["reason"] == DONE else f"ended: {told['reason']}"
        self.note(f"{how} · {count}{cost}")
        self.note(visible_line(f'go on: {typed([*self._again, "--session", told["conversationId"]])} "…"'))

    def _write(self, text: str, colour: str = "", prefix: str = "") -> None:
        if not text:
            return
        whole = text.removesuffix("\n")
        shown = whole.replace("\n", f"\n{prefix}")
        if not self.is_in_line:
            shown = prefix + shown
        self.is_in_line = whole == text
        print(_coloured(shown, colour), end="" if self.is_in_line else "\n", flush=True)


def summary(given: Json) -> str:
    """What a call is given, in one line: what is short is shown, of the rest how much it is."""
    if not isinstance(given, Mapping):
        return visible_line(str(given))[:_MAX_COMMAND]
    if isinstance(command := given.get("command"), str):
        return visible_line(command)[:_MAX_COMMAND]
    return " ".join(f"{visible_line(name)}={_value(value)}" for name, value in given.items() if name not in _SEEN_ELSEWHERE)


def _value(value: Json) -> str:
    said = value if isinstance(value, str) else dump(value).decode()
    if len(said) > _MAX_VALUE or "\n" in said:
        return f"({len(said):,} characters)"
    return visible_line(said) if said and " " not in said else f"'{visible_line(said)}'"


def _problem(result: str) -> str:
    """What went wrong, in words: of an answer in JSON, its message."""
    try:
        said: object = json.loads(result)
    except ValueError:
        return result
    message = cast("Mapping[str, Any]", said).get("error") if isinstance(said, dict) else None
    return message if isinstance(message, str) else result


def _coloured(text: str, colour: str) -> str:
    if not colour or not is_colourful():
        return text
    return "\n".join(f"\x1b[{colour}m{line}\x1b[0m" if line else line for line in text.split("\n"))
