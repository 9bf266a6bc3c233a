"""Commands as they can be typed anywhere, for whoever is told what to type next."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def typed(words: Sequence[str]) -> str:
    """A command of Holdfast with these words, that works in any folder of any shell of the same person."""
    home = os.environ.get("HOLDFAST_HOME")
    before = f"HOLDFAST_HOME={shlex.quote(str(Path(home).absolute()))} " if home else ""
    return f"{before}{_command()} {shlex.join(words)}"


def _command() -> str:
    said = Path(sys.argv[0])
    if said.name != "holdfast":
        return f"{shlex.quote(sys.executable)} -m holdfast"
    found = shutil.which("holdfast")
    return "holdfast" if found is not None and Path(found).resolve() == said.resolve() else shlex.quote(str(said.absolute()))
