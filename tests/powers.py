"""Being an ordinary user for a moment, so that tests of permissions mean something when root runs them."""

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager

_VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def without_the_powers_of_root() -> Generator[None]:
    """Have modes of files hold for this thread, and for those that it starts, as they do for everybody but root."""
    had = _capabilities()
    _have(0, 0, had)
    try:
        yield
    finally:
        _have(had[0].effective, had[1].effective, had)


def _capabilities() -> ctypes.Array[_Sets]:
    sets = (_Sets * 2)()
    _done(_libc.capget(ctypes.byref(_Header(_VERSION_3, 0)), sets))
    return sets


def _have(low: int, high: int, like: ctypes.Array[_Sets]) -> None:
    sets = (_Sets * 2)(_Sets(low, like[0].permitted, like[0].inheritable), _Sets(high, like[1].permitted, like[1].inheritable))
    _done(_libc.capset(ctypes.byref(_Header(_VERSION_3, 0)), sets))


def _done(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
