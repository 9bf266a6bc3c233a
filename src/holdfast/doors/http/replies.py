"""Answers as bytes: JSON, errors in the standard form, and the headers that every answer has."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from holdfast.vocabulary.errors import HoldfastError, InvalidArguments
from holdfast.vocabulary.json import Json, dump
from holdfast.vocabulary.statuses import BUSY, INTERNAL, Status, status_of

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

REQUEST_ID = "holdfast.request_id"
_JSON = (b"content-type", b"application/json")
_RETRY_AFTER = (b"retry-after", b"1")


async def reply(send: Send, status: int, body: object, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send a whole answer in JSON."""
    data = dump(body)
    head: Headers = [_JSON, (b"content-length", str(len(data)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": data})


async def reply_error(send: Send, error: HoldfastError) -> None:
    """Send an error in the standard form."""
    status = status_of(error.code)
    headers: Headers = [_RETRY_AFTER] if status is BUSY else []
    if status.number == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await reply(send, status.number, error_body(error, status), headers)


def error_body(error: HoldfastError, status: Status | None = None) -> dict[str, Json]:
    """The standard form of an error."""
    body: dict[str, Json] = {"success": False, "error": str(error), "code": (status or status_of(error.code)).code}
    if isinstance(error, InvalidArguments):
        body["fields"] = {mistake.argument: mistake.problem for mistake in error.mistakes if mistake.argument}
    return body


def fault_body(scope: Scope) -> dict[str, Json]:
    """The standard form of a fault of our own: where to look it up, and nothing of what it was."""
    message = f"This is a fault of the server; it is recorded under {scope.get(REQUEST_ID, 'its time')}"
    return {"success": False, "error": message, "code": INTERNAL.code}
