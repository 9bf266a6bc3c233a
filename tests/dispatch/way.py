"""A road through a real folder: tools for every way in which a call can end, and what is seen along it."""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.dispatch.audit import AuditEntry
from holdfast.dispatch.road import Road
from holdfast.policy.decide import Rules
from holdfast.tool import Context, Danger, Tool, tool
from holdfast.tool.context import Surroundings
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Declaration
from holdfast.tool.toolset import Toolset
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import HoldfastError, NotFound
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.outcome import Outcome
from holdfast.vocabulary.profile import Profile
from holdfast.workspace.changes import Changes
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Readable, Writable
from tests.tool.plain import PLAIN

SECRET_OF_A_BUG = "the inside of a bug"


@tool
async def say(ctx: Context, word: str = "nothing") -> str:
    ctx.show(f"saying {word}")
    return word


@tool
async def read(ctx: Context, path: Readable) -> str:
    return (await ctx.files.read(path, max_bytes=1000)).text


@tool(danger=Danger.DANGEROUS)
async def write(ctx: Context, path: Writable, content: str) -> int:
    return (await ctx.files.write(path, content.encode())).size


@tool
async def read_many(ctx: Context, paths: list[Readable | HoldfastError]) -> list[Json]:
    return [each.code if isinstance(each, HoldfastError) else each.path for each in paths]


@tool
async def fail(ctx: Context) -> None:
    raise NotFound("file not found: a.md", hint="List the directory.")


@tool
async def break_down(ctx: Context) -> None:
    raise ZeroDivisionError(SECRET_OF_A_BUG)


@tool
async def meet_a_time_out(ctx: Context) -> None:
    raise TimeoutError(SECRET_OF_A_BUG)


@tool
async def answer_nonsense(ctx: Context) -> object:
    return Nonsense()


@tool
async def wait(ctx: Context, seconds: float = 30) -> str:
    await asyncio.sleep(seconds)
    return "waited"


@tool(seconds=0.05)
async def wait_in_haste(ctx: Context) -> str:
    await asyncio.sleep(30)
    return "waited"


@tool(seconds=0.05)
async def ask(ctx: Context) -> Json:
    return await ctx.person.ask(ctx.call, [{"name": "colour"}])


@tool
async def talk(ctx: Context) -> str:
    return "x" * 3_000_000


class Nonsense:
    """Something that cannot be said."""

    def __str__(self) -> str:
        raise ZeroDivisionError(SECRET_OF_A_BUG)


TOOLS = {
    "tests": [say, read, write, read_many, fail, break_down, meet_a_time_out, answer_nonsense, wait, wait_in_haste, ask, talk],
    "others": [replace(say)],
}


class Shelf(Toolset):
    """A toolset whose tools are declared here, and one of whose files cannot be imported."""

    def load(self, name: str) -> Tool | None:
        if name == "torn":
            raise SyntaxError(SECRET_OF_A_BUG)
        return Tool(name, self.name, self.dialect, _declared(self.name)[name])


def _declared(toolset: str) -> dict[str, Declaration]:
    return {f"{'' if toolset == 'tests' else 'other_'}{getattr(each.function, '__name__', '')}": each for each in TOOLS[toolset]}


@dataclass
class Recorder:
    """Keeps entries in memory, or cannot, or waits with it when it is told to."""

    entries: list[AuditEntry] = field(default_factory=list[AuditEntry])
    prepares: Exception | None = None
    records: Exception | None = None
    waits: bool = False
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self, call: ToolCall) -> None:
        if self.prepares is not None:
            raise self.prepares

    async def intend(self, author: object) -> None:
        """Nothing here needs it."""

    def author(self, call: ToolCall, given: Json) -> object:
        return call.id

    async def record(self, entry: AuditEntry, author: object) -> None:
        assert author == entry.call.id
        if self.waits:
            self.waiting.set()
            await self.go_on.wait()
        if self.records is not None:
            raise self.records
        self.entries.append(entry)


@dataclass
class Somebody:
    """A person who thinks before they answer."""

    thinks: float = 0.2
    is_mode: Mode | Exception = Mode.BUILD

    async def mode(self, session: str) -> Mode:
        if isinstance(self.is_mode, Exception):
            raise self.is_mode
        return self.is_mode

    async def ask(self, call: ToolCall, questions: Sequence[JsonObject]) -> Json:
        await asyncio.sleep(self.thinks)
        return {"colour": "green"}

    async def accept_plan(self, call: ToolCall, plan: str) -> None: ...


PROFILE = Profile("tests", ("tests",))


@dataclass
class Way:
    """A road through a real folder, and what was seen along it."""

    root: Path
    road: Road
    recorder: Recorder
    person: Somebody
    events: list[Event]

    async def take(self, name: str, arguments: Mapping[str, Json] | str | None = None, profile: Profile = PROFILE) -> Outcome:
        return await self.road.take(ToolCall("call-1", name, arguments or {}, Caller(agent="tester")), profile)

    async def until(self, event: str) -> None:
        async with asyncio.timeout(10):
            while event not in self.happened:  # noqa: ASYNC110 - events are told, not awaited
                await asyncio.sleep(0)

    @property
    def recorded(self) -> list[tuple[str, str | None]]:
        return [(entry.outcome, entry.code) for entry in self.recorder.entries]

    @property
    def happened(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


@contextmanager
def opened_way(root: Path) -> Generator[Way]:
    """A way in `root`."""
    mounts = {"project": Mount("project", root)}
    toolsets = [Shelf(name, "nowhere", PLAIN, frozenset({*_declared(name), *(["torn"] if name == "tests" else [])})) for name in TOOLS]
    recorder, person, events = Recorder(), Somebody(), list[Event]()
    surroundings = Surroundings(mounts, Changes(), person, lambda _: mounts["project"])
    yield Way(root, Road(Registry(toolsets), surroundings, Rules(), recorder, events.append), recorder, person, events)
    mounts["project"].close()
