"""Copilot's models. It is not an official interface: the headers are what public clients send."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, cast

from holdfast import __version__
from holdfast.providers import prices
from holdfast.providers.addresses import checked
from holdfast.providers.completions.client import Completions, Server
from holdfast.providers.protocol import Model, Request
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk
from holdfast.vocabulary.messages import Message, UserMessage

URL = "https://api.githubcopilot.com"
DEFAULT_MODEL = "gpt-5.5"
HEADERS = {
    "User-Agent": f"holdfast/{__version__}",
    "Editor-Version": f"holdfast/{__version__}",
    "Copilot-Integration-Id": "vscode-chat",
    "Openai-Intent": "conversation-edits",
}


class Copilot:
    """GitHub Copilot."""

    name = "github-copilot"

    def __init__(self, settings: ProviderSettings) -> None:
        url = checked(settings.copilot_url or URL, "HOLDFAST_COPILOT_URL")
        server = Server(self.name, url, settings.copilot_token or "none", merged(HEADERS, settings.copilot_headers))
        self._completions = Completions(server, settings)

    async def models(self) -> list[Model]:
        """What it says it has and can chat; the default alone, not reachable, when it says nothing."""
        told = await self._completions.listed()
        if told is None:
            window = await prices.window(self.name, DEFAULT_MODEL)
            return [Model(self.name, DEFAULT_MODEL, window, reachable=False, problem=self._completions.problem)]
        return [_model(each) for each in told if _capabilities(each).get("type", "chat") == "chat"]

    async def model(self, id: str) -> Model:
        """What it says of the model, or else what the table knows."""
        known = {model.id: model for model in await self.models()}
        return known.get(id) or Model(self.name, id, await prices.window(self.name, id))

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes."""
        more = {} if request.max_tokens is None else {"max_tokens": request.max_tokens}
        return self._completions.stream(request, more, {"x-initiator": initiator(request.messages)})

    async def close(self) -> None:
        """Let go of its connections."""
        await self._completions.close()


def initiator(messages: Sequence[Message]) -> str:
    """Who the request is counted for: the person who has just spoken, or the agent that goes on."""
    return "user" if messages and isinstance(messages[-1], UserMessage) else "agent"


def merged(defaults: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """The headers, configured ones before defaults, whatever their case; the key and the initiator are never configured."""
    said = {name.casefold() for name in configured} | {"authorization", "x-initiator"}
    kept = {name: value for name, value in defaults.items() if name.casefold() not in said}
    return {**kept, **{name: value for name, value in configured.items() if name.casefold() not in ("authorization", "x-initiator")}}


def _model(told: dict[str, Any]) -> Model:
    match _capabilities(told):
        case {"limits": {"max_context_window_tokens": int(window)}}:
            pass
        case _:
            window = None
    match _capabilities(told):
        case {"supports": {"tool_calls": bool(takes_tools)}}:
            pass
        case {"supports": _}:
            takes_tools = False
        case _:
            takes_tools = True
    return Model("github-copilot", str(told["id"]), window, takes_tools)


def _capabilities(told: dict[str, Any]) -> dict[str, Any]:
    said: Any = told.get("capabilities")
    return cast("dict[str, Any]", said) if isinstance(said, dict) else {}
