"""Which processes there are, for tests that must leave none."""

import os
from pathlib import Path


def alive(mark: str) -> list[str]:
    """The processes with the mark in their words, but for those that are only waiting to be reaped."""
    found: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and name != str(os.getpid()):
            try:
                words = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(words.decode(errors="replace"))
    return found
