"""holdfast call"""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.promises import carries


@carries("CLI-2")
def test_a_result_is_on_stdout_and_the_code_is_0(terminal: Terminal) -> None:
    ended = terminal.run("call", "read_file", "path=notes.md")

    assert (ended.code, ended.out, ended.err) == (0, "first\nsecond\n", "")


@carries("CLI-2", "AUDIT-1")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["read_file", "path=notes.md"], 0),
        (["read_file", "path=missing.md"], 1),
        (["fs.read", "path=@project/notes.md", "startLine=2", "endLine=1"], 1),
        (["read_file", "path=../x"], 2),
        (["read_file", "path=.env"], 2),
        (["fs.read", "--args", "{}"], 2),
        (["fs.read", "--args", "{no json"], 2),
        (["no_such_tool", "path=x"], 2),
        (["read_file", "path=notes.md", "--profile", "fs"], 2),
    ],
)
def test_the_code_is_1_for_a_tools_error_and_2_for_a_refusal_and_each_leaves_a_line(
    terminal: Terminal, words: list[str], code: int
) -> None:
    ended = terminal.run("call", *words)

    assert (ended.code, ended.err) == (code, "")
    assert ended.out.endswith("\n")
    assert len(terminal.audit()) == 1


@carries("CLI-2")
def test_it_is_the_same_in_a_process_of_its_own(terminal: Terminal) -> None:
    for path, code in (("notes.md", 0), ("missing.md", 1), ("../x", 2)):
        with terminal.start("call", "read_file", f"path={path}") as command:
            out, err = command.communicate()

        assert (command.returncode, err) == (code, b"")
        assert out == b"first\nsecond\n" if code == 0 else out.startswith(b"Error: ")


@carries("CLI-3")
def test_numbers_are_numbers_where_numbers_are_wanted_and_text_where_text_is(terminal: Terminal) -> None:
    window = terminal.run("call", "fs.read", "path=@project/notes.md", "startLine=2", "endLine=2", "--json")
    terminal.run("call", "file_write", "path=123", "content=456")
    terminal.run("call", "file_write", "path=true", "content={}")

    assert json.loads(window.out)["result"]["content"] == "second\n"
    assert (terminal.project / "123").read_text() == "456"
    assert (terminal.project / "true").read_text() == "{}"


@carries("CLI-3")
@pytest.mark.parametrize("key", ["content", "Content", "CONTENT"])
def test_a_key_in_another_case_means_the_same_also_for_what_looks_like_a_number(terminal: Terminal, key: str) -> None:
    ended = terminal.run("call", "file_write", "path=new.txt", f"{key}=456")

    assert (ended.code, (terminal.project / "new.txt").read_text()) == (0, "456")


@carries("CLI-3")
def test_a_value_may_have_equals_signs_and_be_empty(terminal: Terminal) -> None:
    terminal.run("call", "file_write", "path=new.txt", "content=a=b=c")
    terminal.run("call", "file_write", "path=empty.txt", "content=")

    assert (terminal.project / "new.txt").read_text() == "a=b=c"
    assert (terminal.project / "empty.txt").read_text() == ""


@carries("CLI-3", "DIALECT-3")
def test_arguments_may_be_one_json_object_and_the_answer_has_the_documents_fields(terminal: Terminal) -> None:
    ended = terminal.run("call", "fs.write", "--args", '{"path": "@project/new.md", "content": "x\\n"}', "--json")

    told = json.loads(ended.out)
    assert (ended.code, told["outcome"], told["code"]) == (0, "done", None)
    assert told["result"] == {
        "ok": True,
        "path": "@project/new.md",
        "bytesWritten": 2,
        "sha256After": hashlib.sha256(b"x\n").hexdigest(),
    }


@pytest.mark.parametrize(
    ("path", "outcome", "code"), [("@project/gone", "failed", "not_found"), ("/etc/passwd", "refused", "invalid_path")]
)
def test_as_json_an_error_has_its_outcome_and_its_code(terminal: Terminal, path: str, outcome: str, code: str) -> None:
    told = json.loads(terminal.run("call", "fs.read", f"path={path}", "--json").out)

    assert (told["outcome"], told["code"], told["result"]["ok"]) == (outcome, code, False)


@pytest.mark.parametrize("content", [b"plain\n", b"windows\r\n\r\n", "\N{SNOWMAN}".encode(), b"", b"\xef\xbb\xbfmarked"])
def test_an_argument_may_come_from_standard_input_byte_for_byte(terminal: Terminal, content: bytes) -> None:
    by_key = terminal.run("call", "file_write", "path=new.txt", "--stdin", "content", stdin=content)
    by_json = terminal.run("call", "file_write", "--args", '{"path": "other.txt"}', "--stdin", "content", stdin=content)

    assert (by_key.code, by_json.code) == (0, 0)
    assert (terminal.project / "new.txt").read_bytes() == content
    assert (terminal.project / "other.txt").read_bytes() == content


@carries("CLI-3")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["read_file", "pth=x"], "'pth'"),
        (["fs.read", "path=@project", "startline2=3"], "'startline2'"),
        (["read_file", "notes.md"], "'notes.md'"),
        (["read_file", "path=notes.md", "--args", "{}"], "--args"),
        (["file_write", "--args", "{no json", "--stdin", "content"], "--args"),
        (["file_write", "--args", "[1]", "--stdin", "content"], "--args"),
        (["file_write", "path=x", "--stdin", "contnt"], "'contnt'"),
        (["read_file", "path=x", "--mount", "pkg"], "--mount"),
        (["read_file", "path=x", "--mount", "=x"], "--mount"),
        (["read_file", "path=x", "--mount", "a-b=."], "a-b"),
        (["read_file", "path=x", "--mount", "project=."], "project"),
        (["read_file", "path=x", "--mount", "pkg=/no/such/folder"], "pkg"),
        (["read_file", "path=x", "--project", "/no/such/folder"], "project"),
        (["read_file", "path=x", "--project", "notes.md"], "project"),
        (["read_file", "path=x", "--profile", "nobody"], "'nobody'"),
        (["read_file", "path=x", "--run", "../evil"], "run"),
        (["read_file", "path=x", "--no-such-option"], "--no-such-option"),
        ([], "name"),
    ],
)
def test_a_wrong_usage_leaves_with_64_names_what_is_wrong_and_does_nothing(terminal: Terminal, words: list[str], named: str) -> None:
    ended = terminal.run("call", *words)

    assert (ended.code, ended.out) == (64, "")
    assert named in ended.err
    assert "Traceback" not in ended.err
    assert os.listdir(terminal.project) == ["notes.md"]


def test_standard_input_that_is_no_text_is_a_usage_error(terminal: Terminal) -> None:
    ended = terminal.run("call", "file_write", "path=new.bin", "--stdin", "content", stdin=b"\xff\xfe")

    assert (ended.code, ended.out, os.listdir(terminal.project)) == (64, "", ["notes.md"])
    assert "--stdin" in ended.err


@pytest.mark.parametrize("words", [("read_file", "path=\udcff"), ("no\udcff", "path=x"), ("read_file", "path=\udcff", "--json")])
def test_words_that_are_no_text_are_an_answer_that_can_be_printed(terminal: Terminal, words: tuple[str, ...]) -> None:
    ended = terminal.run("call", *words)

    assert (ended.code, ended.err) == (2, "")
    assert ended.out.encode()


def test_a_home_that_cannot_be_made_is_said_in_one_line(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(terminal.project / "notes.md" / "home"))

    ended = terminal.run("call", "read_file", "path=notes.md")

    assert (ended.code, ended.out, ended.err.count("\n")) == (64, "", 1)
    assert "HOLDFAST_HOME" in ended.err


@carries("FS-MOUNT-2", "MOUNT-4", "MOUNT-5")
def test_mounts_are_given_by_name_and_ro_makes_them_read_only(terminal: Terminal, tmp_path: Path) -> None:
    for name in ("pkg", "open", "shut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text(f"{name}\n")
    mounts = ["--mount", f"pkg={tmp_path}/pkg", "--mount", f"open={tmp_path}/open", "--mount", f"shut={tmp_path}/shut:ro"]

    reads = [terminal.run("call", "fs.read", f"path=@{name}/x.md", *mounts).code for name in ("pkg", "open", "shut")]
    writes = [terminal.run("call", "fs.write", f"path=@{name}/x.md", "content=new", *mounts).code for name in ("pkg", "open", "shut")]

    assert (reads, writes) == ([0, 0, 0], [2, 0, 2])


@carries("FS-MOUNT-3", "MOUNT-3")
def test_runs_have_a_state_each(terminal: Terminal) -> None:
    terminal.run("call", "fs.write", "path=@state/mine.md", "content=one", "--run", "one")

    assert terminal.run("call", "fs.read", "path=@state/mine.md", "--run", "one").code == 0
    assert terminal.run("call", "fs.read", "path=@state/mine.md", "--run", "two").code == 1
    assert terminal.run("call", "fs.read", "path=@state/mine.md").code == 1
