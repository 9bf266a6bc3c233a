"""holdfast diff: what changed between two versions of a file."""

import sys
from typing import Any

from .parser import Parser
from .versions import add_file_arguments, asked, is_colourful, run
from .visible import visible

_COLOURS = (("---", "1"), ("+++", "1"), ("@@", "36"), ("+", "32"), ("-", "31"))


def main(words: list[str]) -> int:
    """Show the difference."""
    about = "Show what changed between two versions of a file, as a unified diff. Without --from and --to: what the last change did."
    parser = Parser(prog="holdfast diff", description=about)
    add_file_arguments(parser)
    parser.add_argument("--from", dest="older", metavar="V", help="the older version, by its number or id (default: the one before)")
    parser.add_argument("--to", dest="newer", metavar="V", help="the newer version, by its number or id (default: the newest)")
    return run(parser.prog, _diff(parser, parser.parse_args(words)))


async def _diff(parser: Parser, given: Any) -> int:
    meant = await asked(parser, given)
    return meant.tell(await meant.call("diff", from_version=given.older, to_version=given.newer), _show)


def _show(told: dict[str, Any]) -> None:
    if not told["diff"]:
        print("no difference" if told["from"] != told["to"] else "no difference: there is no version before this one", file=sys.stderr)
    elif sys.stdout.isatty():
        print("\n".join(diff_line(line) for line in told["diff"].removesuffix("\n").split("\n")))
    else:
        sys.stdout.write(told["diff"].encode(errors="replace").decode())


def diff_line(line: str) -> str:
    """A line as it may be sent to a terminal: what it holds is shown and not obeyed."""
    shown = visible(line)
    colour = next((colour for start, colour in _COLOURS if line.startswith(start)), None) if is_colourful() else None
    return f"\x1b[{colour}m{shown}\x1b[0m" if colour else shown
