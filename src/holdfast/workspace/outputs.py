"""Where the whole output of a command is kept when it is too long for an answer: a folder of `@state` that tools only read."""

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .faults import told
from .folders import folder_of
from .mount import Mount
from .place import Place
from .resolve import resolve_now

FOLDER = "outputs"
MAX_KEPT = 100


@contextmanager
def output_file(state: Mount, name: str) -> Generator[Path]:
    """A path under which a file of that name can be made in the folder, as long as the block lasts.

    The path leads through a descriptor, so that no link can lead it elsewhere.
    """
    place = output_place(state, name)
    with ExitStack() as opened:
        with told(place):
            folder = opened.enter_context(folder_of(place, make=True))
            _drop_oldest(folder.descriptor)
        yield Path(f"/proc/self/fd/{folder.descriptor}", name)


def output_place(state: Mount, name: str) -> Place:
    """Where such a file can be read."""
    return resolve_now(state, f"{FOLDER}/{name}", written=f"@state/{FOLDER}/{name}")


def _drop_oldest(folder: int) -> None:
    with os.scandir(folder) as entries:
        files = [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.name) for entry in entries if entry.is_file(follow_symlinks=False)]
    for _, name in sorted(files)[: max(0, len(files) - MAX_KEPT + 1)]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
