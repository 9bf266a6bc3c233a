"""holdfast doctor"""

import json
import platform

import pytest

from tests.cli.terminal import Terminal
from tests.promises import carries


@carries("CLI-4")
def test_it_tells_what_the_kernel_and_the_machine_have(terminal: Terminal) -> None:
    ended = terminal.run("doctor")

    assert ended.code == 0
    assert all(word in ended.out for word in ("Python", "openat2", "Landlock", "ripgrep", "bubblewrap", "data folder"))
    assert platform.python_version() in ended.out
    assert platform.release() in ended.out


@carries("CLI-4")
def test_what_is_missing_comes_with_a_way_to_get_it(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    ended = terminal.run("doctor")

    line = next(line for line in ended.out.splitlines() if "bubblewrap" in line)
    assert "not installed" in line
    assert "apt-get install bubblewrap" in ended.out


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
