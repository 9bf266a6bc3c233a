"""Opening beneath a directory, for tests: what comes of it, as text or as the name of an error."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.workspace.kernel import open_beneath


@contextmanager
def held(folder: Path) -> Generator[int]:
    """A directory, as a mount holds it."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def content(top: int, path: str, *, follow: bool = True) -> str:
    """The text of a file."""
    with os.fdopen(open_beneath(top, path, os.O_RDONLY, follow=follow), encoding="utf-8") as file:
        return file.read()


def fault(top: int, path: str, flags: int = os.O_RDONLY, *, follow: bool = True) -> str:
    """The name of the error that opening ends in."""
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is what the tests compare
        os.close(open_beneath(top, path, flags, mode=0o600 if flags & os.O_CREAT else 0, follow=follow))
    return errno.errorcode[caught.value.errno or 0]
