"""One question over HTTP, and its answer as JSON: bounded in time and size, and asked twice at most."""

import asyncio
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import cast

from .protocol import Unanswered
from .question import Passing, Question, Reply

_PASSING = (429, 500, 502, 503, 504)
_PAUSE_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 2.0


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
