"""What can go wrong with a provider, in words for a person, and whether asking again may help."""

import re
import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from holdfast.vocabulary.errors import ProviderError

_MAX_CHARS = 500
_TIMED_OUT = "timed out"
_PASSING = (408, 409, 429)
_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk|ghu|gho|ghp|ghs|github_pat|xai|gsk)[-_][A-Za-z0-9*_.\-]{4,}|\bBearer\s+\S+", re.IGNORECASE)
_HINTS = {
    401: "Check the key.",
    402: "Check the account's credit.",
    403: "Check what the key may do.",
    404: "Check the model's name and the address.",
    413: "The conversation is too long for it.",
    429: "It has had too many requests; wait, or use another model.",
}


def by_status(
    provider: str, status: int, body: bytes | str, *, headers: Mapping[str, str] | None = None, secrets: Iterable[str] = ()
) -> ProviderError:
    """A refusal with a status; its body is JSON with a message in it, or just text."""
    kind = "rate_limited" if status == 429 else "unavailable" if status >= 500 else "rejected"
    told = said_in(body) or "no reason given"
    error = ProviderError.of(without_keys(told, secrets), provider=provider, kind=kind, status=status, hint=_HINTS.get(status, ""))
    headers = headers or {}
    wish = headers.get("x-should-retry", "")
    error.is_passing = wish != "false" and (wish == "true" or status in _PASSING or status >= 500)
    error.retry_seconds = retry_after(headers)
    return error


def silence(error: Exception, address: str) -> str:
    """Why a provider did not say what models it has, in words that hold nothing of what it said or was told."""
    status: object = getattr(error, "status_code", None)
    if status in (401, 403):
        return f"the key is not accepted ({status})"
    if isinstance(status, int):
        return f"{address} answered {status}"
    why = why_lost(error)
    if why == _TIMED_OUT:
        return f"{address} does not answer in time"
    if isinstance(error, ValueError):
        return f"{address} does not list models"
    return _cannot_reach(address, why)


def why_lost(error: BaseException) -> str:
    """Why a connection could not be had, or was lost, if it is not plain.

    By its causes: on the way here a server that nobody runs is called a time-out too.
    """
    causes = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return "its certificate is not trusted"
    return _TIMED_OUT if any(isinstance(each, TimeoutError) for each in causes) else ""


def unreachable(provider: str, address: str, why: str = "") -> ProviderError:
    """Nobody is there, or the connection broke before anything came."""
    error = ProviderError.of(_cannot_reach(address, why), provider=provider, kind="unreachable")
    error.hint, error.is_passing = "Check the address and the network.", True
    return error


def _cannot_reach(address: str, why: str) -> str:
    return f"{address} cannot be reached{f' ({why})' if why else ''}"


def timed_out(provider: str, seconds: float, *, before: str) -> ProviderError:
    """It was too slow."""
    return ProviderError.of(f"timed out after {seconds:g} s waiting for {before}", provider=provider, kind="timed_out")


def cut(provider: str, why: str = "the answer was cut off before its end") -> ProviderError:
    """The stream ended in the middle. Asking again helps when nothing of it has come."""
    error = ProviderError.of(why, provider=provider, kind="cut")
    error.is_passing = True
    return error


def empty(provider: str, kind_of_content: str = "") -> ProviderError:
    """The stream ended before it began."""
    seen = f", but {kind_of_content}" if kind_of_content and "event-stream" not in kind_of_content else ""
    error = ProviderError.of(f"the answer had nothing in it that could be read{seen}", provider=provider, kind="empty")
    error.is_passing = True
    return error


def malformed(provider: str, what: str) -> ProviderError:
    """It speaks in another way than it should."""
    return ProviderError.of(f"the answer cannot be understood: {what}", provider=provider, kind="malformed")


def said_in(body: bytes | str) -> str:
    """The message in an error's body, on one line and not too long."""
    import orjson

    text = body.decode(errors="replace") if isinstance(body, bytes) else body
    try:
        said: object = orjson.loads(text)
    except ValueError:
        said = text
    return " ".join((_message(said) or text).split())[:_MAX_CHARS]


def without_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without our keys, and without anything that looks like one."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LIKE_A_KEY.sub("***", text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How long it asks to be left alone, in seconds; None when it does not say."""
    precise = headers.get("retry-after-ms", "")
    if _is_number(precise):
        return float(precise) / 1000
    said = headers.get("retry-after", "").strip()
    if _is_number(said):
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()) if said else None
    except (TypeError, ValueError):
        return None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text.strip()) is not None


def _message(said: object) -> str:
    match said:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)} | {"detail": str(text)}:
            return text
        case str():
            return said
        case _:
            return ""
