"""holdfast restore: an old version of a file made the newest."""

from typing import Any

from .parser import Parser
from .versions import add_file_arguments, asked, run
from .visible import visible


def main(words: list[str]) -> int:
    """Restore a version."""
    about = "Make an old version of a file its newest one. Nothing is lost: what the file says now stays a version too."
    parser = Parser(prog="holdfast restore", description=about)
    add_file_arguments(parser)
    parser.add_argument("--version", metavar="V", help="the version, by its number or id (default: the newest that the file is not now)")
    return run(parser.prog, _restore(parser, parser.parse_args(words)))


async def _restore(parser: Parser, given: Any) -> int:
    if given.id and not given.version:
        parser.error("--id needs --version")
    meant = await asked(parser, given)
    outcome = await meant.call("restore", version_id=given.version)
    return meant.tell(outcome, _show)


def _show(told: dict[str, Any]) -> None:
    print(visible(f"{told['path'][1:]} is as it was in version {told['restored_number']}"))
