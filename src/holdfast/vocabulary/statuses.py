"""What an error's code means over HTTP: a status, and the code of the document that clients match."""

from typing import NamedTuple


class Status(NamedTuple):
    """A status line and its word."""

    number: int
    code: str


VALIDATION = Status(400, "VALIDATION_ERROR")
INVALID_TOKEN = Status(401, "INVALID_TOKEN")
FORBIDDEN = Status(403, "FORBIDDEN")
NOT_FOUND = Status(404, "NOT_FOUND")
CONFLICT = Status(409, "CONFLICT")
TOO_LARGE = Status(413, "PAYLOAD_TOO_LARGE")
RATE_LIMITED = Status(429, "RATE_LIMITED")
INTERNAL = Status(500, "INTERNAL_ERROR")
BUSY = Status(503, "BUSY")
NO_SPACE = Status(507, "NO_SPACE")

_STATUSES = {
    "invalid_token": INVALID_TOKEN,
    "forbidden": FORBIDDEN,
    "not_permitted": FORBIDDEN,
    "denied": FORBIDDEN,
    "read_only": FORBIDDEN,
    "protected": FORBIDDEN,
    "outside": FORBIDDEN,
    "access_denied": FORBIDDEN,
    "unknown_tool": NOT_FOUND,
    "not_found": NOT_FOUND,
    "conflict": CONFLICT,
    "exists": CONFLICT,
    "not_empty": CONFLICT,
    "stale_hash": CONFLICT,
    "merge_conflict": CONFLICT,
    "content_too_large": TOO_LARGE,
    "rate_limited": RATE_LIMITED,
    "busy": BUSY,
    "lost_lease": BUSY,
    "unjudgeable": BUSY,
    "timed_out": BUSY,
    "cancelled": BUSY,
    "no_space": NO_SPACE,
    "internal": INTERNAL,
    "broken": INTERNAL,
}


def status_of(code: str) -> Status:
    """The status of an error with this code; what is not listed is something that the caller can correct."""
    return _STATUSES.get(code, VALIDATION)
