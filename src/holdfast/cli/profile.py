"""holdfast profile: which profiles there are, what they say, and what is wrong with them."""

import json
from pathlib import Path

from holdfast.app import list_tools, profile_folders
from holdfast.config.profile_document import as_document, as_yaml
from holdfast.config.profiles import Listed, ProfileFolders, origin_of, read_file
from holdfast.vocabulary.errors import InvalidSetting
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.profile import Origin

from .parser import Parser
from .visible import visible, visible_json, visible_line

_WHOSE = {Origin.PERSON: "yours", Origin.SHIPPED: "shipped", Origin.PROJECT: "the project's"}


def main(words: list[str]) -> int:
    """List the profiles, show one, or check them; leave with 1 when there are mistakes."""
    parser = Parser(prog="holdfast profile", description="Profiles: which there are, what they say, and what is wrong with them.")
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="which profiles there are, and whose")
    showing = actions.add_parser("show", help="what a profile says, as the file that would say it")
    showing.add_argument("name", metavar="NAME")
    checking = actions.add_parser("check", help="look for mistakes, in one profile or in all that there are")
    checking.add_argument("which", nargs="?", metavar="FILE|NAME")
    for action in (listing, showing, checking):
        action.add_argument("--project", default=".", metavar="DIR", help="the project's folder (default: the current one)")
    for action in (listing, showing):
        action.add_argument("--json", action="store_true", help="print it as JSON")
    given = parser.parse_args(words)
    folders = profile_folders(Path(given.project))
    match given.action:
        case "list":
            return _list(folders, as_json=given.json)
        case "show":
            return _show(folders, given.name, as_json=given.json)
        case _:
            return _check(folders, given.which)


def _list(folders: ProfileFolders, *, as_json: bool) -> int:
    every = folders.every()
    if as_json:
        print(visible_json([_told(each) for each in every]))
        return 0
    for each in every:
        note = _hidden(each) or (each.profile.description if each.profile else "has mistakes: see `holdfast profile check`")
        print(visible_line(f"{each.name:<16} {_WHOSE[each.origin]:<14} {note}".rstrip()))
    return 0


def _told(each: Listed) -> dict[str, object]:
    problems: Json = []
    if each.problem is not None:
        problems = each.problem.facts.get("mistakes", [str(each.problem)])
    told: dict[str, object] = {"name": each.name, "origin": each.origin.value, "file": str(each.file) if each.file else None}
    told.update(description=each.profile.description if each.profile else "", mistakes=problems)
    return {**told, "hidden_by": each.hidden_by.value if each.hidden_by else None}


def _show(folders: ProfileFolders, name: str, *, as_json: bool) -> int:
    profile = folders.find(name)
    if as_json:
        tools = [tool.name for tool in list_tools(profile)]
        says = as_document(profile, folders.known)
        print(json.dumps({"name": profile.name, "origin": profile.origin.value, "tools": tools, "profile": says}, indent=2))
    else:
        print(visible(as_yaml(profile, folders.known)), end="")
    return 0


def _check(folders: ProfileFolders, which: str | None) -> int:
    if which is not None:
        return _verdict(_meant(folders, which))
    files = [each for each in folders.every() if each.file is not None]
    if not files:
        print("there are no profiles but the shipped ones")
    return max(map(_verdict, files), default=0)


def _meant(folders: ProfileFolders, which: str) -> Listed:
    """A file when it is written like one, otherwise the profile of that name."""
    if "/" not in which and not which.endswith(".yaml"):
        named = next((each for each in folders.every() if each.name == which), None)
        # Where there is none, this says so.
        return named or Listed(which, Origin.SHIPPED, None, folders.find(which))
    file = Path(which)
    try:
        return Listed(file.stem, origin_of(file), file, read_file(file, origin_of(file), folders.known))
    except InvalidSetting as error:
        return Listed(file.stem, origin_of(file), file, problem=error)


def _verdict(each: Listed) -> int:
    if each.problem is None:
        print(visible_line(f"ok       {each.name:<16} {_WHOSE[each.origin]:<14} {_hidden(each)}".rstrip()))
        return 0
    print(visible(f"MISTAKES {each.problem}"))
    return 1


def _hidden(each: Listed) -> str:
    if each.hidden_by is None:
        return ""
    return f"not used, because {'you have one' if each.hidden_by is Origin.PERSON else 'there is a shipped one'} of that name"
