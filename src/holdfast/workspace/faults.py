"""What the operating system says, in words that the caller can act on."""

import errno
from collections.abc import Generator
from contextlib import contextmanager

from holdfast.vocabulary.errors import (
    AccessDenied,
    Broken,
    Exists,
    HoldfastError,
    InvalidPath,
    IsDirectory,
    NoSpace,
    NotDirectory,
    NotEmpty,
    NotFound,
    Outside,
)

from .place import Place


@contextmanager
def told(place: Place) -> Generator[None]:
    """Turn what the system says of `place` into an error for the caller."""
    try:
        yield
    except OSError as error:
        raise explained(error, place) from error


def explained(error: OSError, place: Place) -> HoldfastError:
    """The error for the caller that says what this system error means for `place`."""
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"file not found: {place}", hint="Check the path, or list the directory.", path=str(place))
        case errno.ENOTDIR:
            return NotDirectory(f"'{place}' is not a directory", hint="Name a directory, or read it as a file.", path=str(place))
        case errno.EISDIR:
            return IsDirectory(f"'{place}' is a directory, not a file", hint="List it instead.", path=str(place))
        case errno.EEXIST:
            return Exists(f"'{place}' already exists", hint="Choose another name.", path=str(place))
        case errno.ENOTEMPTY:
            return NotEmpty(f"'{place}' is not empty", hint="Remove what is in it first.", path=str(place))
        case errno.ELOOP | errno.EXDEV:
            return Outside(f"'{place}' became a link while it was used", hint="Look again, then repeat the call.", path=str(place))
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpace(f"no space left for '{place}'", hint="Free some space, then repeat the call.", path=str(place))
        case errno.EACCES | errno.EPERM:
            return AccessDenied(f"permission denied: {place}", hint="Check the owner and the mode of the file.", path=str(place))
        case errno.EROFS:
            return AccessDenied(f"'{place}' is on a read-only file system", hint="Write elsewhere.", path=str(place))
        case errno.ENAMETOOLONG:
            return InvalidPath(f"the name of '{place}' is too long", hint="Use a shorter name.")
        case _:
            return Broken(f"'{place}': {error.strerror or error}", hint="This is a fault of the disk or the system; try again later.")
