"""One GET over HTTP, with the library that does it; imported only when something is fetched.

No redirect to another server is followed, because the request may carry a
key. No message of the library is passed on, because it may hold one.
"""

import asyncio
import socket
import ssl
import zlib
from functools import cache
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from holdfast import __version__

from .protocol import Unanswered
from .question import Address, Passing, Question, Reply

MAX_BYTES = 2 * 1024 * 1024
_MAX_REDIRECTS = 3
_PORTS = {"http": 80, "https": 443}
# Servers that keep robots away look at what every browser sends. Only gzip, which can be undone up to a limit.
_HEADERS = {"User-Agent": f"holdfast/{__version__}", "Accept": "application/json", "Accept-Language": "en", "Accept-Encoding": "gzip"}


async def get(question: Question) -> Reply:
    """What the server replies, whatever its status.

    Raises:
        Passing, Unanswered: Nothing that could be used, and why.
    """
    try:
        return await _get(question)
    except httpx.TransportError as error:
        raise _reason(error, question.address) from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError):
        # Such as a proxy's address that is none, or one of a kind that needs another library.
        raise Unanswered(f"{question.address.origin} cannot be asked: check the address, and the proxy in the environment") from None


async def _get(question: Question) -> Reply:
    url, address = question.url, question.address
    headers = {**_HEADERS, **question.headers}
    # What the environment says of proxies holds for the internet; a proxy seldom leads back here.
    tls = await asyncio.to_thread(_tls)
    async with httpx.AsyncClient(verify=tls, trust_env=not address.is_here, timeout=question.seconds) as client:
        for _ in range(_MAX_REDIRECTS + 1):
            async with client.stream("GET", url, headers=headers, auth=address.login) as response:
                if not response.has_redirect_location:
                    said = response.headers
                    data = await _data(response, address)
                    return Reply(response.status_code, data, said.get("content-type", ""), said.get("retry-after", "").strip())
                url = _followed(url, response.headers["location"], address)
    raise Unanswered(f"{address.origin} redirects without end: check the address")


async def _data(response: httpx.Response, address: Address) -> bytes:
    """The body, at most so much of it, however small it was packed."""
    encoding = response.headers.get("content-encoding", "identity").strip().casefold()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise Unanswered(f"what {address.origin} answers is packed in a way that was not asked for")
    unpack = zlib.decompressobj(wbits=31) if encoding != "identity" else None
    data = bytearray()
    async for chunk in response.aiter_raw():
        try:
            data += unpack.decompress(chunk, MAX_BYTES + 1) if unpack is not None else chunk
        except zlib.error:
            raise Unanswered(f"what {address.origin} answers cannot be unpacked") from None
        if len(data) > MAX_BYTES:
            raise Unanswered(f"what {address.origin} answers is longer than {MAX_BYTES} bytes")
    return bytes(data)


def _followed(url: str, location: str, address: Address) -> str:
    """Where a redirect leads, when that is the same server; from http to https is fine, the other way is not."""
    there = urljoin(url, location)
    before, after = urlsplit(url), urlsplit(there)
    same_host = (before.hostname, before.username, after.username) == (after.hostname, None, None)
    same_port = (before.port or _PORTS.get(before.scheme)) == (after.port or _PORTS.get(after.scheme))
    safer = (before.scheme, after.scheme) == ("http", "https") and (before.port, after.port) in ((None, None), (80, None), (80, 443))
    if same_host and (safer or (before.scheme == after.scheme and same_port)):
        return there
    raise Unanswered(f"{address.origin} redirects to another server, which is not followed: set the address that is meant")


def _reason(error: httpx.TransportError, address: Address) -> Unanswered:
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return Unanswered(f"the certificate of {address.origin} is not one to trust")
    if any(isinstance(each, socket.gaierror) for each in causes) and not _goes_by_proxy(address):
        return Unanswered(f"the name in {address.origin} is not known here")
    if isinstance(error, httpx.TimeoutException):
        return Passing(f"{address.origin} did not answer in time")
    if isinstance(error, httpx.ProxyError):
        return Passing(f"the proxy in the environment does not lead to {address.origin}")
    if isinstance(error, httpx.ConnectError):
        return Passing(f"nobody answers at {'the proxy in the environment' if _goes_by_proxy(address) else address.origin}")
    return Passing(f"the connection to {address.origin} broke")


def _goes_by_proxy(address: Address) -> bool:
    parts, proxies = urlsplit(address.url), getproxies()
    return not address.is_here and bool({parts.scheme, "all"} & proxies.keys()) and not proxy_bypass(parts.hostname or "")


@cache
def _tls() -> ssl.SSLContext:
    """Whom to trust; read from disk once."""
    return httpx.create_ssl_context()
