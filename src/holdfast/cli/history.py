"""holdfast history: the versions of a file."""

from datetime import datetime
from typing import Any

from holdfast.app import name_people
from holdfast.config.settings import load_settings
from holdfast.vocabulary.outcome import Done

from .parser import Parser
from .versions import add_file_arguments, asked, run
from .visible import visible

_HEADS = ("version", "when", "who", "what", "bytes")


def main(words: list[str]) -> int:
    """List the versions."""
    about = "List the versions of a file, the newest first, also of a deleted one."
    parser = Parser(prog="holdfast history", description=about)
    add_file_arguments(parser)
    return run(parser.prog, _history(parser, parser.parse_args(words)))


async def _history(parser: Parser, given: Any) -> int:
    meant = await asked(parser, given)
    outcome = await meant.call("history")
    names: dict[str, str] = {}
    if isinstance(outcome, Done) and not given.json:
        body: Any = outcome.answer.body
        names = await name_people(load_settings(), [version["author"] for version in body["result"]["versions"]])
    return meant.tell(outcome, lambda told: _show(told, names))


def _show(told: dict[str, Any], names: dict[str, str]) -> None:
    gone = "" if told["synced"] else "  (deleted; holdfast undelete brings it back)"
    print(visible(f"{told['path'][1:]}{gone}"))
    rows = [_HEADS, *(_row(version, told["path"], names) for version in told["versions"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    for number, when, who, what, size in rows:
        cells = (number.rjust(widths[0]), when.ljust(widths[1]), who.ljust(widths[2]), what.ljust(widths[3]), size.rjust(widths[4]))
        print("  ".join(cells))


def _row(version: dict[str, Any], path: str, names: dict[str, str]) -> tuple[str, ...]:
    when = datetime.fromisoformat(version["created_at"]).astimezone()
    author: str = version["author"]
    who = "somebody else" if version["kind"] == "external" else names.get(author, author) or "this machine"
    what = version["kind"] + (f" ({version['state']})" if version["state"] == "aborted" else "")
    elsewhere = f" as {version['path'][1:]}" if version["path"] != path else ""
    size = "-" if version["size"] is None else str(version["size"])
    return str(version["number"]), when.strftime("%Y-%m-%d %H:%M:%S"), visible(who), visible(what + elsewhere), size
