"""How long a person waits before anything happens."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from bench.bench import Bench, require, run
from bench.row import Row

_ROUNDS = 11


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """The command's help, and the package's import."""
    holdfast = Path(sys.executable).with_name("holdfast")
    require(b"usage" in run([holdfast, "--help"]), "what --help prints")
    yield await bench.row(
        "start: holdfast --help",
        ours=lambda: run([holdfast, "--help"]),
        floor=("python -c pass", lambda: _python("pass")),
        goal=5,
        rounds=_ROUNDS,
    )
    yield await bench.row(
        "start: import holdfast",
        ours=lambda: _python("import holdfast"),
        floor=("python -c pass", lambda: _python("pass")),
        parts={"with Holdfast itself": lambda: _python("from holdfast import Holdfast")},
        rounds=_ROUNDS,
    )


def _python(statement: str) -> bytes:
    return run([sys.executable, "-c", statement])
