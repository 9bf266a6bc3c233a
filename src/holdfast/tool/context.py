"""What a running tool is given, and all it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.changes import Changes
from holdfast.workspace.files import Files
from holdfast.workspace.mount import Mount
from holdfast.workspace.sight import Sight


@dataclass(frozen=True)
class Context:
    """The files as this call may see them, its profile, and a way to show output while it runs."""

    files: Files
    profile: Profile
    call: ToolCall
    show: Callable[[str], None]


@dataclass(frozen=True)
class Surroundings:
    """The workspace that calls are made in, from which each gets its own view."""

    mounts: Mapping[str, Mount]
    changes: Changes

    def context(self, call: ToolCall, profile: Profile, show: Callable[[str], None], *, unseen: ProtectedPaths | None) -> Context:
        """What one call is given; `unseen` are the paths that do not exist for it."""
        return Context(Files(Sight(unseen), self.changes.by(call)), profile, call, show)
