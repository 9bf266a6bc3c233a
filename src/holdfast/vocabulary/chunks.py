"""What a model's answer is made of while it comes, the same from every provider.

A stream is any number of `Retrying`, then `Start`, then pieces, and
ends with exactly one `End` or `Fault`. A call that has no `ToolCallEnd`
is not whole; one whose `ToolCallEnd` says `invalid` must not be run; and
after a `Fault` none is run at all.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from .errors import ProviderError


class EndReason(Enum):
    """Why the model stopped: it was done, it waits for its calls, it reached a limit of tokens, it would not go on, or else."""

    DONE = "done"
    CALLS = "calls"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Start:
    """The answer begins. `model` is what the provider says that it uses."""

    model: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of what it says."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of what it thinks. A signature ends the block, and so does a redacted piece."""

    text: str
    signature: str = ""
    is_redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins; `name` is our own."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of the JSON text of a call's arguments."""

    id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is there in full. `arguments` is the whole JSON text; `invalid` says why it must not be run."""

    id: str
    name: str
    arguments: str
    invalid: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider counted. `input_tokens` holds those that were cached; `cost` is in US dollars, None when no price is known."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """Nothing has come yet, and it is asked again after so many seconds; `attempt` counts the repetitions from 1."""

    reason: str
    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True)
class End:
    """The answer is whole."""

    reason: EndReason


@dataclass(frozen=True, slots=True)
class Fault:
    """The answer is not whole, and no more of it will come."""

    error: ProviderError


Chunk: TypeAlias = Start | Text | Thinking | ToolCallStart | ToolCallDelta | ToolCallEnd | Usage | Retrying | End | Fault
