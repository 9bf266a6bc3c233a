"""holdfast undelete: a deleted file, back where it was."""

from typing import Any

from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.outcome import Done

from .parser import Parser
from .versions import add_file_arguments, asked, run
from .visible import visible


def main(words: list[str]) -> int:
    """Bring a file back, or list what can be."""
    about = "Bring a deleted file or folder back to where it was, with all its versions. Without PATH: list what can be brought back."
    parser = Parser(prog="holdfast undelete", description=about)
    add_file_arguments(parser, is_optional=True)
    return run(parser.prog, _undelete(parser, parser.parse_args(words)))


async def _undelete(parser: Parser, given: Any) -> int:
    meant = await asked(parser, given, is_optional=True)
    if not given.path and not given.id:
        return meant.tell(await meant.call("list_deleted"), _show_all)
    outcome = await meant.call("undelete")
    is_unknown = not isinstance(outcome, Done) and outcome.error.code == NotFound.code
    return meant.tell(outcome, _show, next_step="'holdfast undelete' alone lists what can be brought back." if is_unknown else "")


def _show(told: dict[str, Any]) -> None:
    print(visible(f"{told['path'][1:]} is back"))


def _show_all(told: dict[str, Any]) -> None:
    if not told["files"]:
        print("nothing is deleted")
    for file in told["files"]:
        print(visible(f"{file['path'][1:]}{'/' if file['file_type'] == 'folder' else ''}  (--id {file['id']})"))
