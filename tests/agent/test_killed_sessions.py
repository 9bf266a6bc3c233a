"""A real server that is killed in the middle of conversations."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.promises import carries

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "kill_sessions.py"


def _killed(times: int) -> None:
    done = subprocess.run([sys.executable, _SCRIPT, "--kills", str(times)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@carries("SESSION-7")
def test_a_conversation_goes_on_after_every_kill_and_no_call_runs_twice() -> None:
    _killed(2)


@pytest.mark.long
def test_a_hundred_kills_lose_nothing() -> None:
    _killed(100)
