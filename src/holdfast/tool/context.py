"""What a running tool is given, and all it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.internet.search import Search
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import AccessDenied
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.changes import Changes
from holdfast.workspace.files import Files
from holdfast.workspace.foresight import foreseeing
from holdfast.workspace.layers import LayerBook
from holdfast.workspace.mount import Mount
from holdfast.workspace.records import Records
from holdfast.workspace.sight import Sight

from .commands import Commands, Shell


class Person(Protocol):
    """Whoever sits before a session: can be asked, and has it in a mode."""

    async def mode(self, session: str) -> Mode:
        """The mode of a session; without one it is build."""
        ...

    async def ask(self, call: ToolCall, questions: Sequence[JsonObject]) -> Json:
        """Put questions to the person: in a session wait for `{name: answer}`, otherwise say that they are pending."""
        ...

    async def accept_plan(self, call: ToolCall, plan: str) -> None:
        """Turn the session to building, if the person has just accepted by a button.

        Raises:
            NotPermitted: The last question was not answered so.
        """
        ...


@dataclass(frozen=True)
class Context:
    """The files as this call may see them, its profile, the person, a way to show output while it runs, the web, and commands.

    `seconds` is what the call may take, `most_seconds` the most that a
    command may be given. With `decides_effects` a tool that holds effects
    returns `Held`, and somebody is asked about them.
    """

    files: Files
    profile: Profile
    call: ToolCall
    person: Person
    show: Callable[[str], None]
    search: Search
    shell: Shell | None = None
    seconds: float = 60.0
    most_seconds: float = 600.0
    decides_effects: bool = False

    @property
    def commands(self) -> Shell:
        """Where commands run.

        Raises:
            AccessDenied: There is no such place here.
        """
        if self.shell is None:
            raise AccessDenied("there is nowhere to run commands here", hint="Open the workspace with a data folder.")
        return self.shell


@dataclass(frozen=True)
class Surroundings:
    """The workspace that calls are made in, from which each gets its own view."""

    mounts: Mapping[str, Mount]
    changes: Changes
    person: Person
    state_of: Callable[[str], Mount]
    records: Records | None = None
    search: Search = field(default_factory=Search)
    commands: Commands | None = None

    def mounts_of(self, call: ToolCall) -> Mapping[str, Mount]:
        """The mounts as this call has them: `@state` is the one of its run or session."""
        return {**self.mounts, "state": self.state_of(call.caller.state)}

    def context(
        self,
        call: ToolCall,
        profile: Profile,
        person: Person,
        show: Callable[[str], None],
        *,
        unseen: ProtectedPaths | None,
        permitted: Callable[[str], bool] | None,
        untouchable: ProtectedPaths | None,
        author: object,
        mode: Mode = Mode.BUILD,
        seconds: tuple[float, float] = (60.0, 600.0),
        decides_effects: bool = False,
        foresees: bool = False,
    ) -> Context:
        """What one call is given.

        `unseen` are the paths that do not exist for it, `permitted` says
        which files it may look into, `untouchable` are those that it may not
        change even where nobody named them, and `author` is who its changes
        are by. In plan mode nothing comes of a command's effects. `seconds`
        is what the call may take, and the most that a command may be given.
        With `foresees` nothing is changed: the first change is told of.
        """
        mounts, changes = self.mounts_of(call), self.changes.by(author)
        if foresees:
            changes = foreseeing(changes)
        files = Files(Sight(unseen, permitted), changes, self.records, mounts, untouchable)
        shell = None
        if self.commands is not None and self.records is not None and not foresees:
            shared = self.commands
            book = LayerBook(self.records, changes, shared.mounts, shared.trash, mounts, may_write_protected=untouchable is None)
            drops, hides = mode is Mode.PLAN, not profile.reads_protected
            shell = Shell(self.commands, book, call, show, mounts["state"], drops=drops, hides=hides, env=profile.env)
        return Context(files, profile, call, person, show, self.search, shell, *seconds, decides_effects)
