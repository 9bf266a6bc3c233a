"""A terminal for tests: commands run in this process, with a project, a home of their own and a standard input."""

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.cli import main

# What the installed command does, with the interpreter and the path that the tests run with.
COMMAND = [sys.executable, "-c", "import sys; from holdfast.cli import main; sys.exit(main())"]


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class Terminal:
    """Somebody sits in a project and types commands."""

    def __init__(self, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self.home = home
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *words: str, stdin: bytes = b"") -> Ended:
        """Run one command in this process."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        self._capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        said = self._capsys.readouterr()
        return Ended(code, said.out, said.err)

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start one command in a process of its own."""
        pipe = subprocess.PIPE
        return subprocess.Popen([*COMMAND, *words], stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=self.project)

    def audit(self) -> Sequence[dict[str, Any]]:
        """All lines of all audit logs."""
        logs = sorted(self.home.rglob("execution.jsonl"))
        return [cast("dict[str, Any]", json.loads(line)) for log in logs for line in log.read_text().splitlines()]
