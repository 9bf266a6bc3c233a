"""holdfast itself: its help, its version, and what it does with words that mean nothing."""

import subprocess
import sys

import pytest

from holdfast import __version__
from holdfast.cli import COMMANDS
from tests.cli.terminal import Terminal
from tests.promises import carries

# Whoever asks for help waits for none of these.
HEAVY = (
    *("asyncio", "argparse", "jsonschema_rs", "orjson", "ruamel", "wcmatch", "fastapi", "starlette", "uvicorn", "pydantic", "structlog"),
    *("sqlite3", "psycopg", "httpx", "holdfast.app", "holdfast.tool", "holdfast.workspace", "holdfast.dispatch", "holdfast.toolsets"),
)


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_lists_every_command_and_leaves_with_0(terminal: Terminal, word: str) -> None:
    ended = terminal.run(word)

    assert ended.code == 0
    assert all(command in ended.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(terminal: Terminal, command: str) -> None:
    ended = terminal.run(command, "--help")

    assert (ended.code, ended.err) == (0, "")
    assert f"holdfast {command}" in ended.out


def test_no_words_at_all_is_a_usage_error_that_shows_the_help(terminal: Terminal) -> None:
    ended = terminal.run()

    assert (ended.code, "usage: holdfast" in ended.out + ended.err) == (64, True)


def test_an_unknown_command_is_a_usage_error_that_names_the_commands(terminal: Terminal) -> None:
    ended = terminal.run("reed")

    assert (ended.code, ended.out) == (64, "")
    assert all(word in ended.err for word in ("'reed'", *COMMANDS))


def test_the_version_is_told(terminal: Terminal) -> None:
    assert terminal.run("--version").out == f"holdfast {__version__}\n"


@carries("CLI-5")
def test_help_imports_nothing_that_it_does_not_use() -> None:
    code = "import sys; from holdfast.cli import main; main(['--help']); print('\\n'.join(sys.modules), file=sys.stderr)"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(ended.stderr.splitlines())
    assert [name for name in HEAVY if name in loaded] == []
    assert {name for name in loaded if name.startswith("holdfast")} == {"holdfast", "holdfast.cli"}


def test_whoever_stops_listening_ends_the_command_without_a_word(terminal: Terminal) -> None:
    (terminal.project / "long.txt").write_text("x" * 1_000_000)

    for words in (("tools", "--json"), ("call", "read_file", "path=long.txt"), ("--help",)):
        with terminal.start(*words) as command:
            assert command.stdout is not None
            assert command.stderr is not None
            command.stdout.close()
            said = command.stderr.read()

        assert (command.returncode, said) == (141, b""), words
