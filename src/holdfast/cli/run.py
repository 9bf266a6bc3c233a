"""holdfast run: have a model work on the project, and watch it."""

import asyncio
import json
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from holdfast.app import Holdfast
from holdfast.app.agents import Agents, Held, Providers, provider_settings
from holdfast.config.settings import load_settings
from holdfast.vocabulary.chat import DONE, ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.trust import Trust

from .effects import Left, asked
from .parser import Parser, add_project_arguments, parse_mounts
from .visible import visible, visible_line

_DEMO = "scripted/demo"
_MAX_SHOWN = 500


def main(words: list[str]) -> int:
    """Run one turn; leave with 0 when the model is done, 1 when something else ended it."""
    about = "Have a model work on the project. You are asked where it must be, and see what it does."
    parser = Parser(prog="holdfast run", description=about)
    parser.add_argument("prompt", help="what you want done")
    parser.add_argument("--model", metavar="PROVIDER/NAME", help="the model (default: the first that can be used)")
    parser.add_argument("--demo", action="store_true", help="let a script play the model: no key and no network")
    parser.add_argument("--session", metavar="ID", help="go on with a session")
    parser.add_argument("--trust", choices=[trust.value for trust in Trust], help="how far the model is trusted")
    parser.add_argument("--yes", action="store_true", help="ask nothing: the same as --trust autonomous")
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON")
    add_project_arguments(parser)
    given = parser.parse_args(words)
    return 0 if asyncio.run(_run(given, parse_mounts(parser, given.mount))) == DONE else 1


async def _run(given: Any, mounts: dict[str, str]) -> EndOfTurn:
    chosen = given.profile or load_settings(Path(given.project))["profile"]
    async with Holdfast.open(given.project, profile=chosen, mounts=mounts, run=given.run) as holdfast:
        held = await holdfast.platform.hold(holdfast.workspace_id)
        settings, profile = holdfast.platform.settings, holdfast.profile
        providers = Providers(provider_settings(settings))
        agents = Agents(holdfast.platform, held, providers)
        trust = Trust.AUTONOMOUS if given.yes else Trust(given.trust) if given.trust else None
        if given.session:
            conversation = await agents.conversation(given.session)
        else:
            conversation = await agents.create(profile, trust=trust, title=given.prompt[:80])
        watcher = _Watcher(agents, held, conversation.id, as_json=given.json)
        conversation.watch(watcher.see)
        try:
            return await agents.send(conversation.id, given.prompt, profile, model=_DEMO if given.demo else given.model)
        finally:
            await watcher.finish()
            await providers.close()


@dataclass
class _Watcher:
    """Whoever sits at the terminal."""

    agents: Agents
    held: Held
    session_id: str
    as_json: bool
    _asking: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_in_line: bool = False

    def see(self, event: ChatEvent) -> None:
        """Show an event, and ask when it asks."""
        if self.as_json:
            print(json.dumps({"type": event.type, "seq": event.seq, "payload": event.payload}, ensure_ascii=False), flush=True)
        else:
            self._show(event)
        if event.type == "chat:tool-confirm":
            self._ask(self._confirm(event.payload))
        elif event.type == "chat:question":
            self._ask(self._answer(event.payload))

    async def finish(self) -> None:
        """Let what is being asked come to its end."""
        for task in list(self._asking):
            task.cancel()
        if self._is_in_line:
            print()

    def _show(self, event: ChatEvent) -> None:
        told = cast("Mapping[str, Any]", event.payload)
        match event.type:
            case "chat:text-delta":
                self._is_in_line = not told["content"].endswith("\n")
                print(visible(told["content"]), end="", flush=True)
            case "chat:tool-start":
                self._line(f"▸ {told['toolName']} {_short(told['input'])}")
            case "chat:tool-delta":
                self._line(visible(told["chunk"]).removesuffix("\n"))
            case "chat:tool-result" if told["status"] == "error":
                self._line(f"✗ {visible(told['result'])[:_MAX_SHOWN]}")
            case "chat:retry":
                self._line(f"… {visible_line(told['reason'])}; again in {told['seconds']:g} s")
            case "chat:error":
                self._line(f"holdfast run: {visible(told['message'])}", to_errors=True)
            case "chat:stream-end" if told["reason"] != DONE:
                self._line(f"ended: {told['reason']}; go on with: holdfast run --session {self.session_id} …", to_errors=True)
            case _:
                pass

    def _line(self, text: str, *, to_errors: bool = False) -> None:
        if self._is_in_line:
            print()
            self._is_in_line = False
        print(text, file=sys.stderr if to_errors else sys.stdout, flush=True)

    def _ask(self, asking: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _confirm(self, told: JsonObject) -> None:
        approvals = self.held.road.approvals
        assert approvals is not None
        effects_hash = cast("str | None", told.get("effectsHash"))
        answer, feedback = "n", "nobody is here to say yes"
        if sys.stdin.isatty() and not self.as_json:
            async with self._one_at_a_time:
                self._line(f"? {told['reason']}")
                self._line(f"  {told['toolName']} {_short(told['input'])}")
                for one in cast("list[Mapping[str, Any]]", told.get("effects") or []):
                    self._line(f"  {one['kind']:>8}  {visible_line(one['text'])}")
                answer, feedback = await _typed("keep it? [y/N, or say why not] " if effects_hash else "run it? [y/N, or say why not] ")
        try:
            await approvals.decide(
                str(told["approvalId"]), approved=answer == "y", by="local", feedback=feedback, effects_hash=effects_hash
            )
        except HoldfastError as error:
            self._line(f"holdfast run: {error}", to_errors=True)

    async def _answer(self, told: JsonObject) -> None:
        answers: dict[str, Json] = {}
        for question in cast("list[Mapping[str, Any]]", told["questions"]):
            if not sys.stdin.isatty() or self.as_json:
                self.agents.cancel(self.session_id)
                return
            async with self._one_at_a_time:
                self._line(f"? {visible_line(str(question.get('question', question['name'])))}")
                buttons = cast("list[Mapping[str, Any]]", question.get("buttons") or [])
                for number, button in enumerate(buttons, 1):
                    self._line(f"  {number}. {visible_line(str(button.get('label', button['value'])))}")
                answers[str(question["name"])] = _value(await _text("> "), buttons)
        try:
            await self.held.person.answer(str(told["questionId"]), answers, by="local")
        except HoldfastError as error:
            self._line(f"holdfast run: {error}", to_errors=True)
            self._ask(self._answer(told))


async def _typed(question: str) -> tuple[str, str]:
    """A yes, or a no with what else was said."""
    said = await _text(question)
    if said.casefold() in ("y", "yes"):
        return "y", ""
    return "n", "" if said.casefold() in ("", "n", "no") else said


async def _text(question: str) -> str:
    try:
        return await asked(question, as_typed=True)
    except Left:
        return ""


def _value(said: str, buttons: list[Mapping[str, Any]]) -> Json:
    if said.isdigit() and 0 < int(said) <= len(buttons):
        return buttons[int(said) - 1]["value"]
    try:
        return json.loads(said)
    except ValueError:
        return said


def _short(value: object) -> str:
    said = visible_line(json.dumps(value, ensure_ascii=False))
    return said if len(said) <= _MAX_SHOWN else f"{said[:_MAX_SHOWN]}…"
