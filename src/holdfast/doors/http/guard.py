"""What every request passes before anything looks at it: host, origin, size; and what every answer gets on its way out.

A cookie on localhost would let any web page drive the tools, so unsafe
requests that come with a cookie must say that they come from our page.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from holdfast.vocabulary.errors import Busy, Forbidden, HoldfastError
from holdfast.vocabulary.statuses import INTERNAL, TOO_LARGE

from .replies import REQUEST_ID, Headers, Message, Receive, Scope, Send, fault_body, reply, reply_error
from .settings import HttpSettings

Asgi: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_SECURITY: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"),
]

# Of a request that became a socket; and why a socket is closed.
_SWITCHED = 101
_NOT_ALLOWED, _BROKE = 4403, 1011

_MAX_THROWN_AWAY = 64 * 1024 * 1024
_THROW_AWAY_SECONDS = 2.0

log = logging.getLogger("holdfast.http")


class TooMuch(HTTPException):
    """The request has more bytes than we take. It is one of the framework's own errors, because that hides all others while it reads."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(TOO_LARGE.number, f"The request has more than {max_bytes} bytes", {"Connection": "close"})


class Guard:
    """The outermost layer of the door."""

    def __init__(self, inner: Asgi, settings: HttpSettings) -> None:
        self._inner = inner
        self._settings = settings
        self.is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self._inner(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        passage = _Passage(scope, receive, send, self._settings.max_request_bytes)
        try:
            self._check(scope, headers)
            await passage.check_length(headers.get(b"content-length", b"0"))
            await self._inner(scope, passage.receive, passage.send)
        except TooMuch as error:
            await passage.close(error.status_code, {"success": False, "error": error.detail, "code": TOO_LARGE.code})
        except HoldfastError as error:
            await passage.refuse(error)
        except Exception:
            log.exception("request %s broke", passage.id)
            await passage.close(INTERNAL.number, fault_body(scope))
        finally:
            passage.record()

    def _check(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._settings.knows_host(host):
            raise Forbidden("this server does not go by that name", hint="Use its own address, or add the name to allowed_hosts.")
        if self.is_stopping:
            raise Busy("the server is stopping", hint="Try again in a moment.")
        is_ours = b"authorization" in headers or b"cookie" not in headers
        if scope["type"] == "http" and (scope["method"] in _SAFE_METHODS or is_ours):
            return
        origin = headers.get(b"origin")
        # Every browser says where a socket comes from.
        if origin is None and scope["type"] == "websocket" and is_ours:
            return
        if origin is None or _origin_host(origin.decode("latin-1")) != host.casefold():
            raise Forbidden("the request comes from another page", hint="Send it from this server's own page, or with a bearer token.")


def _origin_host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return None


class _Passage:
    """One request on its way in, and its answer on its way out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self.id = os.urandom(8).hex()
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = self._max_bytes = max_bytes
        self._status = 0
        self._started = time.perf_counter()
        scope[REQUEST_ID] = self.id

    async def check_length(self, content_length: bytes) -> None:
        """Refuse at once what says itself that it is too long.

        Raises:
            TooMuch: It is.
        """
        if content_length.isdigit() and int(content_length[:20]) > self._left:
            raise await self._too_much()

    async def _too_much(self) -> TooMuch:
        """Read on for a moment and throw it away: a client that is still sending would not hear the answer."""
        left = _MAX_THROWN_AWAY
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_THROW_AWAY_SECONDS):
                while left > 0 and (message := await self._receive())["type"] == "http.request":
                    left -= len(message.get("body", b""))
                    if not message.get("more_body"):
                        break
        return TooMuch(self._max_bytes)

    async def receive(self) -> Message:
        """The next piece of the request, as long as there are not too many bytes."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise await self._too_much()
        return message

    async def send(self, message: Message) -> None:
        """A piece of the answer, with what every answer has in its head."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [*message.get("headers", []), *_SECURITY, (b"x-request-id", self.id.encode())]
        elif message["type"] == "websocket.accept":
            self._status = _SWITCHED
        await self._send(message)

    async def refuse(self, error: HoldfastError) -> None:
        """Answer with an error, if there is no answer yet."""
        if self._status == _SWITCHED:
            await self._hang_up(_NOT_ALLOWED, error.message)
        elif not self._status:
            await reply_error(self._refusing, error)

    async def close(self, status: int, body: object) -> None:
        """Answer with a status, if there is no answer yet, and close the connection."""
        if self._status == _SWITCHED:
            await self._hang_up(_BROKE, "This is a fault of the server")
        elif not self._status:
            await reply(self._refusing, status, body, [(b"connection", b"close")])

    async def _refusing(self, message: Message) -> None:
        """A piece of an answer; one to a socket that is not opened goes under another name."""
        if self._scope["type"] == "websocket":
            await self._send({**message, "type": f"websocket.{message['type']}"})
            self._status = self._status or message.get("status", 0)
        else:
            await self.send(message)

    async def _hang_up(self, code: int, reason: str) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            await self._send({"type": "websocket.close", "code": code, "reason": reason[:100]})

    def record(self) -> None:
        """One line of the log; the query, which may hold a token, is left out."""
        if log.isEnabledFor(logging.INFO):
            milliseconds = round((time.perf_counter() - self._started) * 1000, 2)
            told = {"request_id": self.id, "method": self._scope.get("method", "WS"), "path": self._scope["path"], "status": self._status}
            log.info("request", extra={**told, "milliseconds": milliseconds})
