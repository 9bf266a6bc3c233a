"""What a server says to the person who started it: where it is, who answers, and lines to try."""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.app.models import Choice
from holdfast.vocabulary.finding import Finding

_TOUR = "show me around"


def welcome(told: Mapping[str, Any], base: str, folder: Path, missing: Sequence[Finding], chosen: Choice) -> None:
    """Say it; every line to try can be pasted into another terminal as it is."""
    workspace = told["workspace_id"]
    print(f"Holdfast serves {folder.resolve()}\n\n  page   {told['url']}\n  docs   {base}/docs\n  model  {chosen.ref}: {chosen.reason}\n")
    print(f"Talk to the model, in another terminal:\n\n  {_run_line(folder)}\n")
    socket = f"{base.replace('http', 'ws', 1)}/ws/chat?workspace={workspace}&token=$TOKEN"
    sent = json.dumps({"type": "chat:send", "payload": {"content": _TOUR}})
    print(f"Or over a WebSocket, and over REST:\n\n  export TOKEN={told['token']}")
    print(f'  {shlex.quote(sys.executable)} -m websockets "{socket}"\n    and then type: {sent}')
    for tool, arguments in (("ls", {}), ("write", {"path": "/hello.md", "content": "# Hello\n"}), ("read", {"path": "/hello.md"})):
        body = json.dumps({"tool": tool, "args": arguments})
        address = f"{base}/api/v1/workspaces/{workspace}/tools"
        print(f"  curl -s {address} -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{body}'")
    for lack in missing:
        print(f"\nCommands (bash) are not offered: {lack.detail}.\n  → {lack.fix}")
    print("\nStop it with Ctrl-C.", flush=True)


def _run_line(folder: Path) -> str:
    """`holdfast run` for this server, from wherever it is typed."""
    home = os.environ.get("HOLDFAST_HOME")
    before = f"HOLDFAST_HOME={shlex.quote(str(Path(home).absolute()))} " if home else ""
    return f"{before}{_command()} run --project {shlex.quote(str(folder.resolve()))} {shlex.quote(_TOUR)}"


def _command() -> str:
    """Holdfast as whoever started this can call it anywhere."""
    said = Path(sys.argv[0])
    if said.name == "holdfast":
        return shlex.quote(str(said.absolute()))
    return f"{shlex.quote(sys.executable)} -m holdfast"
