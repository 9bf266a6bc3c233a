"""make new-tool, in a copy of the checkout: the new tool is there, works, and passes its test, without any other edit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.promises import carries

CHECKOUT = Path(__file__).parent.parent
TOOLSETS = sorted(folder.parent.name for folder in (CHECKOUT / "src/holdfast/toolsets").glob("*/__init__.py"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What a tool and its test need of a checkout."""
    checkout = tmp_path / "checkout"
    skip = shutil.ignore_patterns("__pycache__", "test_*")
    for name in ("src", "scripts"):
        shutil.copytree(CHECKOUT / name, checkout / name, ignore=skip)
    shutil.copytree(CHECKOUT / "tests", checkout / "tests", ignore=skip)
    shutil.copy(CHECKOUT / "pyproject.toml", checkout)
    return checkout


def run(copy: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in the copy, so that the copy's holdfast is the one that is imported."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "HOLDFAST_HOME": str(copy / "home")}
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False)


def tools(copy: Path) -> dict[str, dict[str, object]]:
    listed = run(copy, "-c", "import sys; from holdfast.cli import main; sys.exit(main(['tools', '--json']))")
    assert listed.returncode == 0, listed.stderr
    return {tool["name"]: tool for tool in json.loads(listed.stdout)}


@carries("NEWTOOL-1", "REG-9")
def test_a_new_tool_of_every_toolset_is_listed_and_passes_its_own_test_without_another_edit(copy: Path) -> None:
    before = {path for path in copy.rglob("*") if path.suffix != ".pyc"}

    for toolset in TOOLSETS:
        made = run(copy, "scripts/new_tool.py", toolset, f"weigh_{toolset}")
        assert made.returncode == 0, made.stderr

    written = {str(path.relative_to(copy)) for path in copy.rglob("*.py") if path not in before}
    wanted = [(f"src/holdfast/toolsets/{name}/weigh_{name}.py", f"tests/toolsets/{name}/test_weigh_{name}.py") for name in TOOLSETS]
    assert written == {path for pair in wanted for path in pair}
    assert {"fs.weigh_fs", "weigh_core", "weigh_simple"} <= tools(copy).keys()
    tested = run(copy, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/toolsets")
    assert tested.returncode == 0, tested.stdout
    assert all(f"test_weigh_{toolset}.py" in tested.stdout for toolset in TOOLSETS)


@carries("NEWTOOL-1")
def test_the_new_files_are_in_our_style(copy: Path) -> None:
    for toolset in TOOLSETS:
        run(copy, "scripts/new_tool.py", toolset, "weigh_it" if toolset == "fs" else f"weigh_{toolset}")

    for check in (("check", "--no-cache"), ("format", "--no-cache", "--check")):
        ended = run(copy, "-m", "ruff", *check, "src/holdfast/toolsets", "tests/toolsets")
        assert ended.returncode == 0, ended.stdout


@carries("NEWTOOL-1")
def test_what_cannot_be_a_tool_or_is_one_in_any_toolset_is_refused_and_writes_nothing(copy: Path) -> None:
    wrong = [[], ["fs"], ["nowhere", "weigh"], ["fs", "Weigh"], ["fs", "../weigh"], ["fs", "we igh"], ["fs", "class"], ["fs", "2weigh"]]
    taken = [["fs", "read"], ["simple", "read_file"], ["core", "read_file"]]
    before = sorted(copy.rglob("*.py"))

    for words, code, said in [
        *((words, 64, "usage: make new-tool") for words in wrong),
        *((words, 1, "exists already") for words in taken),
    ]:
        ended = run(copy, "scripts/new_tool.py", *words)

        assert (ended.returncode, said in ended.stderr) == (code, True), words
    assert sorted(copy.rglob("*.py")) == before
