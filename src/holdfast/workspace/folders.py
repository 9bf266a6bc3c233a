"""The folder that a place is in, made first when it is missing."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from holdfast.vocabulary.errors import InvalidArguments, NotFound

from .kernel import open_beneath
from .mount import Mount
from .place import Place
from .stage import give_to_owner_of

_MODE = 0o755
_AS_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Folder:
    """An open directory; `made` are the paths of those on the way to it that were missing, the upper one first."""

    mount: Mount
    descriptor: int
    made: tuple[str, ...] = ()

    def sync(self) -> None:
        """Make what changed in it, and the way to it, outlast a power cut."""
        os.fsync(self.descriptor)
        for path in self.made:
            above = _open(self.mount, _parent(path))
            try:
                os.fsync(above)
            finally:
                os.close(above)


@contextmanager
def folder_of(place: Place, *, make: bool = False) -> Generator[Folder]:
    """The parent of a place; with `make` it need not be there. What was made goes again when the block fails.

    Raises:
        NotFound: It is missing, and is not to be made.
    """
    if not place.path:
        raise InvalidArguments.of("path", "is the root of a mount, which stays as it is", hint="Name something in it.")
    made: list[str] = []
    descriptor = _open_or_make(place, made, make=make)
    try:
        yield Folder(place.mount, descriptor, tuple(made))
    except BaseException:
        _take_back(place.mount, made)
        raise
    finally:
        os.close(descriptor)


def _open_or_make(place: Place, made: list[str], *, make: bool) -> int:
    try:
        return _open(place.mount, place.parent_path)
    except FileNotFoundError:
        if not make:
            raise NotFound(f"the folder of '{place}' does not exist", hint="Make the folder first.", path=str(place)) from None
    current = _open(place.mount, "")
    try:
        path = ""
        for name in place.parent_path.split("/"):
            path = f"{path}/{name}" if path else name
            below = _below(current, name, path, made)
            os.close(current)
            current = below
    except BaseException:
        os.close(current)
        _take_back(place.mount, made)
        raise
    return current


def _below(above: int, name: str, path: str, made: list[str]) -> int:
    try:
        return os.open(name, _AS_DIRECTORY, dir_fd=above)
    except FileNotFoundError:
        pass
    # Whoever else makes it at this moment makes it for us too.
    with suppress(FileExistsError):
        os.mkdir(name, _MODE, dir_fd=above)
        made.append(path)
    below = os.open(name, _AS_DIRECTORY, dir_fd=above)
    if made and made[-1] == path:
        give_to_owner_of(above, below)
    return below


def _take_back(mount: Mount, made: list[str]) -> None:
    """Remove the folders that were made for nothing, unless somebody has put something into them."""
    with suppress(OSError):
        for path in reversed(made):
            above = _open(mount, _parent(path))
            try:
                os.rmdir(path.rpartition("/")[2], dir_fd=above)
            finally:
                os.close(above)


def _open(mount: Mount, path: str) -> int:
    return open_beneath(mount.descriptor, path, os.O_RDONLY | os.O_DIRECTORY, follow=False)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
