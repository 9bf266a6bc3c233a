"""holdfast serve: a server for the project in this folder."""

import asyncio
import json
import logging
import secrets
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from holdfast.accounts.tokens import Tokens
from holdfast.app import Platform, token_secret
from holdfast.config.settings import Settings, load_settings
from holdfast.vocabulary.errors import InvalidSetting

from .parser import Parser, parse_mounts

_YEAR = 365 * 24 * 3600
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(words: list[str]) -> int:
    """Serve until it is stopped."""
    parser = Parser(prog="holdfast serve", description="Serve the project in a folder: REST under /api/v1, docs at /docs.")
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="the project's folder (default: the current one)")
    parser.add_argument("--host", help="where to listen (default: 127.0.0.1); a public one needs HOLDFAST_JWT_SECRET")
    parser.add_argument("--port", type=int, help="the port (default: 3000, or the next free one); 0 picks any")
    parser.add_argument("--profile", metavar="NAME", help="the profile of new sessions")
    parser.add_argument("--mount", action="append", default=[], metavar="NAME=DIR[:ro]", help="one more folder, as @NAME")
    parser.add_argument("--json", action="store_true", help="say the address and a token as one JSON line when ready")
    parser.add_argument("--no-open", action="store_true", help="accepted for scripts: no browser is opened in any case")
    parser.add_argument("--verbose", action="store_true", help="log every request")
    given = parser.parse_args(words)
    logging.basicConfig(level=logging.INFO if given.verbose else logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    settings = load_settings(Path(given.folder), given={"host": given.host, "port": given.port, "profile": given.profile})
    _check_public(settings)
    _run(_serve(Path(given.folder), settings, parse_mounts(parser, given.mount), as_json=given.json, chosen_port=given.port is not None))
    return 0


async def _serve(folder: Path, settings: Settings, mounts: dict[str, str], *, as_json: bool, chosen_port: bool) -> None:
    from holdfast.doors.http.build import build
    from holdfast.doors.http.door import Door
    from holdfast.doors.http.serve import listen, serve
    from holdfast.doors.http.settings import LOOPBACK, HttpSettings

    host = settings["host"]
    listening = listen(host, settings["port"], or_next=not chosen_port)
    port = listening.getsockname()[1]
    if port != settings["port"] and settings["port"] and not as_json:
        print(f"port {settings['port']} is taken, so this is {port}", file=sys.stderr)
    async with Platform.open(settings) as platform:
        workspace = await platform.ensure_workspace(folder)
        platform.mount_also(workspace.id, mounts)
        await platform.hold(workspace.id)
        tokens = Tokens(token_secret(settings), server=secrets.token_hex(16))
        user = await platform.local_user()
        bearer = tokens.issue(user.id, user.email, seconds=_YEAR, only_here=True)
        more: list[str] = settings["allowed_hosts"].casefold().split(",")
        hosts: frozenset[str] = frozenset({*LOOPBACK, host, *filter(None, more)})
        http = HttpSettings(hosts, settings["max_request_bytes"], settings["access_token_minutes"], is_public=host not in _LOOPBACK)
        door = Door(platform, tokens, http)
        once = secrets.token_urlsafe(24)
        door.one_time[once] = bearer
        base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        told = {"url": f"{base}/?token={once}", "token": bearer, "workspace_id": workspace.id, "user": user.email, "sandbox_tier": 0}
        await serve(build(door), listening, lambda: _say(told, base, folder, as_json=as_json))


def _say(told: dict[str, Any], base: str, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(told), flush=True)
        return
    address = f"{base}/api/v1/workspaces/{told['workspace_id']}/tools"
    print(f"Holdfast serves {folder.resolve()}\n\n  page   {told['url']}\n  docs   {base}/docs\n\nTry it:\n")
    print(f"  export TOKEN={told['token']}")
    for tool, arguments in (("ls", {}), ("write", {"path": "/hello.md", "content": "# Hello\n"}), ("read", {"path": "/hello.md"})):
        body = json.dumps({"tool": tool, "args": arguments})
        print(f"  curl -s {address} -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{body}'")
    print("\nStop it with Ctrl-C.", flush=True)


def _check_public(settings: Settings) -> None:
    if settings["host"] not in _LOOPBACK and settings["jwt_secret"] is None:
        hint = "Set HOLDFAST_JWT_SECRET to at least 32 bytes, such as the output of: openssl rand -hex 32"
        raise InvalidSetting("a public address needs a secret of its own", hint=hint)


def _run(serving: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(serving)
    else:
        uvloop.run(serving)
