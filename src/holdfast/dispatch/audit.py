"""What is recorded of a call: sizes, hashes and short previews, never whole contents or secrets."""

import hashlib
import math
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Protocol, cast

from holdfast.tool.bind import parse
from holdfast.tool.tool import Tool
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.spelling import plain_name

# As `plain_name` has them, so that no spelling of an argument gets around this.
_CONTENTS = {"after", "before", "content", "contentpreview", "insertcontent", "newstring", "oldstring", "output", "text"}
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|passw(or)?d|credential|authorization)$")
# What looks like a secret: text of which one piece is in it for sure, so that most texts need no closer look, and then what to take out.
_SECRETS = tuple(
    (signs, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for signs, pattern in (
        (("-----begin",), r"()-----BEGIN[^-]*PRIVATE KEY-----.*"),
        (("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), r"()\b[spr]k[-_][\w-]{16,}"),
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"()\bgh[pousr]_\w{20,}"),
        (("akia",), r"()\bAKIA[0-9A-Z]{16}\b"),
        (("xox",), r"()\bxox[abprs]-[\w-]{10,}"),
        (("eyj",), r"()\beyJ[\w-]{4,}(?:\.[\w-]+){0,2}"),
        (("://",), r"(://)[^\s/:@]+:[^\s/@]+(?=@)"),
        (("key=", "token=", "password=", "secret="), r"((?:\wkey|token|password|secret)=)\S+"),
        (('key":', 'token":', 'password":', 'secret":'), r'((?:\wkey|token|password|secret)":)\s*"[^"]*'),
    )
)
_SIGNS = tuple(sign for signs, _ in _SECRETS for sign in signs)
_HIDDEN = "[hidden]"
_MAX_ITEMS = 50
_MAX_NAME = 200
_MAX_DEPTH = 16
_MAX_BITS = 64
_MAX_SUMMARY = 64 * 1024
# A secret that begins before a cut is known by what follows within so many characters.
_LOOK_AHEAD = 256


@dataclass(frozen=True)
class AuditEntry:
    """One call, as it is remembered."""

    call: ToolCall
    outcome: str
    code: str | None
    input: Json
    output: Json
    started: datetime
    duration_ms: float

    def line(self) -> dict[str, Json]:
        """The entry under the names of the audit log."""
        return {
            "ts": self.started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "kind": "tool.exec",
            "toolCallId": self.call.id[:_MAX_NAME],
            "toolName": _shortened(self.call.name, _MAX_NAME),
            "agentId": self.call.caller.agent[:_MAX_NAME],
            "input": self.input,
            "output": self.output,
            "durationMs": round(self.duration_ms, 3),
        }


class Recorder(Protocol):
    """Where entries go."""

    async def prepare(self, call: ToolCall) -> None:
        """Make sure that the call can be recorded; what this raises stops it before anything is done."""
        ...

    async def intend(self, author: object) -> None:
        """Record that a call is about to run, so that even a power cut cannot hide it; what this raises stops it."""
        ...

    def author(self, call: ToolCall, given: Json) -> object:
        """Who the call's changes are by, as they are recorded with them; `given` is the summary of its arguments."""
        ...

    def record(self, entry: AuditEntry, author: object) -> Awaitable[object]:
        """Keep one entry, whether or not somebody waits for it; `author` is what the call's changes were made by."""
        ...


def given_to(call: ToolCall, tool: Tool | None, preview_bytes: int) -> Json:
    """The summary of a call's arguments; text that is no JSON object is summed up as contents are."""
    contents = {plain_name(each.wire_name) for each in tool.parameters if each.is_content} if tool else set[str]()
    try:
        return summary(parse(call.arguments), contents | _CONTENTS, preview_bytes)
    except InvalidArguments:
        return summary(call.arguments, {""}, preview_bytes)


def entry(call: ToolCall, given: Json, outcome: Outcome, *, started: datetime, duration_ms: float, preview_bytes: int) -> AuditEntry:
    """The record of a call that has its outcome; `given` is the summary of its arguments."""
    code = None if isinstance(outcome, Done) else outcome.error.code
    output = summary(outcome.answer.body, _CONTENTS, preview_bytes)
    if not isinstance(outcome, Done):
        facts = summary(outcome.error.facts, _CONTENTS, preview_bytes)
        output = {**(output if isinstance(output, dict) else {"result": output}), "refused": type(outcome).__name__ == "Refused"}
        output.update({"code": code, "reason": _shortened(outcome.error.message, preview_bytes), "facts": facts})
    kind = type(outcome).__name__.lower()
    return AuditEntry(call, kind, code, given, output, started, duration_ms)


def summary(value: object, contents: set[str], preview_bytes: int) -> Json:
    """`value` with everything long, wide or deep, and everything that is contents, replaced by its size, hash and beginning."""
    return _Summary(contents, preview_bytes).of(value)


@dataclass
class _Summary:
    """One summary in the making; `left` is how much more text it may hold."""

    contents: set[str]
    preview_bytes: int
    left: int = _MAX_SUMMARY

    def of(self, value: object, name: str = "", depth: int = 0) -> Json:
        if isinstance(value, str):
            return self._text(value, name)
        if value is None or value is True or value is False:
            return value
        # Asked first because these are quick to tell, and nearly everything is one of them.
        if isinstance(value, dict | list):
            return self._nest(cast("Mapping[object, object] | Sequence[object]", value), name, depth)
        if isinstance(value, bytes | bytearray):
            return {"bytes": len(value)}
        if isinstance(value, Mapping | Sequence):
            return self._nest(cast("Mapping[object, object] | Sequence[object]", value), name, depth)
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            return {"bits": value.bit_length()}
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value if isinstance(value, bool | int | float) or value is None else self._text(str(value), name)

    def _nest(self, value: Mapping[object, object] | Sequence[object], name: str, depth: int) -> Json:
        if depth >= _MAX_DEPTH:
            return {"more": len(value)}
        if isinstance(value, Mapping):
            fields: dict[str, Json] = {}
            for key, each in islice(value.items(), _MAX_ITEMS):
                if self.left <= 0:
                    break
                said = str(key)
                self.left -= 16 + min(len(said), _MAX_NAME)
                fields[_shortened_name(said)] = self.of(each, said, depth + 1)
            if more := len(value) - len(fields):
                fields["more"] = more
            return fields
        shown: list[Json] = []
        for each in value[:_MAX_ITEMS]:
            if self.left <= 0:
                break
            self.left -= 16
            shown.append(self.of(each, name, depth + 1))
        if more := len(value) - len(shown):
            shown.append({"more": more})
        return shown

    def _text(self, value: str, name: str) -> Json:
        spelled = _spelled(name)
        if spelled is None:
            return _HIDDEN
        is_content = spelled in self.contents
        # Most texts are short, and then there is nothing to count.
        if not is_content and 4 * len(value) <= self.preview_bytes:
            self.left -= len(value)
            return masked(value) if value.isascii() else _shortened(value, self.preview_bytes)
        data = value.encode(errors="replace")
        # Never the whole: of short contents at most the first half.
        shown = _shortened(value, min(self.preview_bytes, len(data) // 2) if is_content else self.preview_bytes)
        self.left -= len(shown)
        if not is_content and len(data) <= self.preview_bytes:
            return shown
        return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "preview": shown}


@lru_cache(1024)
def _spelled(name: str) -> str | None:
    """The name of a field as `plain_name` has it, None when it is that of a secret; there are few, and they come again in every record."""
    return None if _SECRET_NAME.search(name) else plain_name(name)


def masked(text: str) -> str:
    """`text` with what looks like a secret taken out."""
    folded = text.casefold()
    # Nearly every text ends here, and there are many in each record.
    for sign in _SIGNS:
        if sign in folded:
            break
    else:
        return text
    for signs, pattern in _SECRETS:
        if any(map(folded.__contains__, signs)):
            text = pattern.sub(rf"\1{_HIDDEN}", text)
    return text


def _shortened(text: str, max_bytes: int) -> str:
    """The beginning of a text, masked before it is cut, because half a secret is one too."""
    return masked(text[: max_bytes + _LOOK_AHEAD]).encode(errors="replace")[:max_bytes].decode(errors="ignore")


@lru_cache(1024)
def _shortened_name(name: str) -> str:
    """The name of a field, as it is shown."""
    return _shortened(name, _MAX_NAME)


def now() -> datetime:
    """The time, as entries have it."""
    return datetime.now(UTC)
