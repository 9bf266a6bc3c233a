"""What a server says to the person who started it: where it is, who answers, and lines to try."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.app.demo import TOUR
from holdfast.app.models import Choice
from holdfast.vocabulary.finding import Finding

from .again import typed


def welcome(told: Mapping[str, Any], base: str, folder: Path, missing: Sequence[Finding], chosen: Choice | None) -> None:
    """Say it; every line to try can be pasted into another terminal as it is. Without a model, agents are another process's here."""
    address = f"{base}/api/v1/workspaces/{told['workspace_id']}/tools"
    print(f"Holdfast serves {folder.resolve()}\n\n  page   {told['url']}\n  docs   {base}/docs")
    print(f"  model  {chosen.ref}: {chosen.reason}" if chosen else "  model  the one of the process that holds the workspace")
    print(f"\nTalk to the model, in another terminal:\n\n  {typed(['run', '--project', str(folder.resolve()), TOUR])}")
    if chosen is not None:
        print(f"\nOr over a WebSocket, where you type what you send:\n\n  export TOKEN={told['token']}\n  {_socket_line(told, base)}")
        print(f"  {json.dumps({'type': 'chat:send', 'payload': {'content': TOUR}})}")
    print("\nCall tools over REST:\n" + ("" if chosen else f"\n  export TOKEN={told['token']}"))
    for tool, arguments in (("ls", {}), ("write", {"path": "/hello.md", "content": "# Hello\n"}), ("read", {"path": "/hello.md"})):
        body = json.dumps({"tool": tool, "args": arguments})
        print(f"  curl -s {address} -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{body}'")
    for lack in missing:
        print(f"\nCommands (bash) are not offered: {lack.detail}.\n  → {lack.fix}")
    print("\nStop it with Ctrl-C.", flush=True)


def _socket_line(told: Mapping[str, Any], base: str) -> str:
    address = f"{base.replace('http', 'ws', 1)}/ws/chat?workspace={told['workspace_id']}&token=$TOKEN"
    return f'{shlex.quote(sys.executable)} -m websockets "{address}"'
