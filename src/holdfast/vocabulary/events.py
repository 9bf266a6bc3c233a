"""What happens to a call, told as it happens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .call import ToolCall
from .json import JsonObject
from .outcome import Outcome


@dataclass(frozen=True)
class ApprovalAsked:
    """The call waits for a person's yes; `approval` is what they are shown."""

    call: ToolCall
    approval: JsonObject


@dataclass(frozen=True)
class ApprovalExpired:
    """Nobody decided about the call in time."""

    call: ToolCall
    approval: JsonObject


@dataclass(frozen=True)
class QuestionAsked:
    """The call waits for a person's answer; `question` is what they are shown."""

    call: ToolCall
    question: JsonObject


@dataclass(frozen=True)
class ToolStarted:
    """The call was allowed and is about to run."""

    call: ToolCall


@dataclass(frozen=True)
class ToolOutput:
    """A piece of output, while the tool runs; not stored."""

    call: ToolCall
    chunk: str


@dataclass(frozen=True)
class ToolFinished:
    """The call has its outcome."""

    call: ToolCall
    outcome: Outcome
    seconds: float


Event: TypeAlias = ApprovalAsked | ApprovalExpired | QuestionAsked | ToolStarted | ToolOutput | ToolFinished

Show: TypeAlias = Callable[[str], None]


def output_of(call: ToolCall, show: Show) -> Callable[[str, Event], None]:
    """Somebody who watches a workspace, and is shown what one call prints."""

    def watch(_workspace_id: str, event: Event) -> None:
        if isinstance(event, ToolOutput) and event.call.id == call.id:
            show(event.chunk)

    return watch
