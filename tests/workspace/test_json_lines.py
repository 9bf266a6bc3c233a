"""ripgrep's messages, cut up by a pipe and longer than anybody wants."""

import base64
import json

import pytest

from holdfast.workspace import json_lines
from holdfast.workspace.json_lines import JsonLines

MAX_BYTES = 4_096


@pytest.fixture(autouse=True)
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_BYTES", MAX_BYTES)


def message(text: str, number: int, *, submatches: int = 1) -> bytes:
    """A message as ripgrep writes it, with its fields in this order."""
    found = [{"match": {"text": "x"}, "start": 0, "end": 1}] * submatches
    data = {"path": {"text": "./f"}, "lines": {"text": text}, "line_number": number, "absolute_offset": 0, "submatches": found}
    return json.dumps({"type": "match", "data": data}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def told(data: bytes, chunk: int) -> list[tuple[int, str]]:
    lines = JsonLines()
    whole = [json.loads(line) for at in range(0, len(data), chunk) for line in lines.feed(data[at : at + chunk])]
    return [(said["data"]["line_number"], said["data"]["lines"]["text"]) for said in whole]


@pytest.mark.parametrize("chunk", [1, 2, 7, 100, 10_000])
def test_messages_come_whole_wherever_the_pipe_cuts_them(chunk: int) -> None:
    data = b"".join(message(text, number) for number, text in enumerate(["a\n", 'say "ä"\n', "", "\\\\\n"]))

    assert told(data, chunk) == [(0, "a\n"), (1, 'say "ä"\n'), (2, ""), (3, "\\\\\n")]


@pytest.mark.parametrize("chunk", [10, 1_000, 1_000_000])
@pytest.mark.parametrize("unit", ["x", "ä", "€", "𝄞", '"', "\\", '\\"', "\x01", '},"line_number":9,', "\t"])
def test_of_an_endless_line_the_beginning_and_the_number_are_kept(unit: str, chunk: int) -> None:
    text = unit * (2 * MAX_BYTES // len(unit.encode()))

    for shift in range(7):
        ((number, start), after) = told(message("s" * shift + text, 12345) + message("next", 2), chunk)

        assert number == 12345
        assert ("s" * shift + text).startswith(start)
        assert len(start) > 500
        assert after == (2, "next")


def test_of_a_line_with_endless_matches_the_whole_text_is_kept() -> None:
    assert told(message("short", 7, submatches=500), 1_000) == [(7, "short")]


@pytest.mark.parametrize("shift", range(4))
def test_of_an_endless_line_that_is_not_utf8_the_beginning_is_kept(shift: int) -> None:
    data = base64.b64encode(b"\xff" * MAX_BYTES)
    line = message("", 3).replace(b'{"text":""}', b'{"bytes":"' + data + b'"}').replace(b"./f", b"./" + b"f" * shift)

    (said,) = [json.loads(line) for line in JsonLines().feed(line)]

    start = base64.b64decode(said["data"]["lines"]["bytes"], validate=True)
    assert (said["data"]["line_number"], set(start)) == (3, {0xFF})
    assert len(start) > 2_000


def test_memory_stays_bounded_while_an_endless_line_goes_by() -> None:
    lines = JsonLines()

    for _ in range(100):
        assert list(lines.feed(b"x" * 1_000)) == []

    assert lines.held_bytes <= MAX_BYTES + 100
