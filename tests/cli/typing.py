"""Somebody who sits at a real terminal, reads what is shown and types answers."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.terminal import COMMAND

END = "\x04"


class Typist:
    """A command on a terminal of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._read_up_to = 0
        self.seen = ""

    def until(self, words: str) -> str:
        """Wait until the words are shown, and return all that came before them since the last time."""
        deadline = time.monotonic() + 30
        while (at := self.seen.find(words, self._read_up_to)) < 0:
            assert self._read(deadline), f"{words!r} was never shown: {self.seen}"
        before = self.seen[self._read_up_to : at]
        self._read_up_to = at + len(words)
        return before

    def answers(self, question: str, answer: str) -> str:
        """Wait for a question and type the answer, a line of it or the end of all input; return what was shown before."""
        before = self.until(question)
        os.write(self._terminal, (answer if answer == END else f"{answer}\n").encode())
        return before

    def types(self, text: str) -> None:
        """Type without having been asked."""
        os.write(self._terminal, text.encode())

    def interrupts(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def ends(self) -> int:
        """Read to the end, and return the exit code."""
        deadline = time.monotonic() + 30
        while self._read(deadline):
            pass
        return self._process.wait(30)

    @property
    def rest(self) -> str:
        """What was shown since the last words that were waited for."""
        return self.seen[self._read_up_to :]

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more was shown: {self.seen}"
        try:
            chunk = os.read(self._terminal, 65536)
        except OSError:  # how a terminal says that nobody is on the other side any more
            return False
        self.seen += chunk.decode(errors="replace").replace("\r\n", "\n")
        return bool(chunk)


@contextmanager
def typing(project: Path, *words: str, **environ: str) -> Generator[Typist]:
    """A command that somebody has started at a terminal, in a folder."""
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, cwd=project, env={**known, "TERM": "xterm", **environ}
    )
    os.close(theirs)
    try:
        yield Typist(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
