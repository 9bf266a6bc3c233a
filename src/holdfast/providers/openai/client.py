"""OpenAI's models, or those of any compatible server by its address."""

import re
from collections.abc import AsyncGenerator

from holdfast.providers import prices
from holdfast.providers.addresses import checked
from holdfast.providers.completions.client import Completions, Server
from holdfast.providers.protocol import Model, Request
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk
from holdfast.vocabulary.json import Json

URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-5.5"
_NOT_FOR_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|moderation|image|audio|realtime|transcri|sora|davinci|babbage|instruct|live|computer-use", re.IGNORECASE
)


class OpenAI:
    """OpenAI, or something that speaks like it at another address."""

    name = "openai"

    def __init__(self, settings: ProviderSettings) -> None:
        url = checked(settings.openai_base_url or URL, "OPENAI_BASE_URL")
        self._is_itself = url == URL
        self._completions = Completions(Server(self.name, url, settings.openai_api_key or "none"), settings)

    async def models(self) -> list[Model]:
        """What it says it has and can chat; the default alone, not reachable, when it says nothing."""
        told = await self._completions.listed()
        if told is None:
            window = await prices.window(self.name, DEFAULT_MODEL)
            return [Model(self.name, DEFAULT_MODEL, window, reachable=False, problem=self._completions.problem)]
        every = [(str(each["id"]), each) for each in told]
        chatting = [(id, each) for id, each in every if not (self._is_itself and _NOT_FOR_CHAT.search(id))]
        return [Model(self.name, id, _said_window(each) or await prices.window(self.name, id)) for id, each in chatting]

    async def model(self, id: str) -> Model:
        """What the table knows of it; whether it takes tools nobody says, so it is taken to."""
        return Model(self.name, id, await prices.window(self.name, id))

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes."""
        return self._completions.stream(request, self._more(request), {})

    async def close(self) -> None:
        """Let go of its connections."""
        await self._completions.close()

    def _more(self, request: Request) -> dict[str, Json]:
        """What only OpenAI itself takes, or takes by another name."""
        more: dict[str, Json] = {}
        if request.max_tokens is not None:
            more["max_completion_tokens" if self._is_itself else "max_tokens"] = request.max_tokens
        if self._is_itself and request.cache_key:
            more["prompt_cache_key"] = request.cache_key
        return more


def _said_window(model: dict[str, object]) -> int | None:
    """The window that compatible servers tell of, each by its own name."""
    for name in ("context_window", "context_length", "max_model_len"):
        if isinstance(size := model.get(name), int) and size > 0:
            return size
    return None
