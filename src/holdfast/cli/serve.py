"""holdfast serve: a server for the project in this folder."""

import asyncio
import json
import secrets
import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.accounts.tokens import Tokens
from holdfast.app import Platform, profile_folders, token_secret
from holdfast.app.demo import DEMO_MODEL, demo_project
from holdfast.app.memory import collect_less_often
from holdfast.app.models import check_model, choose_model, script_of
from holdfast.config.settings import Settings, load_settings
from holdfast.vocabulary.errors import Busy, InvalidSetting, NotFound

from .parser import Parser, parse_mounts
from .welcome import welcome

_YEAR = 365 * 24 * 3600
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(words: list[str]) -> int:
    """Serve until it is stopped."""
    about = "Serve the project in a folder: REST under /api/v1, WebSockets at /ws/chat and /ws/prompt, docs at /docs."
    parser = Parser(prog="holdfast serve", description=about)
    parser.add_argument("folder", nargs="?", metavar="DIR", help="the project's folder (default: the current one; with --demo a sample)")
    parser.add_argument("--host", help="where to listen (default: 127.0.0.1); a public one needs HOLDFAST_JWT_SECRET")
    parser.add_argument("--port", type=int, help="the port (default: 3000, or the next free one); 0 picks any")
    parser.add_argument("--profile", metavar="NAME", help="the profile of new sessions")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--model", metavar="PROVIDER/NAME", help="the model that is used unless a profile or a message names another")
    chosen.add_argument("--demo", action="store_true", help="let a script play the model: no key and no network")
    parser.add_argument("--trust", metavar="T", help="the trust of new sessions: supervised, guided or autonomous")
    parser.add_argument("--mount", action="append", default=[], metavar="NAME=DIR[:ro]", help="one more folder, as @NAME")
    parser.add_argument("--json", action="store_true", help="say the address and a token as one JSON line when ready")
    parser.add_argument("--no-open", action="store_true", help="accepted for scripts: no browser is opened in any case")
    parser.add_argument("--verbose", action="store_true", help="log every request, also to a terminal")
    given = parser.parse_args(words)
    folder, mounts = _folder(given), parse_mounts(parser, given.mount)
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", hint="Create it, or name another.")
    said = {name: getattr(given, name) for name in ("host", "port", "profile", "model", "trust")}
    script = script_of(given.model or "")
    model = DEMO_MODEL if given.demo else f"scripted/{script[0]}" if script else given.model
    settings = load_settings(folder, given={**said, "model": model})
    _check_public(settings)
    # What is wrong with profile and model is said now, and not to whoever first says something.
    profile_folders(folder, home=settings.home).find(settings["profile"])
    check_model(settings)
    from holdfast.doors.http.logs import logs_to

    with logs_to(sys.stderr, verbose=given.verbose):
        _run(_serve(folder, settings, mounts, as_json=given.json, chosen_port=given.port is not None))
    return 0


async def _serve(folder: Path, settings: Settings, mounts: dict[str, str], *, as_json: bool, chosen_port: bool) -> None:
    from holdfast.doors.http.build import build
    from holdfast.doors.http.door import Door
    from holdfast.doors.http.serve import listen, serve
    from holdfast.doors.http.settings import LOOPBACK, HttpSettings

    host, tokens = settings["host"], Tokens(token_secret(settings), server=secrets.token_hex(16))
    listening = listen(host, settings["port"], or_next=not chosen_port)
    port = listening.getsockname()[1]
    if port != settings["port"] and settings["port"]:
        print(f"port {settings['port']} is taken, so this is {port}", file=sys.stderr)
    async with AsyncExitStack() as stack:
        stack.enter_context(listening)
        platform = await stack.enter_async_context(Platform.open(settings))
        workspace = await platform.ensure_workspace(folder)
        platform.mount_also(workspace.id, mounts)
        if (script := script_of(settings["model"] or "")) is not None:
            platform.providers.play(*script)
        is_held = await _hold(platform, workspace.id, mounts)
        # Found out while the rest is being made ready.
        lacks = asyncio.create_task(platform.sandbox_lacks(workspace.id))
        choosing = None if as_json or not is_held else asyncio.create_task(choose_model(platform.providers, settings))
        user = await platform.local_user()
        bearer = tokens.issue(user.id, user.email, seconds=_YEAR, only_here=True)
        more: list[str] = settings["allowed_hosts"].casefold().split(",")
        hosts: frozenset[str] = frozenset({*LOOPBACK, host, *filter(None, more)})
        http = HttpSettings(hosts, settings["max_request_bytes"], settings["access_token_minutes"], is_public=host not in _LOOPBACK)
        door = Door(platform, tokens, http)
        once = secrets.token_urlsafe(24)
        door.one_time[once] = bearer
        base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        app = build(door)
        missing, chosen = await lacks, await choosing if choosing is not None else None
        told: dict[str, Any] = {"url": f"{base}/?token={once}", "token": bearer, "workspace_id": workspace.id, "user": user.email}
        told["sandbox_tier"] = 0 if missing else 1
        collect_less_often()
        say = partial(_tell, told) if as_json else partial(welcome, told, base, folder, missing, chosen)
        await serve(app, listening, on_ready=say, on_stop=platform.stop_waiting)


async def _hold(platform: Platform, workspace_id: str, mounts: dict[str, str]) -> bool:
    """Take the workspace now, so that it is ready; when another process has it, calls are passed on there, and it is False."""
    try:
        await platform.take_up(workspace_id)
    except Busy:
        if mounts:
            raise
        print("another process holds this folder's workspace, so calls are passed on to it", file=sys.stderr)
        return False
    return True


def _tell(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def _folder(given: Any) -> Path:
    if given.demo and given.folder is None:
        folder = demo_project()
        print(f"the demo works on a sample project in {folder}", file=sys.stderr)
        return folder
    return Path(given.folder or ".")


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
