"""A script: what is to be said when, read strictly."""

from dataclasses import dataclass
from typing import TypeAlias

from holdfast.providers.arguments import flaw_of
from holdfast.vocabulary.chunks import EndReason
from holdfast.vocabulary.json import Json, dump

from .nodes import Node, compose
from .template import Unfinished, check

FAULTS = ("unreachable", "timed_out", "cut", "malformed", "empty")


@dataclass(frozen=True)
class Say:
    """Words, or thoughts."""

    text: str
    line: int
    is_thought: bool = False
    signature: str = ""


@dataclass(frozen=True)
class Call:
    """A call. `raw` is the text of arguments that are not to be valid; a cut call ends in the middle, and the answer with it."""

    tool: str
    arguments: Json
    line: int
    raw: str | None = None
    is_cut: bool = False


@dataclass(frozen=True)
class Delay:
    """A while in which nothing comes."""

    seconds: float


@dataclass(frozen=True)
class Break:
    """Something goes wrong: a status, or one of the named faults. With `times` only in so many attempts."""

    status: int | None
    kind: str
    message: str
    times: int | None
    retry_after: float | None


@dataclass(frozen=True)
class Count:
    """What the answer is said to have used."""

    input_tokens: int
    output_tokens: int


Step: TypeAlias = Say | Call | Delay | Break | Count


@dataclass(frozen=True)
class Answer:
    """One answer of the model."""

    steps: tuple[Step, ...]
    reason: EndReason | None = None


@dataclass(frozen=True)
class Turn:
    """The answers to one message of the person, one after each round of calls."""

    answers: tuple[Answer, ...]
    line: int
    user: str | None = None
    number: int | None = None

    def fits(self, user: str, number: int) -> bool:
        """Whether this is the turn for the person's message, which is the conversation's n-th."""
        says = self.user is None or self.user.casefold() in user.casefold()
        return says and (self.number is None or self.number == number)


@dataclass(frozen=True)
class Script:
    """All that a scripted model will ever say. `pace` is the seconds between two words."""

    name: str
    turns: tuple[Turn, ...]
    context_window: int = 100_000
    supports_tools: bool = True
    pace: float = 0.0


def parse(text: str, name: str = "script") -> Script:
    """The script that a YAML text holds.

    Raises:
        InvalidSetting: Something in it does not fit; the message says what, and in which line.
    """
    whole = compose(text, name)
    said = whole.entries("context_window", "supports_tools", "pace", "turns")
    if "turns" not in said:
        raise whole.wrong("there are no 'turns'")
    return Script(
        name,
        tuple(_turn(each) for each in said["turns"].items()),
        said["context_window"].whole_number(least=1) if "context_window" in said else 100_000,
        said["supports_tools"].yes_or_no() if "supports_tools" in said else True,
        said["pace"].number(most=10) if "pace" in said else 0.0,
    )


def _turn(node: Node) -> Turn:
    said = node.entries("when", "answers")
    if "answers" not in said:
        raise node.wrong("a turn has 'answers'")
    when = said["when"].entries("user", "turn") if "when" in said else {}
    return Turn(
        tuple(_answer(each) for each in said["answers"].items()),
        node.line,
        when["user"].text() if "user" in when else None,
        when["turn"].whole_number(least=1) if "turn" in when else None,
    )


def _answer(node: Node) -> Answer:
    steps: list[Step] = []
    reason: EndReason | None = None
    for each in node.items():
        if reason is not None:
            raise each.wrong("nothing comes after 'end'")
        said = each.entries()
        if "end" in said:
            said = each.entries("end")
            reason = EndReason(said["end"].one_of(*(reason.value for reason in EndReason)))
        else:
            steps.append(_step(each))
    return Answer(tuple(steps), reason)


def _step(node: Node) -> Step:
    said = node.entries()
    match next(iter(said), ""):
        case "say":
            return Say(_template(node.entries("say")["say"]), node.line)
        case "think":
            said = node.entries("think", "signature")
            return Say(_template(said["think"]), node.line, True, said["signature"].text() if "signature" in said else "")
        case "call":
            return _call(node)
        case "delay":
            return Delay(node.entries("delay")["delay"].number(most=600))
        case "fault":
            return _break(node)
        case "usage":
            counted = node.entries("usage")["usage"].entries("input", "output")
            return Count(*(counted[name].whole_number() if name in counted else 0 for name in ("input", "output")))
        case other:
            problem = f"a step does not begin with '{other}'"
            raise node.wrong(f"{problem}; it begins with say, think, call, delay, fault, usage or end")


def _call(node: Node) -> Call:
    said = node.entries("call", "with", "raw", "cut")
    if "with" in said and "raw" in said:
        raise node.wrong("a call has 'with' or 'raw', not both")
    arguments: Json = {}
    if "with" in said:
        _ = said["with"].entries()
        arguments = said["with"].json()
        _templates(arguments, said["with"])
    raw = said["raw"].text() if "raw" in said else None
    if raw is not None and not flaw_of(raw):
        raise said["raw"].wrong("'raw' is for arguments that are not valid; write these under 'with'")
    if raw is None and (flaw := flaw_of(dump(arguments).decode())):
        raise said["with"].wrong(flaw)
    return Call(said["call"].text(), arguments, node.line, raw, said["cut"].yes_or_no() if "cut" in said else False)


def _break(node: Node) -> Break:
    said = node.entries("fault", "message", "times", "retry_after")
    what = said["fault"].json()
    status = said["fault"].whole_number(least=400, most=599) if isinstance(what, int) else None
    return Break(
        status,
        "" if status else said["fault"].one_of(*FAULTS),
        said["message"].text() if "message" in said else "",
        said["times"].whole_number(least=1, most=100) if "times" in said else None,
        said["retry_after"].number(most=600) if "retry_after" in said else None,
    )


def _template(node: Node) -> str:
    text = node.text()
    _templates(text, node)
    return text


def _templates(value: Json, node: Node) -> None:
    try:
        check(value)
    except Unfinished as problem:
        raise node.wrong(str(problem)) from None
