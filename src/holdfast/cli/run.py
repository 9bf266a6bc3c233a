"""holdfast run: have a model work on the project, and watch it."""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from holdfast.app import Holdfast
from holdfast.app.demo import DEMO_MODEL, TOUR, demo_project
from holdfast.app.models import script_of
from holdfast.app.profiles import tell_profile
from holdfast.app.talk import APPROVE, CANCEL, Frame, Talk, Wanted
from holdfast.config.settings import load_settings
from holdfast.vocabulary.chat import CANCELLED, DONE, ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.trust import Trust

from .asking import Asker, cancelled, said_no
from .parser import Parser, parse_mounts
from .versions import complain
from .visible import visible_json, visible_line
from .watcher import Watcher

_NOBODY = "nobody is here to say yes"


def main(words: list[str]) -> int:
    """Run one turn; leave with 0 when the model is done, 1 when something else ended it, 2 when it could not begin."""
    about = (
        "Have a model work on the project. You see what it does, and are asked where you must be. Ctrl-C ends the turn, twice leaves. "
        "Leaves with 0 when the model is done, 1 when something else ended the turn, 2 when it could not begin."
    )
    parser = Parser(prog="holdfast run", description=about)
    parser.add_argument("prompt", nargs="?", help="what you want done")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--model", metavar="PROVIDER/NAME", help="the model, or a script (default: see 'holdfast models')")
    chosen.add_argument("--demo", action="store_true", help="let a script play the model, in a sample project: no key and no network")
    parser.add_argument("--session", metavar="ID", help="go on with a session (see 'holdfast sessions')")
    parser.add_argument("--profile", metavar="NAME", help="what the agent is (see 'holdfast profile list')")
    trusted = parser.add_mutually_exclusive_group()
    trusted.add_argument("--trust", choices=[trust.value for trust in Trust], help="how far the model is trusted")
    trusted.add_argument("--yes", action="store_true", help="ask for no yes: the same as --trust autonomous")
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON; take decisions and answers as such")
    parser.add_argument("--project", metavar="DIR", help="the project's folder (default: the current one; with --demo a sample)")
    parser.add_argument("--mount", action="append", default=[], metavar="NAME=DIR[:ro]", help="one more folder, as @NAME")
    given = parser.parse_args(words)
    mounts = parse_mounts(parser, given.mount)
    if given.prompt is None and given.demo:
        given.prompt = TOUR
    if not (given.prompt or "").strip():
        parser.error("say what you want done")
    try:
        return 0 if asyncio.run(_run(given, mounts)) == DONE else 1
    except HoldfastError as error:
        complain(parser.prog, error)
        return 2


async def _run(given: Any, mounts: dict[str, str]) -> EndOfTurn:
    project = Path(given.project or ".")
    if given.demo and not given.project:
        project = demo_project(fresh=not given.session)
        print(visible_line(f"· the demo works on a sample project in {project}"), file=sys.stderr)
    settings = load_settings(project)
    profile = given.profile or (None if given.session else settings["profile"])
    is_asked = sys.stdin.isatty() and sys.stdout.isatty() and not given.json
    async with Holdfast.open(project, profile=profile, mounts=mounts) as holdfast:
        # Where another process holds the workspace, its settings count, unless somebody says otherwise here.
        said_here = settings["model"] if settings.values["model"].source == "HOLDFAST_MODEL" else None
        wanted = Wanted(
            given.prompt,
            given.session,
            tell_profile(holdfast.profile) if profile else None,
            Trust.AUTONOMOUS.value if given.yes else given.trust,
            DEMO_MODEL if given.demo else given.model or said_here,
            script_of(given.model) if given.model else None,
        )
        where = ["--demo"] if given.demo and not given.project else ["--project", str(project.resolve())] if given.project else []
        watcher = Watcher(["run", *where], explains_demo=wanted.model is None)
        asker = Asker(holdfast, watcher) if is_asked else None
        person = _Person(watcher, asker, as_json=given.json)
        async with holdfast.platform.talk(holdfast.workspace_id, wanted, person.see) as talk:
            person.meet(talk)
            with _Interrupts(talk, watcher):
                try:
                    reason = await talk.ended()
                except asyncio.CancelledError:
                    return CANCELLED
                finally:
                    person.leave()
        if person.broken is not None:
            raise person.broken
        if not person.saw_the_end:
            watcher.note("the server was stopped; the turn goes on when it is back")
        if watcher.model == DEMO_MODEL and asker is not None and reason == DONE:
            await asker.offer_undo(talk.session_id)
        return reason


class _Interrupts:
    """Ctrl-C ends the turn; a second one leaves without waiting for it, a third one without anything."""

    def __init__(self, talk: Talk, watcher: Watcher) -> None:
        self._talk = talk
        self._watcher = watcher
        self._count = 0
        self._cancelling: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._loop, self._main = asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task())
        self._loop.add_signal_handler(signal.SIGINT, self._heard)

    def __exit__(self, *_: object) -> None:
        self._loop.remove_signal_handler(signal.SIGINT)

    def _heard(self) -> None:
        self._count += 1
        if self._count > 1:
            self._loop.remove_signal_handler(signal.SIGINT)
            self._main.cancel()
            return
        self._watcher.note("the turn is being ended; Ctrl-C once more leaves at once")
        self._cancelling = asyncio.create_task(_coroutine(self._talk.hear({"type": CANCEL, "payload": {}})))


async def _coroutine(work: Awaitable[None]) -> None:
    await work


@dataclass
class _Person:
    """Whoever started the command: sits at the terminal, or is a program that reads lines, or is not there at all."""

    watcher: Watcher
    asker: Asker | None
    as_json: bool
    _talk: "asyncio.Future[Talk]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _asking: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _waiting: dict[str, ChatEvent] = field(default_factory=dict[str, ChatEvent])
    _doing: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _has_gone: bool = False
    saw_the_end: bool = False
    broken: BrokenPipeError | None = None

    def meet(self, talk: Talk) -> None:
        """The turn has begun."""
        self._talk.set_result(talk)
        if self.as_json:
            _read_lines(self._heard, self._gone)
        elif self.asker is None:
            self._gone()

    def see(self, event: ChatEvent) -> None:
        """Show an event, and ask when it asks. When nobody reads any more, the turn is ended."""
        if self.broken is not None:
            return
        try:
            self._see(event)
        except BrokenPipeError as error:
            self.broken = error
            self._do(self._say({"type": CANCEL, "payload": {}}))

    def _see(self, event: ChatEvent) -> None:
        if self.as_json:
            seq = {} if event.seq is None else {"seq": event.seq}
            print(visible_json({"type": event.type, **seq, "payload": event.payload}), flush=True)
        else:
            self.watcher.show(event)
        tool_id = str(event.payload.get("toolId", ""))
        if event.type in ("chat:tool-confirm", "chat:question"):
            self._waiting[tool_id] = event
            if self._has_gone:
                self._refuse(event)
            elif self.asker is not None:
                self._asking[tool_id] = self._do(self._ask(self.asker, event))
        elif event.type in ("chat:tool-decided", "chat:tool-result"):
            self._settled(tool_id, event)
        elif event.type == "chat:stream-end":
            self.saw_the_end = True

    def leave(self) -> None:
        """Ask nothing any more."""
        for task in self._doing:
            task.cancel()
        if self.broken is None:
            self.watcher.break_line()

    def _settled(self, tool_id: str, event: ChatEvent) -> None:
        self._waiting.pop(tool_id, None)
        if (asking := self._asking.pop(tool_id, None)) is not None:
            # Somebody else was quicker.
            asking.cancel()
            if event.payload.get("decision") != "expired" and event.payload.get("status") != "error":
                self.watcher.note(f"decided elsewhere: {event.payload.get('decision', 'answered')}")

    async def _ask(self, asker: Asker, event: ChatEvent) -> None:
        told = cast("Mapping[str, Any]", event.payload)
        async with self._one_at_a_time:
            frame = await (asker.confirm(told) if event.type == "chat:tool-confirm" else asker.answer(told))
        self._asking.pop(str(told["toolId"]), None)
        await (await self._talk).hear(frame)

    def _refuse(self, event: ChatEvent) -> None:
        told = cast("Mapping[str, Any]", event.payload)
        if event.type == "chat:tool-confirm":
            self.watcher.note(f"{_NOBODY}, so {visible_line(str(told['toolName']))} is refused (--yes or --trust autonomous allows it)")
            frame = said_no(told, _NOBODY)
        else:
            self.watcher.note("the model has a question, and nobody is here to answer, so the turn is ended")
            frame = cancelled(told)
        self._do(self._say(frame))

    async def _say(self, frame: Frame) -> None:
        await (await self._talk).hear(frame)

    def _heard(self, line: str) -> None:
        """A line of a program: a frame, as over the socket."""
        try:
            frame: object = json.loads(line)
            if not isinstance(frame, dict):
                raise ValueError
        except ValueError:
            self.watcher.note(f'a line that is no frame was not heard; send {{"type": "{APPROVE}", "payload": {{…}}}}')
            return
        self._do(self._say(cast("Frame", frame)))

    def _gone(self) -> None:
        self._has_gone = True
        for event in list(self._waiting.values()):
            self._refuse(event)

    def _do(self, work: Any) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)
        return task


def _read_lines(hear: Callable[[str], None], gone: Callable[[], None]) -> None:
    """Have every line of standard input heard, whatever that is; a thread reads, since a file cannot be waited for."""
    loop = asyncio.get_running_loop()

    def tell(function: Callable[..., None], *given: str) -> None:
        try:
            loop.call_soon_threadsafe(function, *given)
        except RuntimeError:
            # The turn is over, and nobody listens.
            return

    def read() -> None:
        rest = b""
        while chunk := _read():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    tell(hear, line.decode(errors="replace"))
        if rest.strip():
            tell(hear, rest.decode(errors="replace"))
        tell(gone)

    threading.Thread(target=read, daemon=True).start()


def _read() -> bytes:
    try:
        # Not by the file object, which could not be closed at the end while a thread waits in it.
        return os.read(sys.stdin.fileno(), 65536)
    except (OSError, ValueError):
        return b""
