"""One question over HTTP, and its answer as JSON: bounded in time and size, and asked twice at most."""

import asyncio
import ipaddress
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import cast
from urllib.parse import unquote, urlencode, urlsplit

from .protocol import Unanswered

_PASSING = (429, 500, 502, 503, 504)
_PAUSE_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 2.0


@dataclass(frozen=True)
class Address:
    """Where a server is. A name and a password are kept apart from it, so that no message or log can hold them."""

    url: str
    login: tuple[str, str] | None = None

    @property
    def origin(self) -> str:
        """The address without its path, for people."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, where no proxy leads."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True)
class Question:
    """What is asked of a server; `meanings` say what its refusals mean, by status."""

    address: Address
    params: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    meanings: Mapping[int, str] = field(default_factory=dict[int, str])
    seconds: float = 10.0

    @property
    def url(self) -> str:
        """The address with what is asked."""
        return f"{self.address.url}{'&' if '?' in self.address.url else '?'}{urlencode(self.params)}"


@dataclass(frozen=True)
class Reply:
    """What a server said."""

    status: int
    data: bytes
    kind: str = ""
    retry_after: str = ""


class Passing(Unanswered):
    """What may be over at the next try."""

    pause_seconds: float = 0.0


def parse_address(text: str, setting: str) -> Address:
    """The address that somebody has set.

    Raises:
        Unanswered: It is none of the web. The words name the setting, because the value may hold a password.
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        raise Unanswered(f"{setting} is not an address: write it as http://host:port") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unanswered(f"{setting} is not an address: write it as http://host:port")
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Address(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl(), login)


async def fetch_json(question: Question) -> Mapping[str, object]:
    """The JSON object that a server answers with.

    Raises:
        Unanswered: There is none, and why.
    """
    try:
        reply = await _reply_to(question)
    except Passing as problem:
        await asyncio.sleep(problem.pause_seconds)
        reply = await _reply_to(question)
    try:
        said: object = json.loads(reply.data)
    except (ValueError, RecursionError):
        kind = "a web page" if "html" in reply.kind else "not JSON"
        raise Unanswered(f"what {question.address.origin} answers is {kind}: check the address") from None
    if not isinstance(said, dict):
        raise Unanswered(f"what {question.address.origin} answers is not a JSON object: check the address")
    return cast("dict[str, object]", said)


async def _reply_to(question: Question) -> Reply:
    # The library takes a fifth of a second to import, which whoever else is served here should not wait for.
    if "holdfast.internet.get" not in sys.modules:
        await asyncio.to_thread(import_module, "holdfast.internet.get")
    from .get import get

    try:
        async with asyncio.timeout(question.seconds):
            reply = await get(question)
    except TimeoutError:
        raise Passing(f"{question.address.origin} did not answer within {question.seconds:g} s") from None
    if reply.status == 200:
        return reply
    meaning = question.meanings.get(reply.status) or f"{question.address.origin} answers with an error"
    reason = f"{meaning} (HTTP {reply.status})"
    pause = _pause(reply)
    if reply.status not in _PASSING or pause > _MAX_PAUSE_SECONDS:
        raise Unanswered(reason)
    passing = Passing(reason)
    passing.pause_seconds = pause
    raise passing


def _pause(reply: Reply) -> float:
    """How long to wait before the second try; a date is taken for longer than we wait."""
    if not reply.retry_after:
        return _PAUSE_SECONDS
    return float(reply.retry_after) if reply.retry_after.isascii() and reply.retry_after.isdigit() else _MAX_PAUSE_SECONDS + 1
