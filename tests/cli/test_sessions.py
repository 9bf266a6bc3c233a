"""holdfast sessions: which there are, what was said, other titles, and none any more"""

import json
from pathlib import Path

from tests.cli.terminal import Terminal
from tests.promises import carries

SCRIPT = "turns: [{answers: [[{say: 'I look.'}, {call: read, with: {path: /notes.md}}], [{say: 'Two lines, {{user}}.'}]]}]"


def talked(terminal: Terminal, said: str = "my friend") -> str:
    """The id of a session in which something was said."""
    script = terminal.home.parent / "mine.yaml"
    script.write_text(SCRIPT)
    ended = terminal.run("run", "--model", str(script), "--json", said)
    assert ended.code == 0, ended.err
    return json.loads(ended.out.splitlines()[0])["payload"]["conversationId"]


@carries("RUN-8")
def test_sessions_are_listed_the_last_used_first_and_shown_as_they_were(terminal: Terminal) -> None:
    first, second = talked(terminal), talked(terminal, "and now?")

    listed = terminal.run("sessions")
    told = json.loads(terminal.run("sessions", "--json").out)
    shown = terminal.run("sessions", "show", first)
    as_json = json.loads(terminal.run("sessions", "show", first, "--json").out)

    assert [each["id"] for each in told] == [second, first]
    assert [line.split()[0] for line in listed.out.splitlines()] == [second, first]
    assert all(word in listed.out for word in ("my friend", "coder", "guided", "idle"))
    lines = shown.out.splitlines()
    assert lines[0] == "my friend"
    for line in ("> my friend", "I look.", "▸ read path=/notes.md", "  first", "  second", "Two lines, my friend."):
        assert line in lines
    assert [each["role"] for each in as_json["messages"]] == ["user", "assistant", "tool", "assistant"]


@carries("RUN-8")
def test_a_session_is_renamed_and_deleted_and_what_is_not_there_is_told(terminal: Terminal) -> None:
    session = talked(terminal)

    renamed = terminal.run("sessions", "rename", session, "\x1b[31mOther")
    title = json.loads(terminal.run("sessions", "--json").out)[0]["title"]
    deleted = terminal.run("sessions", "delete", session)
    again = [terminal.run("sessions", *words) for words in (["delete", session], ["show", session], ["rename", session, "x"])]

    assert (renamed.code, title, deleted.code) == (0, "\x1b[31mOther", 0)
    assert "\x1b" not in renamed.out
    assert [(each.code, "Session not found" in each.err) for each in again] == [(1, True)] * 3
    assert "there are none yet" in terminal.run("sessions").out


@carries("RUN-8")
def test_where_nobody_ever_talked_that_is_told(terminal: Terminal, tmp_path: Path) -> None:
    nowhere, elsewhere = terminal.run("sessions"), terminal.run("sessions", "--project", str(tmp_path))

    assert [(each.code, bool(each.err)) for each in (nowhere, elsewhere)] == [(1, True)] * 2
