"""holdfast config show: every setting, and where it came from."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.promises import carries

SECRETS = {
    "HOLDFAST_JWT_SECRET": "planted-jwt",
    "HOLDFAST_DATABASE_URL": "postgresql://anna:planted-db@host/x",
    "HOLDFAST_BRAVE_KEY": "planted-brave",
    "HOLDFAST_COPILOT_TOKEN": "planted-copilot",
    "ANTHROPIC_API_KEY": "planted-anthropic",
    "OPENAI_API_KEY": "planted-openai",
    "OLLAMA_API_KEY": "planted-ollama",
    "HOLDFAST_COPILOT_HEADERS": '{"X-Key": "planted-header"}',
    "HOLDFAST_SEARXNG_URL": "http://anna:planted-search@host:8080",
}


@carries("CONF-4")
def test_every_setting_is_shown_with_where_it_came_from(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.home.mkdir()
    (terminal.home / "config.toml").write_text("port = 4000\n")
    (terminal.project / ".holdfast").mkdir()
    (terminal.project / ".holdfast/config.toml").write_text('profile = "fs"\n')
    monkeypatch.setenv("HOLDFAST_HOST", "::1")

    rows = {row["name"]: row for row in json.loads(terminal.run("config", "show", "--json").out)}

    assert (rows["home"]["value"], rows["home"]["source"]) == (str(terminal.home), "HOLDFAST_HOME")
    assert (rows["port"]["value"], rows["port"]["source"]) == (4000, str(terminal.home / "config.toml"))
    assert (rows["profile"]["value"], rows["profile"]["source"]) == ("fs", ".holdfast/config.toml")
    assert (rows["host"]["value"], rows["host"]["source"]) == ("::1", "HOLDFAST_HOST")
    assert (rows["trust"]["value"], rows["trust"]["source"]) == ("guided", "default")


@carries("CONF-4")
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_no_secret_is_shown(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)

    shown = terminal.run("config", "show", *words)

    assert "planted" not in shown.out
    assert shown.out.count("(set)") == len(SECRETS)


@carries("CONF-3", "CONF-2")
def test_what_is_wrong_is_told_and_nothing_is_shown(terminal: Terminal) -> None:
    (terminal.project / ".holdfast").mkdir()
    (terminal.project / ".holdfast/config.toml").write_text('anthropic_base_url = "http://evil.example"\n')

    ended = terminal.run("config", "show")

    assert (ended.code, ended.out) == (64, "")
    assert "may not set 'anthropic_base_url'" in ended.err


def test_a_project_elsewhere_can_be_named(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "other/.holdfast").mkdir(parents=True)
    (tmp_path / "other/.holdfast/config.toml").write_text('model = "ollama/small"\n')

    assert "ollama/small" in terminal.run("config", "show", "--project", str(tmp_path / "other")).out
