"""A server with all four providers configured, each at a server of ours that speaks its wire format; and what tests say to it."""

import json
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from tests.doors.http.talking import Line
from tests.providers.server import Asked, Play, Server
from tests.providers.server import serving as providing
from tests.providers.speakers import KEY, SPEAKERS, Speaker, Told
from tests.served import Served, serving

PROMPT = "/ws/prompt"
ADDRESSES = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "github-copilot": "HOLDFAST_COPILOT_URL",
    "ollama": "OLLAMA_HOST",
}
KEYS = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "HOLDFAST_COPILOT_TOKEN": KEY}
SHORT = """\
toolsets: [core]
tool_permissions:
  file_read: { allowed: true }
  web_search: { allowed: true }
limits:
  turns: 3
"""
CAREFUL = """\
toolsets: [core]
tool_permissions:
  file_read: { allowed: true }
trust: supervised
"""
SIMPLE = """\
model: MODEL
toolsets: [simple]
tool_permissions:
  read_file: { allowed: true }
  list_directory: { allowed: true }
"""
DONE = Told("All done.")


def calling(name: str, *more: tuple[str, Mapping[str, object]], text: str = "", **arguments: object) -> Told:
    """An answer that calls tools, each under a new id."""
    every = [(name, arguments), *more]
    return Told(text, calls=tuple((f"call_{uuid4().hex[:12]}", each, json.dumps(given)) for each, given in every))


@dataclass(frozen=True)
class Studio:
    """The server, and the servers that its providers speak to."""

    served: Served
    providers: dict[str, Server]
    rest: httpx.Client

    def play(self, speaker: Speaker, *told: Told | Play) -> None:
        """What the model answers from now on, one after the other."""
        server = self.providers[speaker.name]
        server.asked.clear()
        server.play(*(each if isinstance(each, Play) else speaker.play(each) for each in told))

    def say(self, it: Line, speaker: Speaker, *told: Told | Play, content: str = "go", **more: object) -> dict[str, Any]:
        """A whole turn of a session with the profile core; gives its end."""
        self.begin(it, speaker, *told, content=content, **more)
        return it.until("chat:stream-end")["payload"]

    def begin(self, it: Line, speaker: Speaker, *told: Told | Play, content: str = "go", **more: object) -> None:
        self.play(speaker, *told)
        it.say("chat:send", **{"content": content, "profile": "core", "model": f"{speaker.name}/some-model", **more})

    def asked(self, speaker: Speaker) -> list[Asked]:
        """What the provider was asked."""
        return self.providers[speaker.name].chats

    def prompt(self, it: Line, speaker: Speaker, *told: Told | Play, **more: object) -> dict[str, Any]:
        """A prompt to that provider's model; gives its end."""
        folder = self.served.home / "profiles"
        folder.mkdir(exist_ok=True)
        (folder / "simple.yaml").write_text(SIMPLE.replace("MODEL", f"{speaker.name}/some-model"), encoding="utf-8")
        self.play(speaker, *told)
        it.write({"type": "prompt", "text": "go", **more})
        return it.until("done", "error")

    def messages(self, session: str) -> list[dict[str, Any]]:
        return self.rest.get(f"/api/v1/workspaces/{self.served.workspace_id}/sessions/{session}/messages").json()


@contextmanager
def open_studio(folder: Path) -> Generator[Studio]:
    """One for as long as the block lasts."""
    profiles = folder / "home" / "profiles"
    profiles.mkdir(parents=True)
    for name, text in (("short", SHORT), ("careful", CAREFUL)):
        (profiles / f"{name}.yaml").write_text(text, encoding="utf-8")
    with ExitStack() as stack:
        providers = {speaker.name: stack.enter_context(providing(Play(()))) for speaker in SPEAKERS}
        for speaker in SPEAKERS:
            providers[speaker.name].fixed.update({"/models": Play.json({"data": []}), **speaker.fixed})
        environ = {ADDRESSES[name]: server.url for name, server in providers.items()}
        served = stack.enter_context(serving(folder, environ={**KEYS, **environ}))
        (served.project / "known.md").write_text("known\n", encoding="utf-8")
        yield Studio(served, providers, served.client())


def kinds(it: Line) -> list[str]:
    """What was told that is on record, in its order."""
    return [frame["type"].removeprefix("chat:") for frame in it.heard if "seq" in frame]


def offered(asked: Asked) -> list[str]:
    """The names of the tools in a request, in whichever form."""
    return [each.get("name") or each["function"]["name"] for each in asked.body.get("tools", [])]


def may_call(asked: Asked) -> bool:
    """Whether the model may call tools. Anthropic must be told of those that were called before, and that none may be now."""
    return bool(offered(asked)) and asked.body.get("tool_choice") != {"type": "none"}
