"""What the commands about versions share: which file is meant, the call that it takes, and how its outcome is told."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from holdfast.app import Holdfast, find_projects
from holdfast.config.settings import load_settings
from holdfast.vocabulary.errors import HoldfastError, NotFound, Outside
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome, Refused

from .parser import Parser
from .visible import visible, visible_json


@dataclass(frozen=True)
class Asked:
    """The file that somebody means, as each project names it that it may be in, the likeliest first."""

    command: str
    candidates: Sequence[tuple[Path, dict[str, Json]]]
    as_json: bool

    async def call(self, tool: str, **arguments: Json) -> Outcome:
        """Call a tool for the file in the first project that knows it, or else in the likeliest; what is None is left out."""
        outcomes: list[Outcome] = []
        for project, file in self.candidates:
            given = {name: value for name, value in {**file, **arguments}.items() if value is not None}
            async with Holdfast.open(project) as holdfast:
                outcome = await holdfast.call(tool, **given)
            if isinstance(outcome, Done) or outcome.error.code != NotFound.code:
                return outcome
            outcomes.append(outcome)
        return outcomes[0]

    def tell(self, outcome: Outcome, show: Callable[[dict[str, Any]], None], *, next_step: str = "") -> int:
        """Show what came of it, and return the exit code: 0 when it is done, 1 when it failed, 2 when it was refused."""
        if self.as_json:
            code = None if isinstance(outcome, Done) else outcome.error.code
            told = {"outcome": type(outcome).__name__.lower(), "code": code, "result": outcome.answer.body}
            print(visible_json(told))
        elif isinstance(outcome, Done):
            show(cast("dict[str, dict[str, Any]]", outcome.answer.body)["result"])
        else:
            complain(self.command, outcome.error, next_step)
        return 0 if isinstance(outcome, Done) else 2 if isinstance(outcome, Refused) else 1


def run(command: str, work: Coroutine[Any, Any, int]) -> int:
    """Do what was asked; a path that is not in the project is refused, as a tool would refuse it."""
    try:
        return asyncio.run(work)
    except Outside as error:
        complain(command, error)
        return 2


def add_file_arguments(parser: argparse.ArgumentParser, *, is_optional: bool = False) -> None:
    """Which file is meant, and how the answer is told."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="the file, as you would name it here" + (" (or --id)" * (not is_optional)))
    parser.add_argument("--id", metavar="ID", help="the file by its id, as --json shows it, when several had the same path")
    parser.add_argument("--project", metavar="DIR", help="the project's folder (default: the one that the file is in)")
    parser.add_argument("--json", action="store_true", help="print outcome, code and result as JSON")


async def asked(parser: Parser, given: Any, *, is_optional: bool = False) -> Asked:
    """What somebody asked for.

    Raises:
        NotFound: There is no project here.
        Outside: The path is not in it.
    """
    if given.path and given.id:
        parser.error("name the file by PATH or by --id, not both")
    if not given.path and not given.id and not is_optional:
        parser.error("name the file: PATH, or --id")
    if given.project and not Path(given.project).is_dir():
        raise NotFound(f"there is no project folder {given.project}", hint="Name another.")
    projects = [Path(given.project)] if given.project else await _projects(given.path)
    if not given.path:
        file: dict[str, Json] = {"file_id": given.id} if given.id else {}
        return Asked(parser.prog, [(project, file) for project in projects], given.json)
    candidates: list[tuple[Path, dict[str, Json]]] = [
        (project, {"path": f"/{inside}"}) for project in projects if (inside := _inside(project, given.path)) is not None
    ]
    if not candidates and given.project and (inside := _inside(projects[0], str(projects[0] / given.path))) is not None:
        # Elsewhere, with the project named, it can only be meant from there.
        candidates.append((projects[0], {"path": f"/{inside}"}))
    if not candidates:
        raise Outside(f"'{given.path}' is outside the project {projects[0]}", hint="Name its project by --project.", path=given.path)
    return Asked(parser.prog, candidates, given.json)


def complain(command: str, error: HoldfastError, next_step: str = "") -> None:
    """Say on standard error what went wrong, and what to do."""
    told = f"{error.message}. {next_step}" if next_step else str(error)
    print(visible(f"{command}: {told}"), file=sys.stderr)


def is_colourful() -> bool:
    """Whether somebody looks at standard output who wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


async def _projects(path: str | None) -> list[Path]:
    """The projects that we are in, the nearest first, and then those that the file is in."""
    settings, here = load_settings(), Path.cwd()
    found = await find_projects(settings, here)
    if path is not None:
        found += await find_projects(settings, Path(os.path.abspath(path)).parent)
    if not found:
        hint = "Go to a folder where Holdfast was used, or name it by --project."
        raise NotFound(f"no project of Holdfast is in or above {here}", hint=hint)
    return list(dict.fromkeys(found))


def _inside(project: Path, path: str) -> str | None:
    """The path counted from the project, when it lies there as it is written, or as its folder really is."""
    written = os.path.abspath(path)
    really = os.path.join(os.path.realpath(os.path.dirname(written)), os.path.basename(written))
    for root in dict.fromkeys((os.path.abspath(project), os.path.realpath(project))):
        for each in (written, really):
            if each == root or each.startswith(root.rstrip("/") + "/"):
                return os.path.relpath(each, root) if each != root else ""
    return None
