"""Which errors an address may answer with, as OpenAPI tells them."""

from typing import Any

from .models import ErrorBody

_ALWAYS = (400, 403, 413, 500, 503)
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


def _body(code: str, error: str, **more: object) -> dict[str, object]:
    return {"success": False, "error": error, "code": code, **more}


EXAMPLES = {
    400: _body("VALIDATION_ERROR", "Validation failed: 'path' is required", fields={"path": "is required"}),
    401: _body("INVALID_TOKEN", "No valid token found in Authorization header or cookie"),
    403: _body("FORBIDDEN", "Access forbidden: User is not a member of this workspace"),
    404: _body("NOT_FOUND", "File not found: /nonexistent/file.txt"),
    409: _body("CONFLICT", "/notes.md has changed since you read it. Read the file again, then repeat the edit."),
    413: _body("PAYLOAD_TOO_LARGE", "The request has more than 10485760 bytes"),
    500: _body("INTERNAL_ERROR", "This is a fault of the server; it is recorded under 3d93832a1d7e9712"),
    503: _body("BUSY", "another process holds the workspace. Try again in a moment."),
    507: _body("NO_SPACE", "no space left for '/notes.md'. Free some space, then repeat the call."),
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These, and those that every address may answer with."""
    return {status: {"model": ErrorBody, "description": _MEANINGS[status]} for status in sorted({*statuses, *_ALWAYS})}
