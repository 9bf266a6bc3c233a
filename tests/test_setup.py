"""Set-up survives what happens to checkouts: spaces in the path, two at once, a kill in the middle, a move."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent

pytestmark = pytest.mark.long  # each set-up installs everything, and fetches what pip has not kept


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what set-up needs, in a path with spaces."""
    copy = tmp_path / "a path with spaces" / "holdfast"
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "README.md", "LICENSE"):
        copy.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, copy)
    for name in ("scripts", "src"):
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def start(checkout: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "scripts/setup.py"]
    return subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def set_up(checkout: Path) -> str:
    running = start(checkout)
    output, _ = running.communicate()
    assert running.returncode == 0, output
    return output


def works(checkout: Path) -> bool:
    """From another folder, so that the checkout is found by its installation and not by chance."""
    return subprocess.run([checkout / ".venv/bin/holdfast", "--help"], cwd="/", capture_output=True, check=False).returncode == 0


def test_two_at_once_in_a_path_with_spaces_both_end_well_and_a_third_costs_nothing(checkout: Path) -> None:
    both = [start(checkout), start(checkout)]
    for one in both:
        output, _ = one.communicate()
        assert one.returncode == 0, output
    assert works(checkout)

    began = time.monotonic()
    output = set_up(checkout)

    assert "already" in output
    assert time.monotonic() - began < 5


def test_a_set_up_killed_in_the_middle_is_repaired_by_the_next_and_a_moved_checkout_too(checkout: Path) -> None:
    killed = start(checkout)
    while not list(checkout.glob(".venv/lib/*/site-packages/*.dist-info")):
        assert killed.poll() is None, "it was over before it could be killed"
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert killed.stdout
    killed.stdout.close()  # not read to its end: the pip that is left over holds it, and the next set-up has to cope with that

    set_up(checkout)
    assert works(checkout)

    moved = checkout.with_name("moved")
    checkout.rename(moved)
    set_up(moved)
    assert works(moved)
