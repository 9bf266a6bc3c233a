"""Connections of the library that two of the SDKs are made of."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


def connection_here(url: str, timeout: "httpx2.Timeout") -> "httpx2.AsyncClient":
    """To a server on this machine: without the proxy of the environment, and without reading certificates that are not needed."""
    import httpx2

    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
    return httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=False, verify=url.startswith("https:"), follow_redirects=True)


def broken() -> tuple[type[Exception], ...]:
    """What a connection raises when it is lost."""
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError)
