"""Errors for the caller, human or model: what happened, what to try next, and a code that never changes.

Anything that is not a `HoldfastError` is our own bug and is allowed to
crash loudly. The codes are part of our promises: dialects translate
them, and nobody ever renames one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from .json import Json


class HoldfastError(Exception):
    """Something the caller can understand and act on."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str = "", **facts: Json) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.facts: dict[str, Json] = facts

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


# The road: what stops a call before it runs


class UnknownTool(HoldfastError):
    """No tool has that name, or this caller may not see it."""

    code = "unknown_tool"


class NotPermitted(HoldfastError):
    """The caller's scope does not allow this call."""

    code = "not_permitted"


class Denied(NotPermitted):
    """A person has said no, or nobody said yes in time."""

    code = "denied"


class Unjudgeable(HoldfastError):
    """The call could not be judged or recorded, so it was not run."""

    code = "unjudgeable"


class InvalidToken(HoldfastError):
    """Nobody that we know: the token is missing, expired, or not one of ours."""

    code = "invalid_token"


class Forbidden(HoldfastError):
    """Somebody that we know, who may not do this here."""

    code = "forbidden"


class InvalidSetting(HoldfastError):
    """A setting that is not one, or a value that does not fit."""

    code = "invalid_setting"


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong with one argument."""

    argument: str
    problem: str


class InvalidArguments(HoldfastError):
    """One or more arguments are missing, of the wrong type, or out of range."""

    code = "invalid_arguments"

    def __init__(self, mistakes: Sequence[Mistake], *, hint: str = "Correct the arguments named here and call again.") -> None:
        told = "; ".join(f"'{mistake.argument}' {mistake.problem}" if mistake.argument else mistake.problem for mistake in mistakes)
        super().__init__(told, hint=hint, arguments=[mistake.argument for mistake in mistakes])
        self.mistakes = tuple(mistakes)

    @classmethod
    def of(cls, argument: str, problem: str, **hint: str) -> "InvalidArguments":
        """The error for one mistake in one argument."""
        return cls([Mistake(argument, problem)], **hint)


# Paths: what `resolve` refuses


class PathViolation(HoldfastError):
    """The caller wrote a path that it must not use. These are counted."""

    code = "path_violation"


class InvalidPath(PathViolation):
    """The text is not a path in this dialect's language."""

    code = "invalid_path"


class Outside(PathViolation):
    """The path leads outside its mount."""

    code = "outside"


class UnknownMount(PathViolation):
    """There is no mount of that name."""

    code = "unknown_mount"


class ReadOnly(PathViolation):
    """The mount may only be read."""

    code = "read_only"


class Protected(PathViolation):
    """The path holds secrets or machinery that tools do not touch."""

    code = "protected"


# Files: what the engine meets


class NotFound(HoldfastError):
    """Nothing is there."""

    code = "not_found"


class IsDirectory(HoldfastError):
    """A file was wanted, and a directory is there."""

    code = "is_directory"


class NotDirectory(HoldfastError):
    """A directory was wanted, and something else is there."""

    code = "not_directory"


class SpecialFile(HoldfastError):
    """A device, FIFO or socket: never opened."""

    code = "special_file"


class TooLarge(HoldfastError):
    """More bytes than the limit allows."""

    code = "too_large"


class LineTooLong(TooLarge):
    """One line alone is over the limit, so no window can show it."""

    code = "line_too_long"


class ContentTooLarge(TooLarge):
    """The caller wants to write more bytes than it may."""

    code = "content_too_large"


class Virtual(HoldfastError):
    """The file is made by the system from something else, and only that can be changed."""

    code = "virtual"


class NotKept(HoldfastError):
    """The content of an old version is not, or no longer, in the store."""

    code = "not_kept"


class NotText(HoldfastError):
    """The operation needs text, and the file is binary."""

    code = "not_text"


class NoSpace(HoldfastError):
    """The disk, or the quota, is full."""

    code = "no_space"


class AccessDenied(HoldfastError):
    """The operating system refused."""

    code = "access_denied"


class Busy(HoldfastError):
    """Somebody else holds what is needed; try again."""

    code = "busy"


class LostLease(Busy):
    """Another process has taken the workspace over, so nothing more may be acknowledged here."""

    code = "lost_lease"


class Broken(HoldfastError):
    """The operating system failed in a way that the caller cannot mend."""

    code = "broken"


class InvalidPattern(HoldfastError):
    """The pattern cannot be understood."""

    code = "invalid_pattern"


class InvalidRange(HoldfastError):
    """The range of lines makes no sense."""

    code = "invalid_range"


class InvalidFrontMatter(HoldfastError):
    """The YAML between the dashes cannot be read."""

    code = "invalid_front_matter"


class InvalidTransition(HoldfastError):
    """The workflow's graph has no such edge."""

    code = "invalid_transition"


class InvalidState(HoldfastError):
    """The new state would not fit what it must look like."""

    code = "invalid_state"


# Conflicts: the world is not as the caller thought


class Conflict(HoldfastError):
    """The file is not in the state that the change needs."""

    code = "conflict"


class Exists(Conflict):
    """Something is already there."""

    code = "exists"


class NotEmpty(Conflict):
    """The directory still has something in it."""

    code = "not_empty"


class StaleHash(Conflict):
    """The file changed after the caller last read it."""

    code = "stale_hash"


class MergeConflict(Conflict):
    """The file changed in the very lines that the change is about."""

    code = "merge_conflict"


class NoMatch(Conflict):
    """The text to replace is not in the file."""

    code = "no_match"


class ManyMatches(Conflict):
    """The text to replace is in the file more than once."""

    code = "many_matches"


# Commands


class CommandFailed(HoldfastError):
    """A command ended with something else than 0, or was ended. `output` is what it printed, `metadata` what is known of it."""

    code = "command_failed"

    output: str = ""
    metadata: Mapping[str, Json] = MappingProxyType({})

    @classmethod
    def of(cls, message: str, *, output: str, metadata: Mapping[str, Json], exit_code: int) -> "CommandFailed":
        """The error of a command that has ended."""
        error = cls(message, exitCode=exit_code)
        error.output, error.metadata = output, metadata
        return error


# Searching the web


class InvalidQuery(HoldfastError):
    """Nothing that could be searched for."""

    code = "invalid_query"


class SearchFailed(HoldfastError):
    """No search provider found anything, or none could be asked."""

    code = "search_failed"


# Models


class ProviderError(HoldfastError):
    """A model's provider could not be reached, refused, or did not answer in full.

    `kind` is one word for programs. `is_passing` says that asking again may
    help, after `retry_seconds` if the provider said when.
    """

    code = "provider_error"

    kind: str = ""
    status: int | None = None
    is_passing: bool = False
    retry_seconds: float | None = None

    @classmethod
    def of(cls, why: str, *, provider: str, kind: str, status: int | None = None, hint: str = "") -> "ProviderError":
        """The error in the words that callers match."""
        error = cls(f"Provider error ({status}): {why}" if status else f"Provider error: {why}", hint=hint, provider=provider, kind=kind)
        error.kind, error.status = kind, status
        if status:
            error.facts["status"] = status
        return error


# Time


class TimedOut(HoldfastError):
    """The deadline passed before the work was done."""

    code = "timed_out"


class Cancelled(HoldfastError):
    """The caller withdrew the call."""

    code = "cancelled"


def every_error(root: type[HoldfastError] = HoldfastError) -> list[type[HoldfastError]]:
    """All kinds of error, each once, so that a dialect can be checked to know them."""
    kinds = [root]
    for child in root.__subclasses__():
        kinds.extend(every_error(child))
    return list(dict.fromkeys(kinds))
