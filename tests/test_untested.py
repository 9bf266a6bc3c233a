"""What a missing system package leaves untested is counted on the last line, and fails where CI=true."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.untested import needs

CHECKOUT = Path(__file__).parent.parent

SUITE = """
from tests.untested import needs

@needs("bubblewrap", "commands run inside it")
def test_one() -> None: ...

@needs("bubblewrap", "commands run inside it")
def test_two() -> None: ...

@needs("nodejs", "a peer is measured")
def test_three() -> None: ...

def test_four() -> None: ...
"""

BOTH_MISSING = "untested: 2 tests need bubblewrap (apt-get install bubblewrap), 1 test needs nodejs (apt-get install nodejs)"


def run_suite(folder: Path, *options: str, path: str, ci: str) -> tuple[int, list[str]]:
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.untested"]\n')
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *options, str(folder)]
    environment = {**os.environ, "PATH": path, "CI": ci, "PYTHONPATH": str(CHECKOUT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def with_both(tmp_path: Path) -> str:
    """A PATH on which both packages' commands are found."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bwrap", "node"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    return str(programs)


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "xdist"])
def test_the_last_line_counts_what_each_missing_package_left_out(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, lines = run_suite(tmp_path, *options, path="", ci="")

    assert lines[-1] == BOTH_MISSING
    assert code == 0


def test_in_ci_a_test_left_out_is_a_failure(tmp_path: Path) -> None:
    code, lines = run_suite(tmp_path, path="", ci="true")

    assert lines[-1] == BOTH_MISSING
    assert code == 1


def test_in_ci_a_suite_with_everything_installed_passes(tmp_path: Path, with_both: str) -> None:
    code, lines = run_suite(tmp_path, path=with_both, ci="true")

    assert lines[-1] == "untested: nothing"
    assert code == 0


def test_a_package_that_nobody_has_described_is_refused_at_once() -> None:
    with pytest.raises(LookupError, match="COMMANDS"):
        needs("no-such-package", "it is not in the table")


async def test_an_async_test_runs_without_a_mark() -> None:
    import asyncio

    assert asyncio.get_running_loop().is_running()
