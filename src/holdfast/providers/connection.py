"""Connections of the library that two of the SDKs are made of."""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import TYPE_CHECKING

from holdfast.vocabulary.chunks import Chunk, Fault
from holdfast.vocabulary.errors import ProviderError

from .lines import Events
from .relay import Reader, relayed
from .settings import Patience

if TYPE_CHECKING:
    import httpx2


def connection_here(url: str, timeout: "httpx2.Timeout") -> "httpx2.AsyncClient":
    """To a server on this machine: without the proxy of the environment, and without reading certificates that are not needed."""
    import httpx2

    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
    return httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False, verify=url.startswith("https:"), follow_redirects=True)


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
    """What a connection raises when it is lost."""
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError)
