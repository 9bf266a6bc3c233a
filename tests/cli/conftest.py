"""A terminal that stands in a project."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    (project / "notes.md").write_text("first\nsecond\n")
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.chdir(project)
    return Terminal(project, home, monkeypatch, capsys)
