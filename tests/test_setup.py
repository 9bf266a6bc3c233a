"""Set-up survives what happens to checkouts: spaces in the path, two at once, a kill in the middle, a move."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).parent.parent

# Each set-up installs everything, and fetches what pip has not kept.
takes_long = pytest.mark.long


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


@takes_long
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


@takes_long
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


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, on a machine that has no bubblewrap and an apt-get of ours."""
    spec = importlib.util.spec_from_file_location("setup_script", CHECKOUT / "scripts" / "setup.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "venv").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(module, "VENV", tmp_path / "venv")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return module


def apt_get(tmp_path: Path, does: str) -> Path:
    """An apt-get that writes down what it is asked, and what else it is to do."""
    script = tmp_path / "bin" / "apt-get"
    script.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\n{does}\n')
    script.chmod(0o755)
    return tmp_path / "asked"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs")
def test_root_on_debian_gets_bubblewrap_installed(setup: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bwrap = tmp_path / "bin" / "bwrap"
    asked = apt_get(tmp_path, f"/bin/cp {tmp_path}/bin/apt-get {bwrap}")

    setup.provide_system_packages()

    assert "install --no-install-recommends --yes bubblewrap" in asked.read_text()
    assert capsys.readouterr().out == "installing bubblewrap\ninstalled bubblewrap\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs")
def test_an_installation_that_fails_says_what_is_less_and_is_not_tried_every_time(
    setup: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = apt_get(tmp_path, "exit 100")

    setup.provide_system_packages()
    tries = len(asked.read_text().splitlines())
    setup.provide_system_packages()

    said = capsys.readouterr().out
    assert said.count("the tool bash is not offered") == 2
    assert "apt-get failed to install it. To get it: apt-get install bubblewrap" in said
    assert (tries, len(asked.read_text().splitlines())) == (3, 3)


def test_somebody_who_may_not_install_is_told_how_to(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = apt_get(tmp_path, "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    setup.provide_system_packages()

    assert "Only root may install it. To get it: sudo apt-get install bubblewrap" in capsys.readouterr().out
    assert not asked.exists()
