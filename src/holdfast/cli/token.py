"""holdfast token create: a bearer token for a user."""

import asyncio
import re

from holdfast.app import create_token
from holdfast.config.settings import load_settings

from .parser import Parser

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def main(words: list[str]) -> int:
    """Print a token."""
    parser = Parser(prog="holdfast token", description="Bearer tokens.")
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create", help="print a token for a user")
    create.add_argument("--user", required=True, metavar="EMAIL")
    create.add_argument("--scope", action="append", metavar="S", help="only this, such as tools:dangerous (default: all that the user has)")
    create.add_argument("--ttl", metavar="15m", help="how long it is good: a number with s, m, h or d (default: as configured, 15m)")
    given = parser.parse_args(words)
    settings = load_settings()
    text = given.ttl or f"{settings['access_token_minutes']}m"
    if (found := re.fullmatch(r"(\d+)([smhd])", text)) is None:
        parser.error(f"--ttl {text}: write a number with s, m, h or d, such as 15m")
    print(asyncio.run(create_token(settings, given.user, seconds=int(found[1]) * _UNITS[found[2]], scopes=given.scope)))
    return 0
