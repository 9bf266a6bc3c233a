"""holdfast serve: what it says, where it listens, and how it ends."""

import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.cli.terminal import Terminal
from tests.cli.typing import typing
from tests.promises import carries
from tests.providers.server import unused_port
from tests.served import HOLDFAST, SECRET, environment, holdfast, serving
from tests.untested import needs


@carries("SERVE-1")
def test_with_json_the_first_line_is_all_that_a_script_needs(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        base = own.told["url"].partition("/?token=")[0]
        me = httpx.get(f"{base}/api/v1/me", headers={"Authorization": f"Bearer {own.told['token']}"}).json()

    assert set(own.told) == {"url", "token", "workspace_id", "user", "sandbox_tier"}
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}", own.told["url"])
    assert me["email"] == own.told["user"]
    assert isinstance(own.told["sandbox_tier"], int)
    assert own.seconds_to_ready < 60
    # Nothing but requests is in the log of a good start.
    assert {json.loads(line)["event"] for line in own.log.read_text().splitlines()} <= {"request"}


@carries("SERVE-2")
def test_a_busy_default_port_takes_the_next_and_a_chosen_one_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        refused = holdfast("serve", str(tmp_path), "--port", str(port), "--json", environ=environment(tmp_path / "home"), check=False)
        (tmp_path / "project").mkdir()
        command = [*HOLDFAST, "serve", str(tmp_path / "project"), "--json"]
        environ = environment(tmp_path / "home", HOLDFAST_PORT=str(port))
        process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        process.terminate()
        _, said = process.communicate(timeout=60)

    assert refused.returncode != 0
    assert f"port {port} of 127.0.0.1 is taken" in refused.stderr
    chosen = int(told["url"].partition("/?")[0].rpartition(":")[2])
    assert port < chosen < port + 100
    assert f"port {port} is taken, so this is {chosen}" in said


@pytest.mark.parametrize("port", ["-1", "65536", "99999999999", "x"])
def test_a_port_that_is_none_is_told(tmp_path: Path, port: str) -> None:
    done = holdfast("serve", str(tmp_path), f"--port={port}", environ=environment(tmp_path / "home"), check=False)

    assert done.returncode == 64
    assert "port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "host.invalid"])
def test_an_address_that_is_not_ours_is_told(tmp_path: Path, host: str) -> None:
    environ = environment(tmp_path / "home", HOLDFAST_JWT_SECRET=SECRET)

    done = holdfast("serve", str(tmp_path), "--host", host, "--port", "0", environ=environ, check=False)

    assert done.returncode == 64
    assert "cannot listen on" in done.stderr
    assert "Traceback" not in done.stderr


@carries("AUTH-12", "AUTH-8")
@pytest.mark.parametrize(
    ("secret", "said"),
    [(None, "a public address needs a secret of its own"), ("short", "too short"), ("x" * 31, "too short"), ("", "needs a secret")],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_public_address_needs_a_secret_of_32_bytes(tmp_path: Path, host: str, secret: str | None, said: str) -> None:
    environ = environment(tmp_path / "home", **({} if secret is None else {"HOLDFAST_JWT_SECRET": secret}))

    done = holdfast("serve", str(tmp_path), "--host", host, "--port", "0", "--json", environ=environ, check=False)

    assert (done.returncode, done.stdout) == (64, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@carries("AUTH-12", "AUTH-9")
def test_a_public_address_with_a_secret_is_served_under_the_names_that_are_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", environ={"HOLDFAST_ALLOWED_HOSTS": "holdfast.example"}) as own:
        base = own.base.replace("0.0.0.0", "127.0.0.1")
        headers = {"Authorization": f"Bearer {own.told['token']}"}

        named = httpx.get(f"{base}/api/v1/me", headers={**headers, "Host": "holdfast.example"})
        unnamed = httpx.get(f"{base}/api/v1/me", headers={**headers, "Host": "192.0.2.7"})
        chosen = httpx.post(f"{base}/api/v1/workspaces", headers=headers, json={"name": "x", "root": "/etc"})

    assert (named.status_code, unnamed.status_code, chosen.status_code) == (200, 403, 403)


@carries("SERVE-3")
def test_a_stop_finishes_what_runs_refuses_what_is_new_and_ends_with_0(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        fifty = "x" * 50_000
        heard: list[tuple[int, str]] = []

        def work(name: str) -> None:
            with httpx.Client(base_url=own.base, headers={"Authorization": f"Bearer {own.told['token']}"}, timeout=60) as client:
                for number in range(10_000):
                    path = f"/{name}-{number}"
                    try:
                        answer = client.post(own.tools, json={"tool": "write", "args": {"path": path, "content": fifty}})
                    except httpx.ConnectError:
                        return
                    heard.append((answer.status_code, path))
                    if answer.status_code != 200:
                        return

        workers = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
        for worker in workers:
            worker.start()
        while len(heard) < 20:
            time.sleep(0.01)
        code = own.stop()
        for worker in workers:
            worker.join()

        assert code == 0
        # A connection that is closed between two requests may also look as if the answer were missing; an answer never lies.
        assert {status for status, _ in heard} <= {200, 503}
        written = {path for status, path in heard if status == 200}
        assert {file.name for file in own.project.iterdir()} == {path.strip("/") for path in written}
        assert all((own.project / path.strip("/")).stat().st_size == 50_000 for path in written)


@carries("SERVE-3")
def test_a_stop_does_not_wait_for_a_person_and_the_question_stays(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        client = own.client()
        session = client.post(f"/api/v1/workspaces/{own.workspace_id}/sessions", json={}).json()["id"]
        question = {"name": "go", "question": "Go on?", "schema": {"type": "string"}}
        body = {"tool": "ask_user", "args": {"questions": [question]}, "session_id": session}
        heard: list[httpx.Response] = []
        asking = threading.Thread(target=lambda: heard.append(own.client().post(own.tools, json=body)))
        asking.start()
        while not client.get(f"/api/v1/workspaces/{own.workspace_id}/questions").json():
            time.sleep(0.02)

        began = time.monotonic()
        code = own.stop()
        seconds = time.monotonic() - began
        asking.join(30)
    with serving(tmp_path) as again:
        pending = again.client().get(f"/api/v1/workspaces/{again.workspace_id}/questions").json()

    assert (code, heard[0].status_code, heard[0].json()["code"]) == (0, 503, "BUSY")
    assert seconds < 25
    assert [each["session_id"] for each in pending] == [session]


@carries("SERVE-3")
def test_ctrl_c_ends_it_too(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        own.process.send_signal(signal.SIGINT)

        assert own.process.wait(60) == 0
    assert list((own.home / "sockets").iterdir()) == []


@carries("SERVE-10")
def test_more_folders_are_mounted_and_some_only_read(tmp_path: Path) -> None:
    for name in ("shared", "fixed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "seen.txt").write_text(name)
    with serving(tmp_path, "--mount", f"shared={tmp_path}/shared", "--mount", f"fixed={tmp_path}/fixed:ro") as own:
        read = [own.call("fs.read", path=f"@{name}/seen.txt").json()["result"] for name in ("shared", "fixed")]
        written = [own.call("fs.write", path=f"@{name}/new.txt", content="x").json()["success"] for name in ("shared", "fixed")]

    assert [each["content"] for each in read] == ["shared", "fixed"]
    assert written == [True, False]
    assert not (tmp_path / "fixed" / "new.txt").exists()


@pytest.mark.parametrize("words", [["--mount", "x=/nowhere/at/all"], ["--mount", "project=/tmp"], ["--mount", "nothing"]])
def test_a_mount_that_cannot_be_is_told(tmp_path: Path, words: list[str]) -> None:
    done = holdfast("serve", str(tmp_path), "--port", "0", *words, environ=environment(tmp_path / "home"), check=False)

    assert done.returncode == 64
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_is_told_and_no_workspace_made(tmp_path: Path) -> None:
    environ = environment(tmp_path / "home")

    done = holdfast("serve", str(tmp_path / "nowhere"), "--port", "0", environ=environ, check=False)

    assert (done.returncode, "there is no folder" in done.stderr) == (64, True)


@carries("SERVE-11")
def test_to_a_person_it_says_three_curl_lines_that_work(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    here, there = pty.openpty()
    command = [*HOLDFAST, "serve", str(tmp_path / "project"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, env=environment(tmp_path / "home"), text=True)
    os.close(there)
    assert process.stdout is not None
    said: list[str] = []
    while not said or "Stop it" not in said[-1]:
        said.append(process.stdout.readline())
    token = next(line for line in said if "export TOKEN=" in line).partition("=")[2].strip()

    answers: list[httpx.Response] = []
    for line in said:
        if line.strip().startswith("curl"):
            words = shlex.split(line.replace("$TOKEN", token))
            heads = [words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H"]
            answers.append(httpx.post(words[2], headers=dict(heads), content=words[words.index("-d") + 1]))
    process.terminate()
    process.stdout.close()

    assert process.wait(60) == 0
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert answers[2].json()["result"]["content"] == "# Hello\n"
    os.set_blocking(here, False)
    try:
        shown = os.read(here, 10_000)
    except OSError:
        shown = b""
    os.close(here)
    assert b"request" not in shown, "a person who did not ask for them sees no requests"


def greeted(folder: Path, *words: str, **environ: str) -> tuple["subprocess.Popen[str]", list[str], dict[str, str]]:
    """A server that somebody has started, all that it said to them, and the environment it has."""
    chosen = environment(folder / "home", OLLAMA_HOST=f"http://127.0.0.1:{unused_port()}", **environ)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        chosen.setdefault(name, "")
    command = [*HOLDFAST, "serve", "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=chosen, text=True)
    assert process.stdout is not None
    said: list[str] = []
    while not said or "Stop it" not in said[-1]:
        said.append(process.stdout.readline())
        assert said[-1] or process.poll() is None, said
    return process, said, chosen


@carries("RUN-9", "RUN-10", "RUN-3")
@needs("bubblewrap", "the demo runs a command inside it")
def test_what_it_says_to_a_person_works_as_it_is_the_demo_beside_it_and_a_socket_too(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    process, said, environ = greeted(folder, "--demo")
    project, before = folder / "home-demo", (folder / "home-demo/src/greet.py").read_text()

    assert any("model  scripted/demo: set by the command line" in line for line in said)
    run = shlex.split(next(line for line in said if " run " in line))
    with typing(tmp_path, *run[run.index("run") :], HOLDFAST_HOME=run[0].partition("=")[2]) as typist:
        diff = typist.answers("Do it?", "y")
        effects = typist.answers("keep, choose or drop?", "k")
        typist.answers("> ", "2")
        typist.until("Take back what the tour changed")
        changed = (project / "src/greet.py").read_text(), (project / "docs/languages.txt").read_text()
        typist.types("\n")
        assert typist.ends() == 0

    token = next(line for line in said if "export TOKEN=" in line).partition("=")[2].strip()
    at = next(number for number, line in enumerate(said) if "-m websockets" in line)
    client = shlex.split(said[at].replace("$TOKEN", token))
    frame = said[at + 1].strip() + "\n"
    with subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, text=True) as talking:
        assert talking.stdin is not None
        assert talking.stdout is not None
        talking.stdin.write(frame)
        talking.stdin.flush()
        heard = next(line for line in talking.stdout if "chat:stream-start" in line)
        talking.kill()
    process.terminate()
    process.communicate()

    assert process.returncode == 0
    assert '+LANGUAGES = {"en": "Hello", "fr": "Bonjour", "de": "Guten Tag", "es": "Hola"}' in diff
    assert "docs/languages.txt" in effects
    assert "Your answer: no" in typist.seen
    assert changed[0] != before
    assert '"es": "Hola"' in changed[1]
    assert (project / "src/greet.py").read_text() == before
    assert not (project / "docs/languages.txt").exists()
    assert "scripted/demo" in heard


@carries("RUN-9", "PICK-2")
@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "model  scripted/demo: there is no key and no Ollama"),
        pytest.param({"OPENAI_API_KEY": "sk-planted-0123456789"}, "model  openai/gpt-5.5: OPENAI_API_KEY is set", marks=pytest.mark.long),
    ],
)
def test_it_says_which_model_answers_and_why(tmp_path: Path, environ: dict[str, str], said: str) -> None:
    process, lines, _ = greeted(tmp_path, str(tmp_path), **environ)
    process.kill()
    process.communicate()

    assert any(said in line for line in lines), lines
    assert "sk-planted" not in "".join(lines)


@carries("RUN-9")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "none"], "none"),
        (["--model", "scripted/none"], "there is no script 'none'"),
        (["--model", "nobody/x"], "nobody is known to have"),
        (["--trust", "much"], "trust"),
        (["--demo", "--model", "scripted/demo"], "not allowed with"),
    ],
)
def test_what_nobody_could_talk_with_is_told_before_it_serves(terminal: Terminal, words: list[str], said: str) -> None:
    ended = terminal.run("serve", "--port", "0", "--json", *words)

    assert (ended.code, ended.out, said in ended.err, "Traceback" in ended.err) == (64, "", True, False)
