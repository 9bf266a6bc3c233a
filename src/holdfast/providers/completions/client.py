"""Chat completions over a connection that OpenAI's SDK makes.

The SDK is handed a ready body: from typed parameters it would walk through
the whole conversation at every turn.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from holdfast.providers import faults
from holdfast.providers.addresses import shown
from holdfast.providers.connection import Line, answer_to
from holdfast.providers.lazily import Lazily
from holdfast.providers.protocol import Request
from holdfast.providers.retry import retried
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk
from holdfast.vocabulary.json import Json

from .request import RequestWriter
from .stream import StreamReader

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI


@dataclass(frozen=True)
class Server:
    """Who is spoken to, where, and with which key. `headers` go with everything."""

    provider: str
    url: str
    key: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class Completions:
    """One server that speaks chat completions."""

    def __init__(self, server: Server, settings: ProviderSettings) -> None:
        self._server = server
        self._settings = settings
        self._line = Line(server.provider, server.url, settings)
        self._client = Lazily(self._make)
        self._writer = RequestWriter()
        self.problem = ""

    async def listed(self) -> list[dict[str, Any]] | None:
        """The models as the server tells of them; None when it does not, and `problem` is why."""
        client = await self._client.get()
        import httpx2
        from openai import OpenAIError

        try:
            async with asyncio.timeout(self._settings.patience.look_seconds):
                response = await client.get("/models", cast_to=httpx2.Response)
                said: Any = response.json()
        except (TimeoutError, OpenAIError, httpx2.HTTPError, ValueError) as error:
            self.problem = faults.silence(error, shown(self._server.url))
            return None
        rows = cast("dict[str, Any]", said).get("data") if isinstance(said, dict) else said
        every = cast("list[Any]", rows) if isinstance(rows, list) else []
        return [row for row in every if isinstance(row, dict) and isinstance(cast("dict[str, Any]", row).get("id"), str)]

    def stream(self, request: Request, more: Mapping[str, Json], headers: Mapping[str, str]) -> AsyncGenerator[Chunk]:
        """The answer, as it comes; `headers` go with this request alone."""
        body, names = self._writer.write(request, more)

        def attempt(_number: int) -> AsyncGenerator[Chunk]:
            reader = StreamReader(self._server.provider, names, request.model, self._secrets)
            return answer_to(self._post(body, headers), reader, self._settings.patience)

        return retried(attempt, self._settings.retries)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._client.made is not None:
            await self._client.made.close()

    @property
    def _secrets(self) -> tuple[str, ...]:
        return self._settings.secrets

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> "httpx2.Response":
        client = await self._client.get()
        import openai

        return await self._line.ask(openai, client, "/chat/completions", body, headers)

    def _make(self) -> "AsyncOpenAI":
        import openai

        http = self._line.opened(openai)
        return openai.AsyncOpenAI(
            api_key=self._server.key,
            base_url=self._server.url,
            max_retries=0,
            timeout=http.timeout,
            default_headers=dict(self._server.headers),
            http_client=http,
        )
