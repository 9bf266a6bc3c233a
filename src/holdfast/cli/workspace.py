"""holdfast workspace: make workspaces, and let people in."""

import asyncio
import json
from pathlib import Path

from holdfast.app import add_member, create_workspace
from holdfast.config.settings import load_settings

from .parser import Parser, parse_mounts


def main(words: list[str]) -> int:
    """Make a workspace, or add a member."""
    parser = Parser(prog="holdfast workspace", description="Workspaces and their members.")
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create", help="make a workspace over a folder")
    create.add_argument("folder", metavar="DIR")
    create.add_argument("--name", default="")
    create.add_argument("--owner", metavar="EMAIL", help="who owns it (default: the local user)")
    create.add_argument("--mount", action="append", default=[], metavar="NAME=DIR[:ro]")
    create.add_argument("--json", action="store_true")
    member = actions.add_parser("member", help="let people in")
    members = member.add_subparsers(dest="member_action", required=True)
    add = members.add_parser("add", help="add a member, or change a role")
    add.add_argument("id", metavar="ID")
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--role", choices=("owner", "member"), default="member")
    given = parser.parse_args(words)
    settings = load_settings()
    if given.action == "member":
        added = asyncio.run(add_member(settings, given.id, given.email, given.role))
        print(f"{added['email']} is {added['role']} of {added['workspace_id']}")
        return 0
    mounts = parse_mounts(parser, given.mount)
    made = asyncio.run(create_workspace(settings, Path(given.folder), name=given.name, owner=given.owner, mounts=mounts))
    print(json.dumps(made) if given.json else f"made {made['name']} ({made['id']}) over {made['root']}")
    return 0
