"""Landlock: a thread gives up, for good, all files but those it names.

What the thread starts afterwards is bound in the same way, whatever
path it is told and wherever a link leads.
"""

import ctypes
import os
from collections.abc import Iterable
from functools import cache

EXECUTE = 1 << 0
READ_FILE = 1 << 2
READ_DIRECTORY = 1 << 3

# How many rights each version of Landlock knows; one that is not named here is not taken away.
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}

_SYS_CREATE_RULESET = 444
_SYS_ADD_RULE = 445
_SYS_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


@cache
def version() -> int:
    """Which version of Landlock the kernel has, 0 for none."""
    return max(0, int(_libc.syscall(_SYS_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION))))


def restrict_thread(allowed: Iterable[tuple[int, int]]) -> None:
    """Take all files from this thread except those beneath the given descriptors, each with the rights that are left of it.

    Raises:
        OSError: The kernel has no Landlock, or refuses.
    """
    handled = (1 << _RIGHTS_BY_VERSION[min(version(), max(_RIGHTS_BY_VERSION))]) - 1 if version() else 0
    rules = _checked(_libc.syscall(_SYS_CREATE_RULESET, ctypes.byref(_Ruleset(handled)), ctypes.sizeof(_Ruleset), 0))
    try:
        for descriptor, rights in allowed:
            rule = _PathBeneath(rights, descriptor)
            _checked(_libc.syscall(_SYS_ADD_RULE, rules, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))
        _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_libc.syscall(_SYS_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
