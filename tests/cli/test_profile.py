"""holdfast profile: list, show and check; and the commands that take profiles."""

import json

import pytest

from holdfast.vocabulary.profile import SHIPPED
from tests.cli.terminal import Terminal
from tests.promises import carries

READER = "description: only reads\ntool_permissions: {read_file: {allowed: true}}\n"


def mine(terminal: Terminal, name: str, text: str) -> None:
    folder = terminal.home / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)


def theirs(terminal: Terminal, name: str, text: str) -> None:
    folder = terminal.project / ".holdfast/profiles"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)


@carries("PROFILE-13")
def test_the_list_says_whose_each_is_and_which_cannot_be_used(terminal: Terminal) -> None:
    mine(terminal, "reader", READER)
    theirs(terminal, "reader", READER)
    theirs(terminal, "broken", "trust: autonomous\n")
    theirs(terminal, "fs", READER)

    lines = terminal.run("profile", "list").out.splitlines()
    rows = json.loads(terminal.run("profile", "list", "--json").out)

    assert [line.split()[:2] for line in lines] == [
        ["reader", "yours"],
        *([name, "shipped"] for name in SHIPPED),
        *([name, "the"] for name in ("broken", "fs", "reader")),
    ]
    assert "only reads" in lines[0]
    assert "mistakes" in lines[-3]
    assert "shipped one of that name" in lines[-2]
    assert "you have one of that name" in lines[-1]
    assert [row["name"] for row in rows] == [line.split()[0] for line in lines]
    assert "supervised or guided" in rows[-3]["mistakes"][0]
    assert (rows[-1]["hidden_by"], rows[0]["hidden_by"]) == ("person", None)


@carries("PROFILE-14")
@pytest.mark.parametrize("name", [*SHIPPED, "reader"])
def test_what_is_shown_is_a_file_that_says_the_same(terminal: Terminal, name: str) -> None:
    mine(terminal, "reader", READER)
    shown = terminal.run("profile", "show", name)

    mine(terminal, "copy", shown.out)

    told = [json.loads(terminal.run("profile", "show", each, "--json").out) for each in (name, "copy")]
    assert terminal.run("profile", "show", "copy").out == shown.out
    assert told[0]["profile"] == told[1]["profile"]
    assert told[0]["tools"] == told[1]["tools"]


@carries("PROFILE-13", "PROFILE-9")
def test_a_check_tells_every_mistake_of_every_file_and_leaves_with_one(terminal: Terminal) -> None:
    mine(terminal, "reader", READER)
    theirs(terminal, "first", "trust: blind\nextra: 1\n")
    theirs(terminal, "second", "env: inherit\n")

    ended = terminal.run("profile", "check")

    assert ended.code == 1
    assert ended.out.splitlines()[0].split() == ["ok", "reader", "yours"]
    assert all(told in ended.out for told in ("first.yaml has 2 mistakes", "line 1: trust", "line 2: there is no 'extra'", "second.yaml"))


@carries("PROFILE-13")
def test_one_profile_is_checked_by_its_name_or_its_file(terminal: Terminal) -> None:
    mine(terminal, "reader", READER)
    theirs(terminal, "broken", "env: inherit\n")
    (terminal.project / "loose.yaml").write_text("env: inherit\n")

    codes = {
        which: terminal.run("profile", "check", which).code
        for which in ("reader", "core", "broken", "./.holdfast/profiles/broken.yaml", "loose.yaml", "missing.yaml", "nobody")
    }

    assert codes == {
        "reader": 0,
        "core": 0,
        "broken": 1,
        "./.holdfast/profiles/broken.yaml": 1,
        "loose.yaml": 0,
        "missing.yaml": 1,
        "nobody": 64,
    }


def test_without_files_a_check_finds_nothing_wrong(terminal: Terminal) -> None:
    assert terminal.run("profile", "check").code == 0


@carries("PROFILE-13")
def test_what_a_file_holds_is_shown_and_never_obeyed_by_the_terminal(terminal: Terminal) -> None:
    theirs(terminal, "nasty", 'description: "\\e[2Jgone"\n"\\e[31mkey": 1\n')
    mine(terminal, "loud", 'description: "\\e[2Jgone"\n')

    said = [terminal.run("profile", *words) for words in (["list"], ["check"], ["show", "loud"], ["show", "nasty"], ["list", "--json"])]

    assert not any("\x1b" in each.out + each.err for each in said)


@carries("PROFILE-12")
def test_call_and_tools_take_a_profile_of_ones_own_and_of_the_project(terminal: Terminal) -> None:
    mine(terminal, "reader", READER)
    theirs(terminal, "lister", "tool_permissions: {list_directory: {allowed: true}}\n")

    listed = [
        [tool["name"] for tool in json.loads(terminal.run("tools", "--profile", name, "--json").out)] for name in ("reader", "lister")
    ]
    read, refused = (terminal.run("call", "read_file", "path=notes.md", "--profile", name) for name in ("reader", "lister"))

    assert listed == [["read_file"], ["list_directory"]]
    assert (read.code, read.out) == (0, "first\nsecond\n")
    assert refused.code == 2


@carries("PROFILE-9", "PROFILE-12")
def test_a_call_with_a_broken_profile_is_a_usage_error_that_names_the_lines(terminal: Terminal) -> None:
    theirs(terminal, "broken", "trust: autonomous\nmounts: {more: /}\n")

    ended = terminal.run("call", "read_file", "path=notes.md", "--profile", "broken")

    assert (ended.code, ended.out) == (64, "")
    assert "line 1: trust" in ended.err
    assert "line 2: mounts" in ended.err


@carries("PROFILE-4", "PROFILE-12")
def test_a_model_at_work_has_the_tools_and_the_turns_of_its_profile(terminal: Terminal) -> None:
    theirs(terminal, "brief", "limits: {turns: 2}\ntool_permissions: {read_file: {allowed: true}}\n")
    answers = "".join(f"      - - call: {tool}\n          with: {{path: notes.md}}\n" for tool in ("read_file", "file_read", "read_file"))
    (terminal.home / "scripts").mkdir(parents=True)
    (terminal.home / "scripts/loop.yaml").write_text(f"turns:\n  - answers:\n{answers}")

    ended = terminal.run("run", "go", "--profile", "brief", "--model", "scripted/loop", "--json")

    events = [json.loads(line) for line in ended.out.splitlines()]
    results = [event["payload"]["status"] for event in events if event["type"] == "chat:tool-result"]
    assert results[:2] == ["success", "error"]
    assert events[-1]["payload"]["reason"] == "limit"
