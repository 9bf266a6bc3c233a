"""holdfast doctor"""

import json
import os
import platform
import re
import shutil
import subprocess

import pytest

from tests.cli.terminal import COMMAND, Terminal
from tests.promises import carries

HIDDEN = 'mount --bind /dev/null "$1" && shift && exec "$@"'


def without_bubblewrap(terminal: Terminal, *words: str) -> str:
    """What a command says in a namespace where the program is nothing that could be run."""
    program = shutil.which("bwrap")
    assert program is not None
    alone = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c", HIDDEN, "sh", program]
    return subprocess.run([*alone, *COMMAND, *words], cwd=terminal.project, capture_output=True, text=True, check=True).stdout


@carries("CLI-4")
def test_it_tells_what_the_kernel_and_the_machine_have(terminal: Terminal) -> None:
    ended = terminal.run("doctor")

    assert ended.code == 0
    assert all(word in ended.out for word in ("Python", "openat2", "Landlock", "ripgrep", "bubblewrap", "data folder"))
    assert platform.python_version() in ended.out
    assert platform.release() in ended.out


@carries("CLI-4", "COMMAND-2")
def test_where_bubblewrap_is_not_installed_that_is_named_with_the_way_to_get_it(terminal: Terminal) -> None:
    findings = {one["name"]: one for one in json.loads(without_bubblewrap(terminal, "doctor", "--json"))}
    told = without_bubblewrap(terminal, "doctor")

    for name in ("bubblewrap", "commands"):
        assert (findings[name]["is_there"], findings[name]["is_needed"]) == (False, False)
        assert re.match(r"(apt-get install|install with your system's packages:) bubblewrap", findings[name]["fix"])
        assert f"→ {findings[name]['fix']}" in told
    assert findings["commands"]["detail"] == "bubblewrap is not installed"


@carries("CLI-4")
@pytest.mark.parametrize("path", ["/nowhere", "/usr/games"])
def test_what_is_on_ones_path_changes_nothing_about_commands(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("PATH", path)

    findings = {one["name"]: one for one in json.loads(terminal.run("doctor", "--json").out)}

    assert (findings["bubblewrap"]["is_there"], findings["commands"]["is_there"]) == (True, True)
    assert "tier 1" in findings["commands"]["detail"]


def test_a_folder_that_is_not_there_is_a_command_written_wrongly(terminal: Terminal) -> None:
    for name in ("missing", "notes.md"):
        ended = terminal.run("doctor", "--project", name)

        assert (ended.code, name in ended.err) == (64, True)


@carries("CLI-4")
def test_it_leaves_with_1_when_something_is_missing_that_is_needed(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(terminal.project / "notes.md" / "home"))

    ended = terminal.run("doctor")

    assert ended.code == 1
    assert any(line.startswith("MISSING") and "data folder" in line for line in ended.out.splitlines())
    assert "HOLDFAST_HOME" in ended.out


@carries("CLI-4")
def test_as_json_there_are_the_same_findings(terminal: Terminal) -> None:
    findings = json.loads(terminal.run("doctor", "--json").out)

    assert {"Python", "openat2", "Landlock", "ripgrep", "bubblewrap", "data folder"} <= {finding["name"] for finding in findings}
    assert all({"name", "is_there", "detail", "fix", "is_needed"} <= finding.keys() for finding in findings)


def test_it_touches_nothing(terminal: Terminal) -> None:
    terminal.run("doctor")

    assert not terminal.home.exists()
