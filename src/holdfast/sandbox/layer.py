"""The copy-on-write view in which a command runs: what it changes lands in a folder of its own, one for each writable mount."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """A folder beneath HOLDFAST_HOME/layers.

    `started` has, for each layered mount, the time on that mount's file
    system when the layer was made, in nanoseconds: what changed there
    since then may be in conflict with what the command did.
    """

    id: str
    folder: Path
    started: Mapping[str, int]

    def upper(self, mount: str) -> Path:
        """Where overlayfs puts what is changed in a mount."""
        return self.folder / mount / "upper"

    def work(self, mount: str) -> Path:
        """What overlayfs needs beside it, on the same file system."""
        return self.folder / mount / "work"
