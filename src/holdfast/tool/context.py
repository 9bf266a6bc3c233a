"""What a running tool is given, and all it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.internet.search import Search
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.changes import Changes
from holdfast.workspace.files import Files
from holdfast.workspace.mount import Mount
from holdfast.workspace.records import Records
from holdfast.workspace.sight import Sight


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
    """The files as this call may see them, its profile, the person, a way to show output while it runs, and the web."""

    files: Files
    profile: Profile
    call: ToolCall
    person: Person
    show: Callable[[str], None]
    search: Search


@dataclass(frozen=True)
class Surroundings:
    """The workspace that calls are made in, from which each gets its own view."""

    mounts: Mapping[str, Mount]
    changes: Changes
    person: Person
    state_of: Callable[[str], Mount]
    records: Records | None = None
    search: Search = field(default_factory=Search)

    def mounts_of(self, call: ToolCall) -> Mapping[str, Mount]:
        """The mounts as this call has them: `@state` is the one of its run or session."""
        return {**self.mounts, "state": self.state_of(call.caller.state)}

    def context(
        self,
        call: ToolCall,
        profile: Profile,
        show: Callable[[str], None],
        *,
        unseen: ProtectedPaths | None,
        permitted: Callable[[str], bool] | None,
        untouchable: ProtectedPaths | None,
        author: object,
    ) -> Context:
        """What one call is given.

        `unseen` are the paths that do not exist for it, `permitted` says
        which files it may look into, `untouchable` are those that it may not
        change even where nobody named them, and `author` is who its changes
        are by.
        """
        files = Files(Sight(unseen, permitted), self.changes.by(author), self.records, self.mounts_of(call), untouchable)
        return Context(files, profile, call, self.person, show, self.search)
