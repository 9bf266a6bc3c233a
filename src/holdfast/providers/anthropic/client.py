"""Anthropic's models, over a connection that its SDK makes.

The SDK is handed a ready body: from typed parameters it would walk through
the whole conversation at every turn.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.providers import faults, prices
from holdfast.providers.addresses import checked, shown
from holdfast.providers.connection import Line, answer_to
from holdfast.providers.lazily import Lazily
from holdfast.providers.protocol import Model, Request
from holdfast.providers.retry import retried
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk

from .request import RequestWriter
from .stream import StreamReader

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-5-5"


class Anthropic:
    """Anthropic, or something that speaks like it at another address."""

    name = "anthropic"

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._url = checked(settings.anthropic_base_url or URL, "ANTHROPIC_BASE_URL")
        self._line = Line(self.name, self._url, settings)
        self._client = Lazily(self._make)
        self._writer = RequestWriter()

    async def models(self) -> list[Model]:
        """What it says it has; the default alone, not reachable, when it says nothing."""
        client = await self._client.get()
        from anthropic import AnthropicError

        try:
            async with asyncio.timeout(self._settings.patience.look_seconds):
                page = await client.models.list(limit=1000)
        except (TimeoutError, AnthropicError) as error:
            known = await self.model(DEFAULT_MODEL)
            return [replace(known, reachable=False, problem=faults.silence(error, shown(self._url)))]
        return [await self.model(each.id) for each in page.data]

    async def model(self, id: str) -> Model:
        """What the table knows of it; all of them take tools."""
        return Model(self.name, id, await prices.window(self.name, id))

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes."""
        body, names = self._writer.write(request)

        def attempt(_number: int) -> AsyncGenerator[Chunk]:
            reader = StreamReader(names, request.model, self._settings.secrets)
            return answer_to(self._post(body), reader, self._settings.patience)

        return retried(attempt, self._settings.retries)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._client.made is not None:
            await self._client.made.close()

    async def _post(self, body: bytes) -> "httpx2.Response":
        client = await self._client.get()
        import anthropic

        return await self._line.ask(anthropic, client, "/v1/messages", body, {})

    def _make(self) -> "AsyncAnthropic":
        import anthropic

        http = self._line.opened(anthropic)
        return anthropic.AsyncAnthropic(
            api_key=self._settings.anthropic_api_key or "none",
            base_url=self._url,
            max_retries=0,
            timeout=http.timeout,
            open_telemetry=False,
            http_client=http,
        )
