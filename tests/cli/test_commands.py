"""holdfast call bash: what becomes of a command's effects, for scripts and for somebody at a terminal"""

import json
import re
import time
from contextlib import AbstractContextManager

import pytest

from holdfast.cli.visible import visible, visible_json, visible_line
from tests.cli.terminal import Terminal
from tests.cli.typing import END, Typist, typing
from tests.promises import carries

ASKED = "keep, choose, drop or hold? "
MADE = "command=echo said; echo new > made.txt; echo third >> notes.md"


def pending(terminal: Terminal) -> list[str]:
    return json.loads(terminal.run("call", "effects", "--json").out)["result"]["result"]["pending"]


def names(terminal: Terminal) -> list[str]:
    return sorted(path.name for path in terminal.project.iterdir())


def at_work(terminal: Terminal, *words: str, **environ: str) -> AbstractContextManager[Typist]:
    """A command that somebody runs at a terminal."""
    return typing(terminal.project, "call", "bash", *words, HOLDFAST_HOME=str(terminal.home), **environ)


@carries("BASH-13", "EFFECT-1")
def test_without_a_terminal_effects_are_kept_and_nobody_is_asked(terminal: Terminal) -> None:
    ended = terminal.run("call", "bash", MADE)

    assert (ended.code, ended.out, ended.err) == (0, "said\n", "")
    assert (terminal.project / "made.txt").read_text() == "new\n"
    assert (terminal.project / "notes.md").read_text() == "first\nsecond\nthird\n"


@carries("BASH-13", "EFFECT-1")
def test_scripts_say_what_becomes_of_effects(terminal: Terminal) -> None:
    dropped = terminal.run("call", "bash", MADE, "--drop")
    held = terminal.run("call", "bash", MADE, "--hold", "--json")
    told = json.loads(held.out)["result"]["metadata"]
    untouched = names(terminal)
    decided = terminal.run("call", "keep", f"effects_id={told['effectsId']}", "paths=/made.txt")
    wrong = terminal.run("call", "keep", f"effects_id={told['effectsId']}", 'paths=["/made.txt"]')
    kept = terminal.run("call", "bash", "command=rm notes.md", "--keep")

    assert (dropped.code, held.code, kept.code) == (0, 0, 0)
    assert "dropped" in dropped.out
    assert (told["effectsState"], untouched) == ("held", ["notes.md"])
    assert sorted((decided.code, wrong.code)) == [0, 2]
    assert names(terminal) == ["made.txt"]


@carries("BASH-13", "CLI-2")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["command=true"], 0),
        (["command=exit 42"], 1),
        (["command=sleep 60", "timeout=1"], 1),
        (["comand=true"], 64),
        (["command=true", "timeout=soon"], 2),
        (["command=true", "--profile", "simple"], 2),
        (["command=true", "--keep", "--drop"], 64),
    ],
)
def test_the_code_tells_done_failed_and_refused_apart(terminal: Terminal, words: list[str], code: int) -> None:
    assert terminal.run("call", "bash", *words).code == code


@carries("BASH-13")
def test_as_json_it_answers_as_in_python(terminal: Terminal) -> None:
    ended = terminal.run("call", "bash", "command=echo out; exit 42", "--json")

    told = json.loads(ended.out)
    assert (ended.code, told["outcome"], told["code"]) == (1, "failed", "command_failed")
    assert (told["result"]["output"], told["result"]["is_error"], told["result"]["metadata"]["exitCode"]) == ("out\n", True, 42)


def test_a_script_may_come_from_standard_input(terminal: Terminal) -> None:
    ended = terminal.run("call", "bash", "--stdin", "command", stdin=b"cat <<END\nfrom here\nEND\n")

    assert (ended.code, ended.out) == (0, "from here\n")


def test_at_a_terminal_the_diff_is_shown_in_colours_and_all_is_kept_when_that_is_said(terminal: Terminal) -> None:
    with at_work(terminal, MADE) as somebody:
        shown = somebody.answers(ASKED, "keep")
        code = somebody.ends()

    assert shown.startswith("said\n")
    assert "   added  made.txt\n" in shown
    assert " changed  notes.md\n" in shown
    assert "\x1b[36m@@ -1,2 +1,3 @@\x1b[0m\n first\n second\n\x1b[32m+third\x1b[0m\n" in shown
    assert (code, "kept 2\n" in somebody.rest) == (0, True)
    assert (terminal.project / "made.txt").read_text() == "new\n"
    assert pending(terminal) == []


def test_at_a_terminal_some_may_be_chosen_and_a_folder_is_asked_for_once(terminal: Terminal) -> None:
    command = "command=mkdir -p one two; touch one/a one/b two/c two/d; echo third >> notes.md"
    with at_work(terminal, command) as somebody:
        somebody.answers(ASKED, "choose")
        somebody.answers("keep /notes.md (changed)? [y/N] ", "n")
        somebody.answers("keep /one and what is in it (added)? [y/N] ", "y")
        somebody.answers("keep /two and what is in it (added)? [y/N] ", "")
        somebody.answers("keep /two/c (added)? [y/N] ", "y")
        somebody.answers("keep /two/d (added)? [y/N] ", "n")
        code = somebody.ends()

    assert (code, "/one/a" in somebody.rest) == (0, False)
    made = sorted(str(path.relative_to(terminal.project)) for path in terminal.project.rglob("*"))
    assert made == ["notes.md", "one", "one/a", "one/b", "two", "two/c"]
    assert (terminal.project / "notes.md").read_text() == "first\nsecond\n"


def test_at_a_terminal_nothing_is_lost_by_choosing_nothing_or_by_an_answer_that_is_none(terminal: Terminal) -> None:
    with at_work(terminal, "command=touch made.txt; exit 3") as somebody:
        somebody.answers(ASKED, "")
        somebody.answers(ASKED, "what?")
        somebody.answers(ASKED, "c")
        somebody.answers("keep /made.txt (added)? [y/N] ", "n")
        somebody.until("nothing is chosen")
        somebody.answers(ASKED, "d")
        code = somebody.ends()

    assert (code, "dropped\n" in somebody.rest) == (1, True)
    assert (names(terminal), pending(terminal)) == (["notes.md"], [])


@pytest.mark.parametrize("answers", [[(ASKED, "hold")], [(ASKED, END)], [(ASKED, "choose"), ("keep /made.txt (added)? [y/N] ", END)]])
def test_who_holds_or_leaves_has_decided_nothing(terminal: Terminal, answers: list[tuple[str, str]]) -> None:
    with at_work(terminal, MADE) as somebody:
        for question, answer in answers:
            somebody.answers(question, answer)
        code = somebody.ends()

    [waiting] = pending(terminal)
    assert f"holdfast call keep effects_id={waiting}" in somebody.rest
    assert (code, names(terminal)) == (0, ["notes.md"])


def test_who_interrupts_the_question_has_decided_nothing(terminal: Terminal) -> None:
    with at_work(terminal, MADE) as somebody:
        somebody.until(ASKED)
        somebody.interrupts()
        code = somebody.ends()

    assert f"effects_id={pending(terminal)[0]}" in somebody.rest
    assert (code, names(terminal)) == (130, ["notes.md"])


@carries("BASH-8")
def test_who_interrupts_the_command_gets_nothing_of_it(terminal: Terminal) -> None:
    with at_work(terminal, "command=echo x > made.txt; sleep 300") as somebody:
        _until_running(terminal)
        somebody.interrupts()
        code = somebody.ends()

    assert (code, names(terminal), pending(terminal)) == (130, ["notes.md"], [])


def test_what_was_typed_before_the_effects_were_shown_is_no_answer(terminal: Terminal) -> None:
    with at_work(terminal, "command=touch made.txt; sleep 0.5") as somebody:
        _until_running(terminal)
        somebody.types("keep\n")
        somebody.answers(ASKED, "drop")
        somebody.ends()

    assert names(terminal) == ["notes.md"]


@carries("EFFECT-3")
def test_what_cannot_be_kept_is_said_and_there_is_still_a_choice(terminal: Terminal) -> None:
    with at_work(terminal, MADE) as somebody:
        somebody.until(ASKED)
        (terminal.project / "notes.md").write_text("mine\n")
        somebody.types("keep\n")
        refused = somebody.answers(ASKED, "choose")
        somebody.answers("keep /made.txt (added)? [y/N] ", "y")
        somebody.answers("keep /notes.md (changed)? [y/N] ", "n")
        code = somebody.ends()

    assert "changed meanwhile: /notes.md" in refused
    assert (code, names(terminal)) == (0, ["made.txt", "notes.md"])
    assert (terminal.project / "notes.md").read_text() == "mine\n"


def test_what_others_have_decided_meanwhile_is_said(terminal: Terminal) -> None:
    with at_work(terminal, MADE) as somebody:
        somebody.until(ASKED)
        # Somebody else's call is passed on to the process that waits here, and must not wait for the person.
        [waiting] = pending(terminal)
        assert terminal.run("call", "drop", f"effects_id={waiting}").code == 0
        somebody.types("keep\n")
        code = somebody.ends()

    assert (code, "decided once" in somebody.rest) == (1, True)
    assert names(terminal) == ["notes.md"]


@carries("EFFECT-4")
@pytest.mark.parametrize(("answer", "is_kept"), [("y", True), ("n", False)])
def test_settings_of_git_are_asked_for_apart(terminal: Terminal, answer: str, is_kept: bool) -> None:
    assert terminal.run("call", "bash", "command=git init -q .").code == 0

    with at_work(terminal, "command=git config alias.x '!true'; echo new > made.txt") as somebody:
        somebody.answers(ASKED, "keep")
        somebody.answers("These can make git run programs: /.git/config. Keep them too? [y/N] ", answer)
        code = somebody.ends()

    assert (code, (terminal.project / "made.txt").exists()) == (0, True)
    assert ("alias" in (terminal.project / ".git/config").read_text()) is is_kept
    assert ("not kept: /.git/config (protected)" in somebody.rest) is not is_kept


def test_a_new_repository_is_kept_without_more_questions(terminal: Terminal) -> None:
    with at_work(terminal, "command=git init -q .") as somebody:
        shown = somebody.answers(ASKED, "keep")
        code = somebody.ends()

    assert (code, (terminal.project / ".git/config").exists()) == (0, True)
    assert "#!/bin/sh" not in shown


@carries("PEOPLE-7")
def test_at_a_terminal_what_a_command_prints_and_how_files_are_called_is_shown_and_not_obeyed(terminal: Terminal) -> None:
    command = r"""command=printf 'a\033[2Jb\302\2332J\r\n'; printf '\033]0;x\007' > "$(printf 'n\033[2Jx\nkept 5')" """

    with at_work(terminal, command) as somebody:
        shown = somebody.answers(ASKED, "choose")
        asked = somebody.answers(" (added)? [y/N] ", "y")
        somebody.ends()

    assert shown.startswith("a^[[2Jb\\x9b2J^M\n")
    assert "   added  n^[[2Jx^Jkept 5\n" in shown
    assert "+^[]0;x^G" in shown
    assert "keep /n^[[2Jx^Jkept 5" in asked
    assert "\x1b[2J" not in somebody.seen
    assert "\x07" not in somebody.seen


@carries("PEOPLE-7")
def test_whoever_pipes_the_output_gets_every_byte(terminal: Terminal) -> None:
    ended = terminal.run("call", "bash", r"command=printf 'a\033[2Jb\r\n'")

    assert ended.out == "a\x1b[2Jb\r\n"


@carries("PEOPLE-7")
def test_orders_to_a_terminal_are_written_out_and_json_still_says_the_same() -> None:
    hostile = "a\x00\x07\x1b[2J\x7f\x9b\u202eb\u2066\tc\r\nd\ud800"

    assert visible(hostile) == "a^@^G^[[2J^?\\x9b\\u202eb\\u2066\tc^M\nd?"
    assert visible_line(hostile) == "a^@^G^[[2J^?\\x9b\\u202eb\\u2066^Ic^M^Jd?"
    assert json.loads(visible_json({"é": hostile})) == {"é": hostile.replace("\ud800", "?")}
    assert visible_json({"é": hostile}).isprintable()


@carries("COMMAND-2")
def test_where_there_is_no_sandbox_somebody_at_a_terminal_is_asked_before(terminal: Terminal) -> None:
    tools = {"HOLDFAST_UNCONFINED_COMMANDS": "I understand", "HOLDFAST_HOME": str(terminal.project / ".data")}
    asked = "real at once, anywhere. Run it? [y/N] "
    for answer, code, made in (("n", 1, False), (END, 1, False), ("y", 0, True)):
        with typing(terminal.project, "call", "bash", "command=echo new > made.txt", **tools) as somebody:
            somebody.answers(asked, answer)

            assert somebody.ends() == code
        assert (terminal.project / "made.txt").exists() is made


def _until_running(terminal: Terminal) -> None:
    """Wait until the command has made its file in the layer."""
    deadline = time.monotonic() + 30
    while not list((terminal.home / "layers").glob("*/*/project/upper/made.txt")):
        assert time.monotonic() < deadline, "the command made no file"
        time.sleep(0.02)


def test_variables_that_are_named_are_passed_on_and_with_inherit_all_that_look_harmless(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ONE", "planted-1"), ("TWO", "planted-2"), ("MY_TOKEN", "planted-3")):
        monkeypatch.setenv(name, value)
    said: list[str] = []
    for setting in ("ONE", "MY_TOKEN, inherit", ""):
        monkeypatch.setenv("HOLDFAST_COMMAND_ENV", setting)
        said.append("".join(re.findall(r"planted-(\d)", terminal.run("call", "bash", "command=env | sort").out)))

    assert said == ["1", "312", ""]
