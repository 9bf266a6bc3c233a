"""What is recorded of a call: sizes, hashes and short previews, never whole contents or secrets."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, cast

from holdfast.tool.bind import parse, plain_name
from holdfast.tool.tool import Tool
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome

# As `plain_name` has them, so that no spelling of an argument gets around this.
_CONTENTS = {"after", "before", "content", "contentpreview", "insertcontent", "newstring", "oldstring", "output", "text"}
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|passw(or)?d|credential|authorization)$")
_SECRET_VALUE = re.compile(
    r"(?i)(-----BEGIN[^-]*PRIVATE KEY-----.*|\b(sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{20,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{10,}"
    r"|\beyJ[\w-]+\.[\w-]+\.[\w-]+|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)|(?<=[\w]key=)\S+|(?<=token=)\S+|(?<=password=)\S+|(?<=secret=)\S+"
    r'|(?<=[\w]key":)\s*"[^"]*|(?<=token":)\s*"[^"]*|(?<=password":)\s*"[^"]*|(?<=secret":)\s*"[^"]*)',
    re.DOTALL,
)
# One of these is in whatever the expression above finds. Looking for them costs a tenth of it, and most texts have none.
_SECRET_SIGNS = (
    *("-----begin", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("akia", "xox", "eyj", "://", "key=", "token=", "password=", "secret=", 'key":', 'token":', 'password":', 'secret":'),
)
_HIDDEN = "[hidden]"
_MAX_ITEMS = 50
_MAX_NAME = 200
_MAX_DEPTH = 16
_MAX_BITS = 64


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
            "toolName": masked(self.call.name)[:_MAX_NAME],
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

    def author(self, call: ToolCall, given: Json) -> object:
        """Who the call's changes are by, as they are recorded with them; `given` is the summary of its arguments."""
        ...

    async def record(self, entry: AuditEntry, author: object) -> None:
        """Keep one entry; `author` is what the call's changes were made by."""
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
        output.update({"code": code, "reason": masked(outcome.error.message)[:preview_bytes], "facts": facts})
    kind = type(outcome).__name__.lower()
    return AuditEntry(call, kind, code, given, output, started, duration_ms)


def summary(value: object, contents: set[str], preview_bytes: int, name: str = "", depth: int = 0) -> Json:
    """`value` with everything long or deep, and everything that is contents, replaced by its size, hash and beginning."""
    if isinstance(value, str):
        return _text(value, preview_bytes, is_content=plain_name(name) in contents, is_secret=_SECRET_NAME.search(name) is not None)
    if isinstance(value, Mapping | Sequence) and depth >= _MAX_DEPTH:
        return {"more": len(cast("Sequence[object]", value))}
    if isinstance(value, Mapping):
        items = list(cast("Mapping[str, object]", value).items())[:_MAX_ITEMS]
        return {masked(key)[:preview_bytes]: summary(inner, contents, preview_bytes, key, depth + 1) for key, inner in items}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        every = cast("Sequence[object]", value)
        shown = [summary(inner, contents, preview_bytes, name, depth + 1) for inner in every[:_MAX_ITEMS]]
        return shown if len(every) <= _MAX_ITEMS else [*shown, {"more": len(every) - _MAX_ITEMS}]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return {"bits": value.bit_length()}
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def masked(text: str) -> str:
    """`text` with what looks like a secret taken out."""
    folded = text.casefold()
    return _SECRET_VALUE.sub(_HIDDEN, text) if any(map(folded.__contains__, _SECRET_SIGNS)) else text


def now() -> datetime:
    """The time, as entries have it."""
    return datetime.now(UTC)


def _text(value: str, preview_bytes: int, *, is_content: bool, is_secret: bool) -> Json:
    if is_secret:
        return _HIDDEN
    data = value.encode(errors="replace")
    if not is_content and len(data) <= preview_bytes:
        return masked(value)
    # Masked before it is cut, because half a secret is one too. Never the whole: of short contents at most the first half.
    shown = masked(value[: 4 * preview_bytes]).encode(errors="replace")[: min(preview_bytes, len(data) // 2)].decode(errors="ignore")
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "preview": shown}


def dump(line: Mapping[str, Json]) -> bytes:
    """One line of the log."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace")
