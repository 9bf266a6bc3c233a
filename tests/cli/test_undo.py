"""holdfast undo: all that a call did to files, taken back"""

import json
import re

import pytest

from tests.cli.terminal import Ended, Terminal
from tests.cli.typing import typing
from tests.promises import carries
from tests.workspace.keeping import everything

COMMAND = "command=echo third >> notes.md; mkdir new; echo a > new/a; rm gone; mv old older; chmod 755 mode"


@pytest.fixture
def busy(terminal: Terminal) -> Terminal:
    """A terminal in a project where a command is about to do everything."""
    for name in ("gone", "old", "mode"):
        (terminal.project / name).write_text(f"{name}\n")
    (terminal.project / "gone").chmod(0o640)
    assert terminal.run("call", "write", "path=/written.md", "content=mine").code == 0
    return terminal


def again(ended: Ended) -> str:
    """The call that an undo was, as it says."""
    return re.findall(r"to have it again: holdfast undo (\S+)\n", ended.out)[0]


@carries("PEOPLE-8", "EFFECT-6")
def test_the_last_call_is_taken_back_then_the_one_before_and_that_can_be_taken_back(busy: Terminal) -> None:
    before = everything(busy.project)
    assert busy.run("call", "bash", COMMAND).code == 0
    after = everything(busy.project)

    first = busy.run("undo")

    assert (first.code, first.err, everything(busy.project)) == (0, "", before)
    assert {"/notes.md: as before", "/new: gone again", "/gone: back again", "/old: back at its place", "/mode: mode as before"} <= set(
        first.out.splitlines()
    )

    second = busy.run("undo")

    assert (second.code, "/written.md: gone again\n" in second.out) == (0, True)

    assert busy.run("undo", again(second)).code == 0
    assert busy.run("undo", again(first)).code == 0
    assert everything(busy.project) == after


@carries("PEOPLE-8")
def test_what_was_changed_since_is_named_nothing_is_done_and_the_code_is_1(busy: Terminal) -> None:
    busy.run("call", "bash", COMMAND)
    (busy.project / "notes.md").write_text("mine\n")
    before = everything(busy.project)

    refused = busy.run("undo")
    told = json.loads(busy.run("undo", "--json").out)
    unchanged = everything(busy.project)
    forced = busy.run("undo", "--force")

    assert (refused.code, refused.out, "/notes.md" in refused.err, unchanged == before) == (1, "", True, True)
    assert (told["outcome"], told["code"]) == ("failed", "conflict")
    assert (forced.code, (busy.project / "notes.md").read_text()) == (0, "first\nsecond\n")


@carries("PEOPLE-8", "PEOPLE-6")
def test_a_call_is_named_by_the_id_that_the_history_shows(busy: Terminal) -> None:
    busy.run("call", "bash", COMMAND)
    busy.run("call", "write", "path=/later.md", "content=later")
    call = json.loads(busy.run("history", "notes.md", "--json").out)["result"]["result"]["versions"][0]["call_id"]

    told = json.loads(busy.run("undo", call, "--json").out)

    assert (told["outcome"], told["result"]["result"]["call_id"]) == ("done", call)
    assert ((busy.project / "notes.md").read_text(), (busy.project / "later.md").exists()) == ("first\nsecond\n", True)


@pytest.mark.parametrize(("words", "code"), [((), 1), (("nobody",), 1), (("--session", "nobody"), 1), (("call", "--session", "x"), 64)])
def test_where_there_is_nothing_to_take_back_that_is_said(terminal: Terminal, words: tuple[str, ...], code: int) -> None:
    terminal.run("call", "read_file", "path=notes.md")

    ended = terminal.run("undo", *words)

    assert (ended.code, ended.out, ended.err.startswith(("holdfast undo: ", "usage: "))) == (code, "", True)


def test_the_last_call_is_one_of_the_project_that_one_is_in(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = terminal.project / "inner"
    inner.mkdir()
    terminal.run("call", "write", "path=/outer.md", "content=x")
    terminal.run("call", "ls", "path=/", "--project", "inner")
    monkeypatch.chdir(inner)

    ended = terminal.run("undo")

    assert (ended.code, (terminal.project / "outer.md").exists()) == (1, True)


@carries("PEOPLE-7")
def test_names_are_shown_at_a_terminal_and_not_obeyed(terminal: Terminal) -> None:
    terminal.run("call", "bash", r"""command=touch "$(printf 'a\033[2Jb\nc')" """)

    with typing(terminal.project, "undo", HOLDFAST_HOME=str(terminal.home)) as somebody:
        code = somebody.ends()

    assert (code, somebody.seen.startswith("/a^[[2Jb^Jc: gone again\n"), "\x1b" in somebody.seen) == (0, True, False)
