"""holdfast call: one call of one tool."""

import asyncio
import json
import sys
from collections.abc import Mapping
from os.path import commonprefix
from typing import Any, cast
from uuid import uuid4

from holdfast.app import Holdfast, describe_arguments
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.errors import HoldfastError, NotPermitted
from holdfast.vocabulary.json import Json, JsonObject
from holdfast.vocabulary.outcome import Done, Failed, Outcome, Refused
from holdfast.vocabulary.spelling import plain_name

from .effects import decide, takes_decisions, wants_live
from .parser import Parser, add_project_arguments, parse_mounts
from .versions import complain
from .visible import visible, visible_json

_MAX_SEEN = 1_000_000


def main(words: list[str]) -> int:
    """Call a tool; leave with 0 when it is done, 1 when it failed, 2 when it was refused."""
    parser = Parser(
        prog="holdfast call", description="Call a tool and print its result. Leaves with 1 for a tool's error, 2 for a refusal."
    )
    parser.add_argument("name", help="the tool, such as read_file or fs.search")
    parser.add_argument("arguments", nargs="*", metavar="key=value", help="its arguments; numbers, true, [..] and {..} as in JSON")
    parser.add_argument("--args", metavar="JSON", help="its arguments, as one JSON object")
    parser.add_argument("--stdin", metavar="KEY", help="take the argument KEY from standard input")
    parser.add_argument("--json", action="store_true", help="print outcome, code and result as JSON")
    effects = parser.add_mutually_exclusive_group()
    for wish, said in ((Wish.KEEP, "keep"), (Wish.DROP, "throw away"), (Wish.HOLD, "leave pending")):
        effects.add_argument(f"--{wish.value}", dest="effects", action="store_const", const=wish, help=f"{said} what a command changes")
    add_project_arguments(parser)
    given = parser.parse_intermixed_args(words)
    if given.args is not None and given.arguments:
        parser.error("give the arguments as key=value or by --args, not both")
    pairs: dict[str, str] = {}
    for text in given.arguments:
        key, equals, value = text.partition("=")
        if not equals:
            parser.error(f"'{text}' is not key=value")
        pairs[key] = value
    if given.stdin:
        pairs[given.stdin] = _standard_input(parser)
    takes = describe_arguments(given.name)
    _check_names(given.name, takes, pairs, parser)
    arguments = given.args if given.args is not None and not pairs else _merged(given.args, pairs, takes, parser)
    match asyncio.run(_call(given, arguments, parse_mounts(parser, given.mount))):
        case Done():
            return 0
        case Failed():
            return 1
        case Refused():
            return 2


async def _call(given: Any, arguments: dict[str, Json] | str, mounts: dict[str, str]) -> Outcome:
    asks = given.effects is None and not given.json and takes_decisions(given.name)
    wish = Wish.HOLD if asks else given.effects or Wish.KEEP
    screen = _Screen()
    async with Holdfast.open(given.project, profile=given.profile, mounts=mounts, run=given.run) as holdfast:

        async def take(wish: Wish) -> Outcome:
            call = ToolCall(f"cli-{uuid4()}", given.name, arguments, Caller(run=given.run), wish)
            return await holdfast.take(call, show=None if given.json else screen.show)

        outcome = await take(wish)
        if asks and isinstance(outcome, Failed) and outcome.error.code == NotPermitted.code and await wants_live():
            outcome = await take(Wish.KEEP)
        screen.end(_as_json(outcome) if given.json else outcome.answer.text)
        if asks and outcome.answer.metadata is not None:
            try:
                await decide(holdfast, outcome.answer.metadata)
            except HoldfastError as error:
                complain("holdfast call", error)
                return Failed(outcome.answer, error)
        return outcome


def _standard_input(parser: Parser) -> str:
    try:
        # The bytes as they are: read as text, the ends of lines would be changed.
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        parser.error("--stdin: what came on standard input is not UTF-8")


def _merged(text: str | None, pairs: dict[str, str], takes: Mapping[str, JsonObject], parser: Parser) -> dict[str, Json]:
    try:
        base: object = json.loads(text) if text else {}
    except ValueError as error:
        parser.error(f"--args is not JSON: {error}")
    if not isinstance(base, dict):
        parser.error("--args is not a JSON object")
    kinds = {plain_name(name): schema.get("type") for name, schema in takes.items()}
    return {**cast("dict[str, Json]", base), **{key: _value(value, kinds.get(plain_name(key))) for key, value in pairs.items()}}


def _value(text: str, kind: Json) -> Json:
    """A value of the command line: text stays text where text is wanted."""
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _check_names(tool: str, takes: Mapping[str, JsonObject], pairs: dict[str, str], parser: Parser) -> None:
    """A person who mistypes an optional argument wants to hear of it; a model's extra keys are let go."""
    known = {plain_name(name) for name in takes}
    for key in pairs:
        if known and plain_name(key) not in known:
            parser.error(f"{tool} has no argument '{key}'; it takes: {', '.join(takes)}")


def _as_json(outcome: Outcome) -> str:
    code = None if isinstance(outcome, Done) else outcome.error.code
    return visible_json({"outcome": type(outcome).__name__.lower(), "code": code, "result": outcome.answer.body})


class _Screen:
    """What a call prints, as it comes, and then as much of its answer as has not been seen."""

    def __init__(self) -> None:
        self._seen = ""
        self._is_in_line = False

    def show(self, chunk: str) -> None:
        # An answer has no more of it in it.
        if len(self._seen) < _MAX_SEEN:
            self._seen += chunk
        self._write(chunk)

    def end(self, text: str) -> None:
        shared = commonprefix([self._seen, text])  # noqa: RUF071 - characters are what is meant
        self._write(text[len(shared) :].removesuffix("\n"))
        if self._is_in_line or not self._seen:
            self._write("\n")

    def _write(self, text: str) -> None:
        # Whoever pipes it gets every byte; a terminal would obey what a command or a file says.
        shown = visible(text) if sys.stdout.isatty() else text
        # What was no text on the command line would be none here.
        sys.stdout.write(shown.encode(errors="replace").decode())
        sys.stdout.flush()
        self._is_in_line = not shown.endswith("\n") if shown else self._is_in_line
