"""holdfast user add: people who may sign in."""

import asyncio
import sys

from holdfast.app import add_user
from holdfast.config.settings import load_settings

from .parser import Parser


def main(words: list[str]) -> int:
    """Add a user."""
    parser = Parser(prog="holdfast user", description="People who may sign in.")
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="add a user")
    add.add_argument("email")
    add.add_argument("--name", default="", help="the full name")
    add.add_argument("--password-stdin", action="store_true", required=True, help="take the password from standard input")
    given = parser.parse_args(words)
    user = asyncio.run(add_user(load_settings(), given.email, sys.stdin.read().rstrip("\n"), given.name))
    print(f"added {user['email']} ({user['id']})")
    return 0
