"""Whether a person is asked about a call: the table of trust, row by row.

It is asked only of calls that may run, so no trust lets anything run
that a profile does not permit.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from holdfast.vocabulary.profile import Origin, Profile
from holdfast.vocabulary.trust import Trust, When


@dataclass(frozen=True)
class ToolFacts:
    """What matters of a call: the tool, whether this call of it is dangerous, and by what kind of work.

    `channel_out` says how something could leave the sandbox of a command
    before a person has said yes, such as "the network" or "no layer
    here"; "" when nothing can.
    """

    tool: str
    is_dangerous: bool = False
    changes_files: bool = False
    is_command: bool = False
    is_remote: bool = False
    channel_out: str = ""


class Row(Enum):
    """The rows of the table."""

    SAFE = "safe"
    FILES = "files"
    IN_A_LAYER = "in a layer"
    BEYOND = "beyond"


@dataclass(frozen=True)
class NoQuestion:
    """Nobody is asked; the effects of a command are kept."""


@dataclass(frozen=True)
class AskBefore:
    """A person is asked before anything has started; the effects of a command are then kept."""

    reason: str
    with_diff: bool = False


@dataclass(frozen=True)
class AskAboutEffects:
    """It runs, and a person is asked about those of its effects that need it."""

    reason: str


Question: TypeAlias = NoQuestion | AskBefore | AskAboutEffects


def question(facts: ToolFacts, trust: Trust, when: When) -> Question:
    """What a person is asked about a call, and why."""
    row = row_of(facts)
    if trust is Trust.AUTONOMOUS:
        return NoQuestion()
    if trust is Trust.SUPERVISED:
        return AskBefore("trust is supervised, so every call is asked for", with_diff=row is Row.FILES)
    match row:
        case Row.SAFE:
            return NoQuestion()
        case Row.FILES:
            return AskBefore(f"trust is guided, and {facts.tool} changes files", with_diff=True)
        case Row.IN_A_LAYER if when is When.EFFECTS:
            return AskAboutEffects(f"trust is guided, and the profile asks about the effects of {facts.tool}")
        case Row.IN_A_LAYER:
            return AskBefore(f"trust is guided, and the profile asks before {facts.tool} runs")
        case Row.BEYOND:
            return AskBefore(f"trust is guided, and {_beyond(facts)}")


def row_of(facts: ToolFacts) -> Row:
    """The row of the table that a call is in. What is dangerous in a way of its own is in the last."""
    if not facts.is_dangerous:
        return Row.SAFE
    if facts.is_remote or (facts.is_command and facts.channel_out):
        return Row.BEYOND
    if facts.is_command:
        return Row.IN_A_LAYER
    return Row.FILES if facts.changes_files else Row.BEYOND


def trust_for(profile: Profile, usual: Trust, chosen: Trust | None = None) -> Trust:
    """How far an agent is trusted: as the person chose for the session, as its profile says, or as usual.

    A project's profile can only make it less than usual.
    """
    if chosen is not None:
        return chosen
    if profile.trust is None:
        return usual
    return profile.trust.at_most(usual) if profile.origin is Origin.PROJECT else profile.trust


def _beyond(facts: ToolFacts) -> str:
    if facts.is_remote:
        return f"{facts.tool} is a tool of another server that is not known to be read-only"
    if facts.is_command:
        return f"{facts.tool} has a way out of its sandbox: {facts.channel_out}"
    return f"{facts.tool} is dangerous"
