"""holdfast undo: all that a call did to files, taken back."""

import argparse
from dataclasses import replace
from typing import Any

from .parser import Parser
from .versions import asked, run
from .visible import visible_line

# What taking back did to a path.
UNDONE = {"added": "back again", "deleted": "gone again", "changed": "as before", "renamed": "back at its place", "mode": "mode as before"}
_MAX_LISTED = 200


def main(words: list[str]) -> int:
    """Take a call back."""
    about = (
        "Take back all that a call did to files, a command's too: bytes, names and modes. Without CALL: the last call that changed files. "
        "What somebody has changed since is named, and then nothing is done. An undo is a call, and can be taken back itself."
    )
    parser = Parser(prog="holdfast undo", description=about)
    parser.add_argument("call", nargs="?", metavar="CALL", help="the id of a call, as 'holdfast history --json' shows it")
    parser.add_argument("--session", metavar="ID", help="the last call of this session")
    parser.add_argument("--force", action="store_true", help="take back what was changed since as well; it stays a version")
    parser.add_argument("--project", metavar="DIR", help="the project's folder (default: the one that we are in)")
    parser.add_argument("--json", action="store_true", help="print outcome, code and result as JSON")
    return run(parser.prog, _undo(parser, parser.parse_args(words)))


async def _undo(parser: Parser, given: Any) -> int:
    if given.call and given.session:
        parser.error("name the call or the session, not both")
    meant = await asked(parser, argparse.Namespace(path=None, id=None, project=given.project, json=given.json), is_optional=True)
    if not given.call:
        # The last call is one of the project that we are in, and of no other around it.
        meant = replace(meant, candidates=meant.candidates[:1])
    outcome = await meant.call("undo", call_id=given.call, session_id=given.session, force=given.force)
    return meant.tell(outcome, _show)


def _show(told: dict[str, Any]) -> None:
    for one in told["restored"][:_MAX_LISTED]:
        print(visible_line(f"{one['path']}: {UNDONE[one['kind']]}"))
    if told["count"] > _MAX_LISTED:
        print(f"… and {told['count'] - _MAX_LISTED} more")
    for one in told["left_out"][:_MAX_LISTED]:
        print(visible_line(f"{one['path']}: left as it is ({one['why']})"))
    print(visible_line(f"call {told['call_id']} is taken back; to have it again: holdfast undo {told['undo_call_id']}"))
