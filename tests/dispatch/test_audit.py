"""What is recorded of a call: never whole contents, never secrets, and never much."""

import hashlib
import json
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.dispatch.audit import AuditEntry, entry, given_to, masked, summary
from holdfast.tool import Content, Context, tool
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import NotFound
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from tests.promises import carries
from tests.tool.plain import made

KIB = 1024
STARTED = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


def summed(value: object, *contents: str, preview_bytes: int = KIB) -> Any:
    return summary(value, set(contents), preview_bytes)


def line(outcome: Outcome, call: ToolCall | None = None, given: Json = None) -> dict[str, Any]:
    """The line that a call leaves, as a reader of the log gets it."""
    made = entry(call or ToolCall("1", "read", {}), given, outcome, started=STARTED, duration_ms=1.23456, preview_bytes=KIB)
    return json.loads(json.dumps(made.line(), ensure_ascii=False, allow_nan=False).encode())


# What becomes of values


@pytest.mark.parametrize(
    "value", [None, True, 0, -1, 2**63, 1.5, "short", "", [], {}, ["a", {"b": [1, None]}], {"path": "docs/a.md", "limit": 3}]
)
def test_what_is_short_stays_as_it_is(value: object) -> None:
    assert summed(value) == value


@carries("AUDIT-3")
def test_a_long_text_is_its_size_its_hash_and_its_beginning() -> None:
    text = "line\n" * 1000

    assert summed({"path": text}) == {"path": {"bytes": 5000, "sha256": hashlib.sha256(text.encode()).hexdigest(), "preview": text[:KIB]}}


@carries("AUDIT-3")
def test_a_text_of_exactly_the_preview_s_size_is_shown_and_one_byte_more_is_not() -> None:
    assert summed("x" * KIB) == "x" * KIB
    assert summed("x" * (KIB + 1))["bytes"] == KIB + 1


@carries("AUDIT-3")
@pytest.mark.parametrize("name", ["content", "Content", "CONTENT", "con_tent", "newString", "new_string", "NEW-STRING"])
def test_contents_are_never_shown_whole_however_short_and_however_they_are_spelled(name: str) -> None:
    text = "the whole text of a very small file"

    told = summed({name: text}, "content", "newstring")

    assert told[name]["bytes"] == len(text)
    assert told[name]["preview"] == text[: len(text) // 2]


@carries("AUDIT-3")
@pytest.mark.parametrize("text", ["", "x", "xy"])
def test_of_the_shortest_contents_at_most_half_is_shown(text: str) -> None:
    assert len(summed({"content": text}, "content")["content"]["preview"]) <= len(text) / 2


def test_contents_in_a_list_are_contents() -> None:
    told = summed({"before": ["a line of the file", "another one"]}, "before")

    assert [each["preview"] for each in told["before"]] == ["a line of", "anoth"]


TEXTS = st.text(max_size=300) | st.lists(st.sampled_from(["token=a ", "password=b\n", "é", "🌊", "x", "\ud800"]), max_size=60).map("".join)


@carries("AUDIT-3")
@given(TEXTS, st.integers(0, 100))
@example("token=a " * 12, 90)
def test_a_preview_is_never_longer_than_its_limit_nor_than_half_of_contents(text: str, preview_bytes: int) -> None:
    size = len(text.encode(errors="replace"))

    as_content = summed({"content": text}, "content", preview_bytes=preview_bytes)["content"]
    as_other = summed({"path": text}, preview_bytes=preview_bytes)["path"]

    shown = as_other if isinstance(as_other, str) else as_other["preview"]
    assert as_content["bytes"] == size
    assert len(as_content["preview"].encode()) <= min(preview_bytes, size // 2)
    assert len(shown.encode()) <= preview_bytes


# Secrets


@carries("AUDIT-6")
@pytest.mark.parametrize(
    "name", ["api_key", "apiKey", "token", "access_token", "secret", "clientSecret", "password", "PASSWD", "credential", "Authorization"]
)
def test_the_value_of_a_telling_name_is_hidden(name: str) -> None:
    assert summed({name: "hunter2", "deep": [{name: ["hunter2"]}]}) == {name: "[hidden]", "deep": [{name: ["[hidden]"]}]}


@carries("AUDIT-6")
@pytest.mark.parametrize("where", range(-60, 5, 4))
def test_a_secret_across_the_end_of_a_preview_is_not_shown_in_part(where: int) -> None:
    secret = "sk-live0123456789abcdefghijklmnopqrstuvwxyz"
    text = "x" * (KIB + where - 1) + " " + secret + " " + "y" * 5000

    preview = summed(text)["preview"]

    assert "sk-live0" not in preview
    assert len(preview) <= KIB


@carries("AUDIT-6")
def test_secrets_in_names_are_hidden_too() -> None:
    told = summed({"ghp_0123456789abcdefghijklmnopqrstuvwxyz": 1, "https://anna:hunter2@example.org": 2})

    assert told == {"[hidden]": 1, "https://[hidden]@example.org": 2}


@carries("AUDIT-6")
@pytest.mark.parametrize(
    "text",
    ['{"api_key": "hunter2", "path": "x"', '{"token":"hunter2"}', '"password":  "hunter2"', '{"client_secret" :"x", "secret":"hunter2'],
)
def test_a_secret_in_text_that_looks_like_json_is_hidden(text: str) -> None:
    assert "hunter2" not in masked(text)


@pytest.mark.parametrize(
    "piece", ["eyJ-", "eyJ", "eyJa.", "token=", "://a:", "sk-", "-----BEGIN", 'token":', "ghp_", "xoxb-", "AKIA", "a:b@", "://"]
)
def test_looking_for_secrets_takes_no_time_that_grows_with_its_square(piece: str) -> None:
    started = time.perf_counter()
    masked(piece * (200_000 // len(piece)))

    assert time.perf_counter() - started < 30


# Bounds


def test_a_long_list_shows_its_beginning_and_how_many_more_there_are() -> None:
    assert summed(list(range(60))) == [*range(50), {"more": 10}]
    assert summed(list(range(50))) == [*range(50)]


def test_a_wide_object_shows_its_beginning_and_how_many_more_there_are() -> None:
    told = summed({str(number): number for number in range(60)})

    assert (len(told), told["49"], told["more"]) == (51, 49, 10)


def test_deep_nests_end_somewhere() -> None:
    deep: Json = "bottom"
    for _ in range(10_000):
        deep = [deep]

    assert len(json.dumps(summed(deep))) < 200


@carries("AUDIT-3")
@pytest.mark.parametrize("leaf", ["x", "x" * KIB, 12345678, {"content": "y" * 5000}, {"k" * 300: None}])
def test_nests_that_are_wide_and_deep_at_once_stay_small(leaf: Json) -> None:
    wide: Json = leaf
    for _ in range(4):
        wide = [wide] * 50

    assert len(json.dumps(summed(wide, "content"))) < 200_000


def test_numbers_without_end_and_those_that_are_none_can_be_written() -> None:
    told = summed({"large": 10**5000, "none": float("nan"), "endless": float("inf")})

    assert told == {"large": {"bits": (10**5000).bit_length()}, "none": "nan", "endless": "inf"}


def test_what_json_does_not_know_is_said_in_words_or_by_its_size() -> None:
    assert summed({"when": datetime(2026, 1, 2, tzinfo=UTC), "raw": b"bytes", 3: "three"}) == {
        "when": "2026-01-02 00:00:00+00:00",
        "raw": {"bytes": 5},
        "3": "three",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_whatever_is_summed_up_can_be_written_as_json(value: object) -> None:
    json.dumps(summed(value, "content"), allow_nan=False).encode()


# Arguments


@tool
async def store(ctx: Context, path: str, the_body: Annotated[str, Content()] = "", note: str = "") -> None:
    raise NotImplementedError


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("name", ["the_body", "theBody", "THE-BODY"])
def test_an_argument_that_holds_contents_is_never_recorded_whole(name: str, as_text: bool) -> None:
    arguments: dict[str, Json] = {"path": "a.md", name: "all of it, whatever", "note": "in the margin"}
    call = ToolCall("1", "store", json.dumps(arguments) if as_text else arguments)

    told: Any = given_to(call, made(store), KIB)

    assert (told["path"], told["note"]) == ("a.md", "in the margin")
    assert told[name]["preview"] == "all of it"


def test_without_a_tool_the_usual_names_of_contents_are_contents() -> None:
    told: Any = given_to(ToolCall("1", "unknown", {"content": "all of it", "Text": "all of it", "other": "all of it"}), None, KIB)

    assert (told["content"]["preview"], told["Text"]["preview"], told["other"]) == ("all ", "all ", "all of it")


@pytest.mark.parametrize("text", ["not json at all", '{"content": "the whole of a file"', "[1, 2, 3]", '"text"'])
def test_arguments_that_are_no_object_are_recorded_as_contents_are(text: str) -> None:
    told: Any = given_to(ToolCall("1", "store", text), made(store), KIB)

    assert told["bytes"] == len(text)
    assert len(told["preview"]) <= len(text) / 2


# Lines


ANSWER = Answer({"ok": True, "content": "the text of the file", "path": "@project/a.md"}, "text")


@carries("AUDIT-2")
def test_a_line_has_the_fields_of_the_log() -> None:
    call = ToolCall("call-1", "fs.read", {"path": "@project/a.md"}, Caller(agent="planner"))

    told = line(Done(ANSWER), call, {"path": "@project/a.md"})

    assert told == {
        "ts": "2026-01-02T03:04:05.678Z",
        "kind": "tool.exec",
        "toolCallId": "call-1",
        "toolName": "fs.read",
        "agentId": "planner",
        "input": {"path": "@project/a.md"},
        "output": {
            "ok": True,
            "content": {"bytes": 20, "sha256": hashlib.sha256(b"the text of the file").hexdigest(), "preview": "the text o"},
            "path": "@project/a.md",
        },
        "durationMs": 1.235,
    }


@pytest.mark.parametrize(("kind", "refused"), [(Refused, True), (Failed, False)])
def test_the_line_of_an_error_says_its_code_reason_and_facts(kind: type[Refused] | type[Failed], refused: bool) -> None:
    error = NotFound("file not found: a.md", hint="List the directory.", path="a.md", mount="project")

    told = line(kind(Answer({"error": "gone"}, "gone", is_error=True), error))["output"]

    assert told == {
        "error": "gone",
        "refused": refused,
        "code": "not_found",
        "reason": "file not found: a.md",
        "facts": {"path": "a.md", "mount": "project"},
    }


def test_the_line_of_an_error_whose_answer_is_no_object_keeps_it_as_the_result() -> None:
    told = line(Failed(Answer("gone", "gone", is_error=True), NotFound("gone")))["output"]

    assert (told["result"], told["code"]) == ("gone", "not_found")


@pytest.mark.parametrize(
    ("outcome", "kind", "code"),
    [
        (Done(ANSWER), "done", None),
        (Refused(ANSWER, NotFound("x")), "refused", "not_found"),
        (Failed(ANSWER, NotFound("x")), "failed", "not_found"),
    ],
)
def test_an_entry_says_what_came_of_the_call(outcome: Outcome, kind: str, code: str | None) -> None:
    made: AuditEntry = entry(ToolCall("1", "read", {}), {}, outcome, started=STARTED, duration_ms=1, preview_bytes=KIB)

    assert (made.outcome, made.code) == (kind, code)


@carries("AUDIT-6")
def test_a_reason_is_short_and_holds_no_secret() -> None:
    error = NotFound("x" * 990 + " sk-live0123456789abcdefghijklmnopqrstuvwxyz " + "y" * 100_000)

    reason = line(Failed(ANSWER, error))["output"]["reason"]

    assert len(reason) <= KIB
    assert "sk-live" not in reason


def test_names_that_callers_choose_are_short_in_a_line() -> None:
    told = line(Done(ANSWER), ToolCall("i" * 10_000, "n" * 10_000, {}, Caller(agent="a" * 10_000)))

    assert [len(told[name]) for name in ("toolCallId", "toolName", "agentId")] == [200, 200, 200]
