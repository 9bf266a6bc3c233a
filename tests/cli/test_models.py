"""holdfast models: every provider, its models or why there are none, and the one that is used"""

import json
from collections.abc import Iterator

import pytest

from holdfast.app.models import provider_settings
from holdfast.config.settings import load_settings
from tests.cli.terminal import Terminal
from tests.promises import carries
from tests.providers.server import Play, Server, serving, unused_port

LISTING = {"data": [{"id": "claude-sonnet-5-5", "type": "model", "display_name": "x", "created_at": "2026-01-01T00:00:00Z"}]}
KEY = "sk-ant-planted-0123456789"


@pytest.fixture
def claude() -> Iterator[Server]:
    with serving() as server:
        server.fixed["/v1/models"] = Play.json(LISTING)
        yield server


@pytest.fixture(autouse=True)
def _nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HOLDFAST_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{unused_port()}")


@carries("RUN-7", "PICK-3")
def test_models_are_listed_with_window_price_and_the_one_that_is_used(
    terminal: Terminal, claude: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)

    told = json.loads(terminal.run("models", "--json").out)
    shown = terminal.run("models")

    assert told["default"]["model"] == "anthropic/claude-sonnet-5-5"
    assert "ANTHROPIC_API_KEY" in told["default"]["reason"]
    [model] = told["providers"][0]["models"]
    assert (model["reachable"], model["supports_tools"], model["context_window"]) == (True, True, 1_000_000)
    assert model["price_per_million"]["output"] > model["price_per_million"]["input"] > 0
    assert "* anthropic/claude-sonnet-5-5" in shown.out
    assert "1,000,000 tokens, $" in shown.out
    assert KEY not in shown.out + shown.err + json.dumps(told)


@carries("RUN-7", "PICK-3")
def test_what_cannot_be_used_says_why(terminal: Terminal, claude: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    claude.fixed["/v1/models"] = Play.json({"error": {"message": f"bad key {KEY}"}}, status=401)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
    monkeypatch.setenv("HOLDFAST_COPILOT_TOKEN", KEY)
    monkeypatch.setenv("HOLDFAST_COPILOT_URL", f"http://127.0.0.1:{unused_port()}")
    (terminal.home / "scripts").mkdir(parents=True)
    (terminal.home / "scripts" / "bad.yaml").write_text("turns: 7\n")

    told = json.loads(terminal.run("models", "--json").out)
    shown = terminal.run("models")
    whys = {each["name"]: each["problem"] for each in told["providers"]}

    assert "the key is not accepted (401)" in whys["anthropic"]
    assert whys["openai"] == "OPENAI_API_KEY is not set"
    assert "nobody listens" in whys["ollama"]
    assert "cannot be reached" in whys["github-copilot"]
    assert whys["scripted"] is None
    assert "bad, line 1" in shown.out
    assert KEY not in shown.out + json.dumps(told)


@carries("RUN-7", "PICK-2")
def test_without_anything_the_demo_is_used_and_a_mistake_in_one_provider_hides_no_other(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "ftp://x")

    told = json.loads(terminal.run("models", "--json").out)

    assert told["default"]["model"] == "scripted/demo"
    problems = {each["name"]: each["problem"] for each in told["providers"]}
    assert "OPENAI_BASE_URL" in problems["openai"]


@carries("RUN-7")
def test_what_is_set_about_providers_is_heard_and_headers_that_are_none_are_told(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = terminal.home.parent / "my scripts"
    scripts.mkdir()
    (scripts / "mine.yaml").write_text("turns: [{answers: [[{say: hi}]]}]\n")
    monkeypatch.setenv("HOLDFAST_SCRIPTS", str(scripts))
    monkeypatch.setenv("HOLDFAST_OLLAMA_CONTEXT_TOKENS", "9999")
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    monkeypatch.setenv("HOLDFAST_COPILOT_HEADERS", '{"Editor-Version": "mine/1"}')

    heard = provider_settings(load_settings())
    told = json.loads(terminal.run("models", "--json").out)
    monkeypatch.setenv("HOLDFAST_COPILOT_HEADERS", "Editor-Version: mine/1")
    wrong = terminal.run("models")

    assert (heard.ollama_context_tokens, heard.ollama_api_key, heard.copilot_headers) == (9999, KEY, {"Editor-Version": "mine/1"})
    assert [model["id"] for model in told["providers"][-1]["models"]] == ["scripted/mine", "scripted/demo"]
    assert (wrong.code, "copilot_headers does not fit" in wrong.err) == (64, True)
