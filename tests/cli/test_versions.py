"""holdfast history, diff, restore and undelete: what people do with the versions of a file, by its path"""

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import COMMAND, Ended, Terminal
from tests.promises import carries
from tests.served import serving

COMMANDS = ("history", "diff", "restore", "undelete")
DONE = {"history": (), "diff": (), "restore": ("--version", "1")}


def written(terminal: Terminal, *contents: str, path: str = "docs/a.md") -> None:
    for content in contents:
        assert terminal.run("call", "write", f"path=/{path}", f"content={content}", "overwrite=true").code == 0


def rows(ended: Ended) -> list[list[str]]:
    """The cells of a table, without its heads."""
    return [re.split(r"\s{2,}", line.strip()) for line in ended.out.splitlines()[2:]]


def at_a_terminal(terminal: Terminal, *words: str, **environ: str) -> str:
    """What somebody sees who looks at a real terminal."""
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.DEVNULL, stdout=theirs, cwd=terminal.project, env={**known, "TERM": "xterm", **environ}
    ) as command:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # how a terminal says that nobody is on the other side any more
            pass
    os.close(ours)
    assert command.returncode == 0
    return seen.decode().replace("\r\n", "\n")


@carries("PEOPLE-1")
def test_history_is_a_table_with_the_newest_first(terminal: Terminal) -> None:
    written(terminal, "one\n", "three\n")
    (terminal.project / "docs/a.md").write_text("by hand\n")
    written(terminal, "four!\n")

    ended = terminal.run("history", "docs/a.md")

    assert (ended.code, ended.err, ended.out.splitlines()[0]) == (0, "", "docs/a.md")
    assert ended.out.splitlines()[1].split() == ["version", "when", "who", "what", "bytes"]
    assert [(number, who, what, size) for number, _, who, what, size in rows(ended)] == [
        ("4", "this machine", "write", "6"),
        ("3", "somebody else", "external", "8"),
        ("2", "this machine", "write", "6"),
        ("1", "this machine", "write", "4"),
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", when) for _, when, *_ in rows(ended))


@carries("PEOPLE-1")
def test_history_tells_of_moves_and_of_a_file_that_is_deleted(terminal: Terminal) -> None:
    written(terminal, "one\n")
    terminal.run("call", "mv", "source=/docs/a.md", "destination=/docs/b.md")
    moved = terminal.run("history", "docs/b.md")
    terminal.run("call", "rm", "path=/docs/b.md")
    gone = terminal.run("history", "docs/b.md")

    assert [row[3] for row in rows(moved)] == ["move", "write as docs/a.md"]
    assert "undelete" in gone.out.splitlines()[0]
    assert rows(gone)[0][3] == "remove"


@carries("PEOPLE-2")
def test_diff_shows_what_the_last_change_did_or_what_lies_between_two_versions(terminal: Terminal) -> None:
    written(terminal, "one\n", "two\n", "three\n")
    ids = [one["version_id"] for one in json.loads(terminal.run("history", "docs/a.md", "--json").out)["result"]["result"]["versions"]]

    last = terminal.run("diff", "docs/a.md")
    by_number = terminal.run("diff", "docs/a.md", "--from", "1", "--to", "3")
    by_id = terminal.run("diff", "docs/a.md", "--from", ids[2], "--to", ids[0])

    assert last.out == "--- docs/a.md@2\n+++ docs/a.md@3\n@@ -1 +1 @@\n-two\n+three\n"
    assert by_number.out == "--- docs/a.md@1\n+++ docs/a.md@3\n@@ -1 +1 @@\n-one\n+three\n"
    assert by_id == by_number


@carries("PEOPLE-2")
def test_where_nothing_differs_that_is_said_and_is_no_error(terminal: Terminal) -> None:
    written(terminal, "one\n")

    only = terminal.run("diff", "docs/a.md")
    same = terminal.run("diff", "docs/a.md", "--from", "1", "--to", "1")

    assert (only.code, only.out, same.code, same.out) == (0, "", 0, "")
    assert "no difference" in only.err


@carries("PEOPLE-2", "PEOPLE-7")
def test_at_a_terminal_a_diff_is_coloured_and_what_the_file_says_is_not_obeyed(terminal: Terminal) -> None:
    written(terminal, "one\n", "\x1b[2Jtwo\n")

    coloured = at_a_terminal(terminal, "diff", "docs/a.md")
    plain = [at_a_terminal(terminal, "diff", "docs/a.md", **environ) for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"})]

    assert "\x1b[31m-one\x1b[0m\n\x1b[32m+^[[2Jtwo\x1b[0m\n" in coloured
    assert all("-one\n+^[[2Jtwo\n" in shown and "\x1b" not in shown for shown in plain)
    assert terminal.run("diff", "docs/a.md").out.endswith("+\x1b[2Jtwo\n")


@carries("PEOPLE-7")
def test_a_name_that_would_move_the_cursor_is_written_out(terminal: Terminal) -> None:
    written(terminal, "one\n", path="a\x1b[2Jb")

    assert terminal.run("history", "a\x1b[2Jb").out.startswith("a^[[2Jb\n")


@carries("PEOPLE-3")
def test_restore_brings_the_named_version_back_and_takes_none_away(terminal: Terminal) -> None:
    written(terminal, "one\n", "two\n", "three\n")

    ended = terminal.run("restore", "docs/a.md", "--version", "1")

    assert (ended.code, ended.out) == (0, "docs/a.md is as it was in version 1\n")
    assert (terminal.project / "docs/a.md").read_text() == "one\n"
    assert [row[0] for row in rows(terminal.run("history", "docs/a.md"))] == ["4", "3", "2", "1"]


@carries("PEOPLE-3")
def test_without_a_version_the_newest_comes_back_that_the_file_is_not_now(terminal: Terminal) -> None:
    file = terminal.project / "docs/a.md"
    written(terminal, "one\n", "two\n")
    terminal.run("restore", "docs/a.md")
    after_a_change = file.read_text()
    file.write_text("spoiled by hand\n")
    terminal.run("restore", "docs/a.md")
    after_a_spoiling = file.read_text()
    file.unlink()
    terminal.run("restore", "docs/a.md")

    assert (after_a_change, after_a_spoiling, file.read_text()) == ("one\n", "one\n", "one\n")
    assert "external" in terminal.run("history", "docs/a.md").out


@carries("PEOPLE-3")
def test_what_has_no_other_version_is_not_restored(terminal: Terminal) -> None:
    written(terminal, "one\n")

    ended = terminal.run("restore", "docs/a.md")

    assert (ended.code, ended.out) == (1, "")
    assert "no other version" in ended.err


@carries("PEOPLE-4")
def test_undelete_brings_back_what_was_deleted_last_and_alone_lists_what_can_be(terminal: Terminal) -> None:
    for content in ("first", "second"):
        written(terminal, content)
        terminal.run("call", "rm", "path=/docs/a.md")
    listed = terminal.run("undelete")

    by_path = terminal.run("undelete", "docs/a.md")
    left = terminal.run("undelete")

    assert [line.split()[0] for line in listed.out.splitlines()] == ["docs/a.md", "docs/a.md"]
    assert (by_path.code, by_path.out, (terminal.project / "docs/a.md").read_text()) == (0, "docs/a.md is back\n", "second")
    assert len(left.out.splitlines()) == 1


@carries("PEOPLE-4")
def test_of_several_with_one_path_each_can_be_had_by_its_id(terminal: Terminal) -> None:
    for content in ("first", "second"):
        written(terminal, content)
        terminal.run("call", "rm", "path=/docs/a.md")
    oldest = terminal.run("undelete").out.splitlines()[1].partition("--id ")[2].rstrip(")")

    ended = terminal.run("undelete", "--id", oldest)

    assert (ended.code, (terminal.project / "docs/a.md").read_text()) == (0, "first")
    assert terminal.run("history", "--id", oldest).out.startswith("docs/a.md\n")


@carries("PEOPLE-4")
def test_where_nothing_is_deleted_that_is_said(terminal: Terminal) -> None:
    written(terminal, "one\n")

    assert terminal.run("undelete").out == "nothing is deleted\n"


@carries("PEOPLE-5")
@pytest.mark.parametrize("command", DONE)
def test_a_path_is_taken_as_it_is_typed_wherever_one_is(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    written(terminal, "one\n", "two\n")
    absolute = str(terminal.project / "docs/a.md")
    (terminal.home.parent / "link").symlink_to(terminal.project)
    places = (
        (terminal.project, "docs/a.md"),
        (terminal.project, "./docs/../docs/a.md"),
        (terminal.project / "docs", "a.md"),
        (terminal.project / "docs", "../docs/a.md"),
        (terminal.project / "docs", absolute),
        (terminal.home.parent, absolute),
        (terminal.home.parent, "project/docs/a.md"),
        (terminal.home.parent, "link/docs/a.md"),
        (Path("/"), absolute),
    )

    for folder, path in places:
        monkeypatch.chdir(folder)
        ended = terminal.run(command, path, *DONE[command])

        assert (ended.code, ended.err) == (0, ""), (folder, path)


@carries("PEOPLE-5")
def test_a_project_within_another_is_asked_first_and_then_the_outer_one(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    written(terminal, "outer\n")
    monkeypatch.chdir(terminal.project / "docs")
    written(terminal, "inner, longer\n", path="b.md")

    outer, inner = terminal.run("history", "a.md"), terminal.run("history", "b.md")

    assert (outer.out.splitlines()[0], rows(outer)[0][-1]) == ("docs/a.md", "6")
    assert (inner.out.splitlines()[0], rows(inner)[0][-1]) == ("b.md", "14")


@carries("PEOPLE-5")
def test_a_project_may_be_named(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written(terminal, "one\n", "two\n")
    monkeypatch.chdir(tmp_path)

    from_here = terminal.run("history", "project/docs/a.md", "--project", "project")
    from_there = terminal.run("history", "docs/a.md", "--project", "project")

    assert (from_here.code, from_here.out.splitlines()[0]) == (0, "docs/a.md")
    assert from_there == from_here


@carries("PEOPLE-5", "PEOPLE-6")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "docs/../../outside.md"])
def test_a_path_outside_the_project_is_refused_with_2(terminal: Terminal, command: str, path: str) -> None:
    written(terminal, "one\n")

    ended = terminal.run(command, path)

    assert (ended.code, ended.out) == (2, "")
    assert "outside" in ended.err


@carries("PEOPLE-6")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_that_leads_out_and_a_protected_path_change_nothing(terminal: Terminal, command: str) -> None:
    written(terminal, "one\n")
    (terminal.project / "out").symlink_to("/etc")

    assert terminal.run(command, "out/passwd").code == 2
    assert terminal.run(command, ".env").code in (1, 2)


@carries("PEOPLE-6")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", ["notes.md", "nowhere.md", "no/such/folder/x.md", "."])
def test_what_nothing_is_remembered_of_is_an_error_with_1(terminal: Terminal, command: str, path: str) -> None:
    written(terminal, "one\n")

    ended = terminal.run(command, path)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"holdfast {command}: ")
    assert "Traceback" not in ended.err


@carries("PEOPLE-6")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["history"], "PATH"),
        (["diff"], "PATH"),
        (["restore"], "PATH"),
        (["restore", "--id", "x"], "--version"),
        (["history", "a.md", "--id", "x"], "not both"),
        (["history", "a.md", "--project", "/no/such/folder"], "project"),
        (["diff", "a.md", "--no-such-option"], "--no-such-option"),
    ],
)
def test_a_wrong_usage_leaves_with_64(terminal: Terminal, words: list[str], named: str) -> None:
    ended = terminal.run(*words)

    assert (ended.code, ended.out) == (64, "")
    assert named in ended.err


def test_where_no_project_is_that_is_said_and_none_is_made(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    first, second = terminal.run("history", "x"), terminal.run("history", "x")

    assert (first.code, second.code) == (64, 64)
    assert "--project" in second.err


@carries("PEOPLE-6")
@pytest.mark.parametrize(("version", "code"), [("1", 0), ("99", 1), ("nonsense", 1)])
def test_as_json_the_answer_is_the_one_of_call(terminal: Terminal, version: str, code: int) -> None:
    written(terminal, "one\n", "two\n")

    ended = terminal.run("restore", "docs/a.md", "--version", version, "--json")

    told = json.loads(ended.out)
    assert (ended.code, ended.err, told["outcome"]) == (code, "", "failed" if code else "done")
    assert (told["code"], told["result"]["success"]) == ("not_found" if code else None, not code)


@carries("PEOPLE-6")
def test_beside_a_running_server_the_call_is_passed_on_and_people_have_names(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.call("write", path="/a.md", content="one\n")
        served.call("write", path="/a.md", content="two\n", overwrite=True)
        path = str(served.project / "a.md")

        listed = served.run("history", path)
        changed = served.run("diff", path)
        served.run("restore", path)

    assert listed.stdout.count(str(served.told["user"])) == 2
    assert changed.stdout.endswith("-one\n+two\n")
    assert (served.project / "a.md").read_text() == "one\n"
