"""The file engine alone, for figures without the road."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.resolve import resolve_now


@contextmanager
def mounted(folder: Path) -> Generator[Callable[[str], Place]]:
    """A way from paths to places in a mount that is new, and so knows nothing of its files yet."""
    mount = Mount("project", folder)
    try:
        yield lambda path: resolve_now(mount, path, written=path)
    finally:
        mount.close()
