"""Which errors an address may answer with, as OpenAPI tells them."""

from typing import Any

from .models import ErrorBody

_ALWAYS = (403, 413, 500, 503)
_MEANINGS = {
    400: "Something in the request does not fit; `fields` says what.",
    401: "No token, or one that is not good.",
    403: "Not a member, or not allowed; the same for a workspace that does not exist.",
    404: "Nothing is there.",
    409: "The state is not what the request needs.",
    413: "The request has too many bytes.",
    500: "A fault of the server.",
    503: "Busy, stopping, or held elsewhere: try again after Retry-After.",
    507: "The disk is full.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These, and those that every address may answer with."""
    return {status: {"model": ErrorBody, "description": _MEANINGS[status]} for status in sorted({*statuses, *_ALWAYS})}
