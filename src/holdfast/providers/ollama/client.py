"""Ollama's models, over a connection that its SDK makes.

The SDK is asked for its connection and not for a chat: it would walk
through the whole conversation at every turn, and it hides from us where
a stream was cut.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from holdfast.providers import faults
from holdfast.providers.addresses import checked, is_here, shown
from holdfast.providers.lazily import Lazily
from holdfast.providers.lines import Lines
from holdfast.providers.protocol import Model, Request
from holdfast.providers.relay import relayed
from holdfast.providers.retry import retried
from holdfast.providers.settings import ProviderSettings
from holdfast.vocabulary.chunks import Chunk, Fault

from .request import RequestWriter
from .stream import StreamReader

if TYPE_CHECKING:
    from ollama import AsyncClient

URL = "http://127.0.0.1:11434"
_GLANCE_SECONDS = 1.0


@dataclass(frozen=True)
class About:
    """What `/api/show` says of a model."""

    capabilities: tuple[str, ...] = ("completion", "tools")
    context_length: int | None = None


class Ollama:
    """An Ollama that runs somewhere, most often here."""

    name = "ollama"

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._url = _url(settings.ollama_host)
        self._client = Lazily(self._make)
        self._writer = RequestWriter()
        self._known: dict[str, About] = {}

    async def models(self) -> list[Model]:
        """Those that are installed; none when it is not there."""
        if not await is_there(self._settings):
            return []
        client = await self._client.get()
        from ollama import ResponseError

        try:
            async with asyncio.timeout(self._settings.patience.look_seconds):
                names = [each.model for each in (await client.list()).models if each.model]
                return [await self.model(name) for name in names]
        except (TimeoutError, ConnectionError, ResponseError, ValueError, *_broken()):
            return []

    async def problem(self) -> str:
        """Why it has no models."""
        if not await is_there(self._settings):
            return f"nobody listens at {shown(self._url)}; start it with: ollama serve"
        return f"{shown(self._url)} has no models, or does not say so; get one with: ollama pull NAME"

    async def model(self, id: str) -> Model:
        """What it says of the model; the window is what we ask it for."""
        about = await self._about(id)
        if about is None:
            return Model(self.name, id, self._settings.ollama_context_tokens, reachable=False)
        return Model(self.name, id, self._window(about), "tools" in about.capabilities)

    def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """The answer, as it comes."""

        async def attempt(_number: int) -> AsyncGenerator[Chunk]:
            client = await self._client.get()
            about = await self._about(request.model) or About()
            can = about.capabilities
            body, names = self._writer.write(request, context_tokens=self._window(about), think="thinking" in can, tools="tools" in can)
            answer = self._answer(client, body, StreamReader(names, request.model, self._settings.secrets))
            async with aclosing(answer):
                async for chunk in answer:
                    yield chunk

        return retried(attempt, self._settings.retries)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._client.made is not None:
            await self._client.made.close()

    async def _answer(self, client: "AsyncClient", body: bytes, reader: StreamReader) -> AsyncGenerator[Chunk]:
        import httpx

        patience = self._settings.patience
        # Its connections, without its own reading of what comes, which is ours to do.
        http = cast("httpx.AsyncClient", client._client)  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType] - as said above
        try:
            async with asyncio.timeout(patience.first_seconds):
                response = await http.send(http.build_request("POST", "/api/chat", content=body), stream=True)
                refusal = None if response.is_success else await response.aread()
        except TimeoutError:
            yield Fault(faults.timed_out(self.name, patience.first_seconds, before="an answer"))
            return
        except httpx.HTTPError:
            error = faults.unreachable(self.name, shown(self._url))
            error.hint = "Check that Ollama runs, and OLLAMA_HOST."
            yield Fault(error)
            return
        try:
            if refusal is not None:
                secrets = self._settings.secrets
                yield Fault(faults.by_status(self.name, response.status_code, refusal, headers=response.headers, secrets=secrets))
                return
            answer = relayed(response.aiter_bytes(), Lines(), reader, patience=patience, broken=_broken())
            async with aclosing(answer):
                async for chunk in answer:
                    yield chunk
        finally:
            await response.aclose()

    async def _about(self, model: str) -> About | None:
        """What is known of a model; None when it cannot be asked now."""
        if model not in self._known:
            client = await self._client.get()
            from ollama import ResponseError

            try:
                async with asyncio.timeout(self._settings.patience.look_seconds):
                    said = await client.show(model)
            except (TimeoutError, ConnectionError, ResponseError, ValueError, *_broken()):
                return None
            self._known[model] = About(tuple(said.capabilities or ()), _context_length(said.modelinfo or {}))
        return self._known[model]

    def _window(self, about: About) -> int:
        return min(self._settings.ollama_context_tokens, about.context_length or self._settings.ollama_context_tokens)

    def _make(self) -> "AsyncClient":
        import httpx
        from ollama import AsyncClient

        timeout = httpx.Timeout(None, connect=self._settings.patience.connect_seconds)
        key = self._settings.ollama_api_key
        headers = {"authorization": f"Bearer {key}"} if key else None
        return AsyncClient(
            self._url, headers=headers, timeout=timeout, trust_env=not is_here(self._url), verify=self._url.startswith("https:")
        )


async def is_there(settings: ProviderSettings) -> bool:
    """Whether somebody listens where it should be; a look that takes no SDK and not much time."""
    parts = urlsplit(_url(settings.ollama_host))
    try:
        async with asyncio.timeout(min(settings.patience.look_seconds, _GLANCE_SECONDS)):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except (TimeoutError, OSError):
        return False
    writer.close()
    return True


def _url(host: str | None) -> str:
    """Where it is: the setting may be a name, a port, or a whole address, as Ollama itself takes it.

    Raises:
        InvalidSetting: It is none of these.
    """
    said = (host or "").strip()
    if not said:
        return URL
    whole = said if "://" in said else f"http://127.0.0.1{said}" if said.startswith(":") else f"http://{said}"
    parts = urlsplit(checked(whole, "OLLAMA_HOST"))
    # What it listens on everywhere is reached here.
    name = "127.0.0.1" if parts.hostname in (None, "0.0.0.0") else f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80 if "://" in said else 11434)
    return f"{parts.scheme}://{name}:{port}{parts.path.rstrip('/')}"


def _context_length(told: Any) -> int | None:
    sizes = [size for name, size in dict(told).items() if str(name).endswith(".context_length") and isinstance(size, int)]
    return max(sizes, default=None)


def _broken() -> tuple[type[Exception], ...]:
    import httpx

    return (httpx.HTTPError, httpx.StreamError)
