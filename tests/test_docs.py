"""What README.md and docs/ tell people to type is typed here, and works."""

import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

CHECKOUT = Path(__file__).parent.parent
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
# Each is tested elsewhere: set-up, the server, turns of a model and new-tool have tests of their own.
ELSEWHERE = re.compile(r"git clone |make |curl |(\S*/)?holdfast (serve|run)\b")


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    found = [block for page in PAGES for block in _blocks_of(page)]
    return [block for block in found if block.language in languages]


def _blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(page.name, text.count("\n", 0, match.start()) + 1, match[1], match[2])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home: a project in it, and a checkout whose holdfast is this one."""
    for folder in ("my-project", "data", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "my-project"):
        (folder / "README.md").write_text("# Mine\n\nTODO: more\n")
    command = tmp_path / ".venv/bin/holdfast"
    command.write_text(f"""#!/bin/sh\nexec '{sys.executable}' -c 'import sys; from holdfast.cli import main; sys.exit(main())' "$@"\n""")
    command.chmod(0o755)
    for name, value in (("HOME", tmp_path), ("HOLDFAST_HOME", tmp_path / "data"), ("PATH", f"{command.parent}:{os.environ['PATH']}")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("block", blocks("sh", "bash", "console"), ids=str)
def test_commands_that_are_shown_work(block: Block, home: Path) -> None:
    for command in block.text.replace("\\\n", " ").splitlines():
        if command.strip() and not ELSEWHERE.match(command):
            shell = ["bash", "-o", "pipefail", "-c", command]
            ended = subprocess.run(shell, capture_output=True, text=True, cwd=home, timeout=60, check=False)

            assert (ended.returncode, ended.stderr) == (0, ""), f"{block}: {command}\n{ended.stdout}"
            assert ended.stdout


@pytest.mark.parametrize("block", blocks("python", "py"), ids=str)
def test_python_that_is_shown_runs(block: Block, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}

    exec(compile(block.text, str(block), "exec"), names)
    if "asyncio.run(" not in block.text:
        run = cast("Callable[[str], Coroutine[Any, Any, None]]", next(each for each in names.values() if inspect.iscoroutinefunction(each)))
        asyncio.run(run("my-project"))

    assert "print(" not in block.text or capsys.readouterr().out


def test_links_between_pages_lead_somewhere() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())]

    broken = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]

    assert links
    assert broken == []
