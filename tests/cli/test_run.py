"""holdfast run: what is seen of a turn, what is asked, and how it ends; alone and beside a server that holds the workspace"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.terminal import COMMAND, Ended, Terminal
from tests.cli.typing import END, Typist, typing
from tests.promises import carries
from tests.providers.server import unused_port
from tests.served import Served, serving
from tests.untested import needs

WORDS = "turns: [{answers: [[{say: Looking.}, {call: ls, with: {path: /}}], [{say: 'That is all.'}]]}]"
EDIT = """
turns:
  - answers:
      - - call: edit
          with: {path: /notes.md, old_string: second, new_string: other}
      - - say: "heard: {{result.error|nothing}}"
"""
COMMANDS = """
turns:
  - answers:
      - - call: bash
          with: {command: "echo said; echo a > a.txt; echo b > b.txt"}
      - - say: "heard: {{result}}"
"""
QUESTION = """
turns:
  - answers:
      - - call: ask_user
          with:
            questions:
              - {name: n, question: "How many?", schema: {type: integer}, buttons: [{label: Two, value: 2}]}
      - - say: "so many: {{result.result.n}}"
"""
SLOW = "turns: [{answers: [[{say: 'Wait. '}, {delay: 60}, {say: over}]]}]"
BROKEN = "turns: [{answers: [[{fault: 401, message: no}]]}]"
LONG = f"pace: 0.02\nturns: [{{answers: [[{{say: '{'word ' * 2000}'}}]]}}]"
SCRIPTS = {"long": LONG, "words": WORDS, "edit": EDIT, "commands": COMMANDS, "question": QUESTION, "slow": SLOW, "broken": BROKEN}


def write_scripts(home: Path) -> None:
    (home / "scripts").mkdir(parents=True, exist_ok=True)
    for name, text in SCRIPTS.items():
        (home / "scripts" / f"{name}.yaml").write_text(text)


@pytest.fixture
def at(terminal: Terminal) -> Terminal:
    write_scripts(terminal.home)
    return terminal


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("beside")
    write_scripts(folder / "home")
    with serving(folder) as served:
        yield served


def run(at: Terminal, script: str, *words: str) -> tuple[int, str, str]:
    ended = at.run("run", "--model", f"scripted/{script}", *words, "go")
    return ended.code, ended.out, ended.err


@carries("RUN-1")
def test_words_and_calls_are_shown_as_they_come_and_the_end_says_how_to_go_on(at: Terminal) -> None:
    code, out, err = run(at, "words")

    assert code == 0
    assert out.split("\n") == ["", "Looking.", "▸ ls path=/", "", "That is all.", ""]
    assert "model scripted/words · session " in err
    assert "holdfast run --session " in err


@carries("RUN-1")
def test_a_session_goes_on_with_its_own_profile(at: Terminal) -> None:
    first = [json.loads(line) for line in run(at, "words", "--json", "--profile", "simple")[1].splitlines()]
    session = first[0]["payload"]["conversationId"]

    code, out, _ = run(at, "words", "--json", "--session", session)

    assert code == 0
    assert {json.loads(line)["payload"]["conversationId"] for line in out.splitlines()} == {session}
    failed = [json.loads(line)["payload"] for line in out.splitlines() if json.loads(line)["type"] == "chat:tool-result"]
    assert "Unknown tool" in failed[0]["result"]


@carries("RUN-1")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--model", "scripted/broken", "go"], 1, "Provider error (401)"),
        (["--model", "scripted/none", "go"], 2, "there is no script 'none'"),
        (["--model", "nobody/x", "go"], 2, "nobody is known to have"),
        (["--demo", "--session", "none", "go"], 2, "Session not found"),
        (["--profile", "none", "go"], 2, "none"),
        (["--project", "/nowhere/at/all", "go"], 2, "does not exist"),
        (["--demo", "--model", "x", "go"], 64, "not allowed with"),
        (["  "], 64, "say what you want done"),
    ],
)
def test_what_did_not_end_well_or_could_not_begin_is_told_by_words_and_by_the_exit_code(
    at: Terminal, words: list[str], code: int, said: str
) -> None:
    ended = at.run("run", *words)

    assert (ended.code, said in ended.err, "Traceback" in ended.err) == (code, True, False)


@carries("RUN-4")
def test_where_nobody_is_a_yes_is_refused_and_a_question_ends_the_turn(at: Terminal) -> None:
    refused, question = run(at, "edit"), run(at, "question")
    allowed = run(at, "edit", "--yes")

    assert (refused[0], question[0], allowed[0]) == (0, 1, 0)
    assert "nobody is here to say yes, so edit is refused" in refused[2]
    assert "nobody is here to answer" in question[2]
    assert "heard: The person said no to edit: nobody is here to say yes" in refused[1]
    assert at.project.joinpath("notes.md").read_text() == "first\nother\n"


@carries("RUN-10")
@needs("bubblewrap", "the demo runs a command inside it")
def test_without_a_model_a_tour_of_somebodys_own_project_says_so_and_changes_nothing(at: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HOLDFAST_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{unused_port()}")

    ended = at.run("run", "--yes", "fix the bug")

    assert "no model is set up, so a script plays one" in ended.err
    assert [path.name for path in at.project.rglob("*")] == ["notes.md"]
    assert at.project.joinpath("notes.md").read_text() == "first\nsecond\n"


@carries("RUN-2")
@needs("bubblewrap", "a command runs inside it")
def test_at_a_terminal_a_change_is_shown_before_it_is_made_and_some_of_the_effects_can_be_kept(at: Terminal) -> None:
    with typing(at.project, "run", "--model", "scripted/edit", "go") as typist:
        shown = typist.answers("Do it?", "use tabs instead")
        assert typist.ends() == 0
    heard = typist.rest
    with typing(at.project, "run", "--model", "scripted/commands", "go") as typist:
        effects = typist.answers("keep, choose or drop?", "c")
        typist.answers("keep /a.txt (added)? [y/N]", "n")
        typist.answers("keep /b.txt (added)? [y/N]", "y")
        assert typist.ends() == 0

    assert "-second" in shown
    assert "+other" in shown
    assert "use tabs instead" in heard
    assert "+b" in effects
    assert sorted(path.name for path in at.project.iterdir()) == ["b.txt", "notes.md"]
    assert at.project.joinpath("notes.md").read_text() == "first\nsecond\n"
    assert "kept only these, and dropped the rest: /b.txt" in typist.rest


@needs("bubblewrap", "a command runs inside it")
def test_whoever_ends_the_input_at_the_effects_has_dropped_them(at: Terminal) -> None:
    with typing(at.project, "run", "--model", "scripted/commands", "go") as typist:
        typist.answers("keep, choose or drop?", END)
        assert typist.ends() == 0

    assert "nothing in the project has changed" in typist.rest
    assert [path.name for path in at.project.iterdir()] == ["notes.md"]


@carries("RUN-2", "RUN-5")
def test_a_question_is_asked_until_the_answer_fits_and_ctrl_c_ends_the_turn(at: Terminal) -> None:
    with typing(at.project, "run", "--model", "scripted/question", "go") as typist:
        typist.answers("> ", "many")
        typist.answers("> ", "7")
        assert typist.ends() == 0
    answered = typist.rest
    with typing(at.project, "run", "--model", "scripted/slow", "go") as typist:
        typist.until("Wait.")
        typist.interrupts()
        assert typist.ends() == 1

    assert "so many: 7" in answered
    assert "ended: cancelled" in typist.rest


def beside(server: Served, script: str, *words: str) -> tuple[str, ...]:
    return ("run", "--model", f"scripted/{script}", "--project", str(server.project), *words, "go")


def asked_beside(server: Served, script: str) -> "subprocess.Popen[str]":
    command = [*COMMAND, *beside(server, script, "--json")]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=server.environ, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def event(process: "subprocess.Popen[str]", kind: str) -> dict[str, Any]:
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        if told["type"] == kind:
            return told["payload"]
    raise AssertionError(f"there was no {kind}")


@carries("RUN-3", "RUN-4", "RUN-6")
def test_beside_a_server_a_program_decides_and_answers_by_lines_and_no_clock_runs(server: Served) -> None:
    (server.project / "notes.md").write_text("first\nsecond\n")
    process = asked_beside(server, "edit")
    assert process.stdin is not None

    asked = event(process, "chat:tool-confirm")
    frames = [
        "nonsense",
        json.dumps({"type": "chat:tool-approve", "payload": {"approvalId": "guessed", "approved": True}}),
        json.dumps({"type": "chat:tool-approve", "payload": {"toolId": asked["toolId"], "approved": True}}),
    ]
    process.stdin.write("\n".join(frames) + "\n")
    process.stdin.flush()
    error = event(process, "chat:error")
    end = event(process, "chat:stream-end")
    out, err = process.communicate(timeout=60)

    assert "expiresAt" not in asked
    assert (error["code"], end["reason"], process.returncode, out) == ("not_found", "done", 0, "")
    assert "no frame" in err
    assert (server.project / "notes.md").read_text() == "first\nother\n"


@carries("RUN-3", "RUN-4")
def test_beside_a_server_the_end_of_all_input_is_a_no(server: Served, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(server.home))
    ended = terminal.run(*beside(server, "question", "--json"))

    kinds = [json.loads(line)["type"] for line in ended.out.splitlines()]
    assert (ended.code, kinds[-1], "chat:question" in kinds) == (1, "chat:stream-end", True)
    assert "nobody is here to answer" in ended.err


@carries("RUN-3", "RUN-8")
def test_beside_a_server_sessions_are_listed_renamed_and_deleted(
    server: Served, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(server.home))
    client, address = server.client(), f"/api/v1/workspaces/{server.workspace_id}/sessions"
    session, running = (client.post(address, json={"title": "first"}).json()["id"] for _ in range(2))
    client.post(f"{address}/{running}/messages", json={"content": "go", "model": "scripted/slow"})

    def sessions(*words: str) -> Ended:
        return terminal.run("sessions", *words, "--project", str(server.project))

    listed = json.loads(sessions("--json").out)
    renamed = sessions("rename", session, "second")
    title = client.get(f"{address}/{session}").json()["title"]
    deleted, ended = sessions("delete", session), sessions("delete", running)
    left = [each["id"] for each in client.get(address).json()]

    assert {session, running} <= {each["id"] for each in listed}
    assert (renamed.code, title, deleted.code, ended.code) == (0, "second", 0, 0)
    assert (session in left, running in left) == (False, False)


def sitting(server: Served, script: str) -> Any:
    return typing(server.project, *beside(server, script), **{name: server.environ[name] for name in ("HOLDFAST_HOME",)})


@carries("RUN-3", "RUN-5")
def test_beside_a_server_somebody_sees_the_diff_another_may_decide_and_ctrl_c_ends_the_turn(server: Served) -> None:
    (server.project / "notes.md").write_text("first\nsecond\n")
    client: httpx.Client = server.client()
    typist: Typist
    with sitting(server, "edit") as typist:
        shown = typist.until("Do it?")
        approvals = f"/api/v1/workspaces/{server.workspace_id}/approvals"
        [pending] = client.get(approvals).json()
        client.post(f"{approvals}/{pending['id']}", json={"approved": True})
        assert typist.ends() == 0
    decided = typist.rest
    with sitting(server, "slow") as typist:
        typist.until("Wait.")
        typist.interrupts()
        assert typist.ends() == 1

    assert "+other" in shown
    assert pending["expires_at"] is None
    assert "decided elsewhere: approved" in decided
    assert (server.project / "notes.md").read_text() == "first\nother\n"
    assert "ended: cancelled" in typist.rest


@carries("RUN-4")
def test_a_turn_that_nobody_reads_any_more_is_ended_without_a_word(server: Served) -> None:
    process = asked_beside(server, "long")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()

    assert (process.wait(60), said) == (141, "")
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


@carries("RUN-3")
def test_a_turn_beside_a_server_ends_when_whoever_watches_it_is_gone(server: Served) -> None:
    process = asked_beside(server, "slow")
    session = event(process, "chat:stream-start")["conversationId"]
    process.kill()
    process.communicate()

    client = server.client()
    events = f"/api/v1/workspaces/{server.workspace_id}/sessions/{session}/events"
    while not (ends := [each for each in client.get(events).json() if each["type"] == "chat:stream-end"]):
        os.sched_yield()

    assert ends[0]["payload"]["reason"] == "cancelled"
