"""Connections of the library that two of the SDKs are made of."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from holdfast.vocabulary.chunks import Chunk, Fault
from holdfast.vocabulary.errors import ProviderError

from . import faults
from .addresses import is_here, shown
from .lines import Events
from .relay import Reader, relayed
from .settings import Patience, ProviderSettings

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True)
class _Head:
    """All of a request but its body."""

    url: "httpx2.URL"
    headers: list[tuple[bytes, bytes]]
    extensions: MutableMapping[str, Any]

    @classmethod
    def of(cls, request: "httpx2.Request") -> "_Head":
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
        return cls(request.url, headers, request.extensions)

    def request(self, body: bytes) -> "httpx2.Request":
        import httpx2

        return httpx2.Request("POST", self.url, headers=self.headers, content=body, extensions=dict(self.extensions))


@dataclass
class Line:
    """How the requests of one SDK reach one server.

    The SDK writes and sends the first of each kind, and with it the
    address, the key and whatever else goes with all of them. Those that
    follow have its head, over the same connections, and a body of their
    own: to go through the SDK again would cost a third of the request.
    """

    provider: str
    url: str
    settings: ProviderSettings
    _http: "httpx2.AsyncClient | None" = None
    _heads: "dict[tuple[str, frozenset[tuple[str, str]]], _Head]" = field(default_factory=dict[Any, Any])

    def opened(self, sdk: Any) -> "httpx2.AsyncClient":
        """The SDK's connections, of the kind that cost least. To a server on this machine: without proxy, and without certificates."""
        import httpx2

        timeout = httpx2.Timeout(None, connect=self.settings.patience.connect_seconds)
        limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
        certificates = httpx2.create_ssl_context() if self.url.startswith("https:") else False
        here = {"trust_env": False, "verify": certificates} if is_here(self.url) else {}
        # The quicker kind takes no name and password in an address.
        kind = sdk.DefaultAsyncHttpxClient if httpx2.URL(self.url).userinfo else sdk.DefaultAioHttpClient
        self._http = cast("httpx2.AsyncClient", kind(timeout=timeout, limits=limits, **here))
        return self._http

    async def ask(self, sdk: Any, client: Any, path: str, body: bytes, headers: Mapping[str, str]) -> "httpx2.Response":
        """The answer of the server, which is still to be read; `client` is one of the SDK's.

        Raises:
            ProviderError: There is none.
        """
        import httpx2

        patience, secrets = self.settings.patience, self.settings.secrets
        try:
            async with asyncio.timeout(patience.first_seconds):
                return await self._asked(sdk, client, path, body, headers)
        except TimeoutError:
            raise faults.timed_out(self.provider, patience.first_seconds, before="an answer") from None
        except (sdk.APIStatusError, httpx2.HTTPStatusError) as error:
            said: httpx2.Response = error.response
            raise faults.by_status(self.provider, said.status_code, said.content, headers=said.headers, secrets=secrets) from None
        except (sdk.APIConnectionError, *_broken()) as error:
            raise faults.unreachable(self.provider, shown(self.url), faults.why_lost(error)) from None

    async def _asked(self, sdk: Any, client: Any, path: str, body: bytes, headers: Mapping[str, str]) -> "httpx2.Response":
        import httpx2

        kind = (path, frozenset(headers.items()))
        answer: httpx2.Response
        if (head := self._heads.get(kind)) is None:
            # With `stream`, and this class to cast to, the SDK gives the response itself, unread.
            options = {"headers": headers}
            answer = await client.post(
                path, cast_to=httpx2.Response, content=body, options=options, stream=True, stream_cls=sdk.AsyncStream
            )
            if not answer.history:
                self._heads[kind] = _Head.of(answer.request)
            return answer
        assert self._http is not None
        answer = await self._http.send(head.request(body), stream=True)
        if not answer.is_success:
            await answer.aread()
            answer.raise_for_status()
        return answer


async def answer_to(asking: "Awaitable[httpx2.Response]", reader: Reader, patience: Patience) -> AsyncGenerator[Chunk]:
    """The chunks of what a server answers in events; what kept it from answering is a fault like any other."""
    try:
        response = await asking
    except ProviderError as error:
        yield Fault(error)
        return
    try:
        content_type = response.headers.get("content-type", "")
        answer = relayed(response.aiter_bytes(), Events(), reader, patience=patience, broken=_broken(), content_type=content_type)
        async with aclosing(answer):
            async for chunk in answer:
                yield chunk
    finally:
        await response.aclose()


def _broken() -> tuple[type[Exception], ...]:
    """What a connection raises when it cannot be had, or is lost."""
    import aiohttp
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError, aiohttp.ClientError)
