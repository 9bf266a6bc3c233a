"""holdfast sessions: conversations with models: which there are, what was said, and how they are called."""

import argparse
import asyncio
import json
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from holdfast.app import Platform, find_projects
from holdfast.app.talk import SessionChange
from holdfast.app.transcripts import Said, list_sessions, read_session
from holdfast.config.settings import load_settings
from holdfast.vocabulary.errors import HoldfastError, NotFound
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.messages import AssistantMessage, ToolMessage, UserMessage

from .again import typed
from .parser import Parser
from .versions import complain, is_colourful
from .visible import visible, visible_json, visible_line
from .watcher import summary

_MAX_RESULT_LINES = 12


def main(words: list[str]) -> int:
    """List the sessions of a project, show one, rename it or delete it; leave with 1 when there is no such."""
    about = "Conversations with models in this project: list them, show what was said, rename and delete them."
    parser = Parser(prog="holdfast sessions", description=about)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="which there are, the last used first (also without an action)")
    showing = actions.add_parser("show", help="what was said in one")
    renaming = actions.add_parser("rename", help="give one another title")
    deleting = actions.add_parser("delete", help="let nobody find one any more; what it did to files stays in their history")
    for action in (showing, renaming, deleting):
        action.add_argument("id", metavar="ID")
    renaming.add_argument("title", metavar="TITLE")
    _add_common(parser, is_first=True)
    for action in (listing, showing, renaming, deleting):
        _add_common(action)
    given = parser.parse_args(words)
    try:
        return asyncio.run(_do(given))
    except HoldfastError as error:
        complain(parser.prog, error)
        return 1


def _add_common(parser: argparse.ArgumentParser, *, is_first: bool = False) -> None:
    # What was said before the action must not be forgotten by it.
    unsaid: Any = None if is_first else argparse.SUPPRESS
    parser.add_argument("--project", metavar="DIR", default=unsaid, help="the project's folder (default: the one that we are in)")
    parser.add_argument("--json", action="store_true", default=False if is_first else unsaid, help="print it as JSON")


async def _do(given: Any) -> int:
    project = Path(given.project) if given.project else await _project()
    settings = load_settings(project)
    match given.action:
        case "show":
            session, said = await read_session(settings, project, given.id)
            _show(session, said, project, as_json=given.json)
        case "rename" | "delete":
            await list_sessions(settings, project, limit=1)  # which says so when nobody ever talked there
            change = SessionChange(title=given.title) if given.action == "rename" else SessionChange(delete=True)
            async with Platform.open(settings) as platform:
                workspace = await platform.ensure_workspace(project)
                await platform.change_session(workspace.id, given.id, change)
            done = f"is now called {given.title}" if given.action == "rename" else "is deleted"
            print(visible_json({"id": given.id, "done": given.action}) if given.json else visible_line(f"{given.id} {done}"))
        case _:
            _list(await list_sessions(settings, project), as_json=given.json)
    return 0


async def _project() -> Path:
    found = await find_projects(load_settings(), Path.cwd())
    if not found:
        hint = 'Begin a session: holdfast run "…". Or name the project by --project.'
        raise NotFound(f"no project of Holdfast is in or above {Path.cwd()}", hint=hint)
    return found[0]


def _list(every: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(every, indent=2, ensure_ascii=False))
        return
    if not every:
        print('there are none yet; begin one: holdfast run "…"')
    wide = shutil.get_terminal_size().columns
    for each in every:
        when = _moment(each["updated_at"])
        line = f"{each['id']:<36}  {when}  {each['state']:<7}  {each['profile']:<8} {each['trust']:<10}  {each['title']}"
        print(visible_line(line)[: max(wide, 100)].rstrip())


def _show(session: dict[str, Any], said: Sequence[Said], project: Path, *, as_json: bool) -> None:
    if as_json:
        told: list[dict[str, Json]] = [
            {"role": each.message.role, "content": each.message.text, "at": each.at, **_calls(each)} for each in said
        ]
        print(json.dumps({**session, "messages": told}, indent=2, ensure_ascii=False))
        return
    print(_bold(visible_line(session["title"] or session["id"])))
    facts = (session["id"], session["profile"], session["trust"], session["mode"], session["state"], _moment(session["updated_at"]))
    print(visible_line(" · ".join(facts)))
    for each in said:
        _show_message(each)
    print("\n" + visible_line(f'go on: {typed(["run", "--project", str(project.resolve()), "--session", session["id"]])} "…"'))


def _show_message(each: Said) -> None:
    match each.message:
        case UserMessage(is_note=True):
            print(f"· {visible_line(each.message.text)}")
        case UserMessage():
            print(f"\n{_bold('> ' + visible(each.message.text))}")
        case AssistantMessage():
            if each.message.text:
                print(f"\n{visible(each.message.text)}")
            for call in each.message.calls:
                print(f"▸ {visible_line(call.name)} {_arguments(call.arguments)}")
        case ToolMessage():
            lines = visible(_readable(each.message.text)).splitlines()
            for line in lines[:_MAX_RESULT_LINES]:
                print(f"  {'✗ ' if each.message.is_error else ''}{line[:200]}")
            if len(lines) > _MAX_RESULT_LINES:
                print(f"  … and {len(lines) - _MAX_RESULT_LINES} more lines")
        case _:
            pass


def _calls(each: Said) -> dict[str, Json]:
    if not isinstance(each.message, AssistantMessage) or not each.message.calls:
        return {}
    return {"calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in each.message.calls]}


def _readable(result: str) -> str:
    """A result as a person wants it: of an answer in JSON, the content, the error, or what else there is of the result."""
    try:
        said: Any = json.loads(result)
    except ValueError:
        return result
    match said:
        case {"success": True, "result": {"content": str(content)}}:
            return content
        case {"success": True, "result": rest}:
            return json.dumps(rest, ensure_ascii=False)
        case {"error": str(error)}:
            return error
        case _:
            return result


def _arguments(text: str) -> str:
    try:
        return summary(json.loads(text))
    except ValueError:
        return visible_line(text)[:200]


def _moment(text: str) -> str:
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if is_colourful() else text
