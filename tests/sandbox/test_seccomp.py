"""The filter of system calls, run by hand for both machines."""

import struct
from functools import cache

import pytest

from holdfast.sandbox.seccomp import machines, program

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {
        "read": 0,
        "socket": 41,
        "clone": 56,
        "ptrace": 101,
        "mount": 165,
        "fallocate": 285,
        "unshare": 272,
        "ioctl": 16,
        "personality": 135,
    },
    "aarch64": {
        "read": 63,
        "socket": 198,
        "clone": 220,
        "ptrace": 117,
        "mount": 40,
        "fallocate": 47,
        "unshare": 97,
        "ioctl": 29,
        "personality": 92,
    },
}
EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 38, 95, 97


@pytest.mark.parametrize("machine", machines())
@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        ("read", (), 0),
        ("ptrace", (), EPERM),
        ("mount", (), EPERM),
        ("fallocate", (), EOPNOTSUPP),
        ("clone", (0x01200011,), 0),
        ("clone", (0x003D0F00,), 0),  # a thread
        ("clone", (0x10000011,), EPERM),
        ("clone", (0x00020011,), EPERM),
        ("unshare", (0x00000400,), 0),
        ("unshare", (0x10000000,), EPERM),
        ("unshare", (0x00000080,), EPERM),
        ("socket", (1, 1, 0), 0),
        ("socket", (2, 1, 0), 0),
        ("socket", (10, 1, 0), 0),
        ("socket", (16, 3, 0), 0),
        ("socket", (16, 3, 9), EAFNOSUPPORT),
        ("socket", (40, 1, 0), EAFNOSUPPORT),
        ("socket", (38, 5, 0), EAFNOSUPPORT),
        ("ioctl", (0, 0x5401), 0),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0xFFFFFFFF00005412), EPERM),
        ("personality", (0,), 0),
        ("personality", (0xFFFFFFFF,), 0),
        ("personality", (0x0040000,), EPERM),
    ],
)
def test_a_call_is_answered_by_its_number_and_arguments(machine: str, call: str, arguments: tuple[int, ...], answer: int) -> None:
    assert judged(machine, NUMBERS[machine][call], arguments) == answer


@pytest.mark.parametrize("machine", machines())
def test_newer_calls_and_other_ways_to_make_them_are_refused(machine: str) -> None:
    assert judged(machine, 435) == ENOSYS  # clone3
    assert judged(machine, 425) == EPERM  # io_uring_setup
    assert judged(machine, 439) == 0  # faccessat2
    assert judged(machine, 600) == ENOSYS
    assert judged(machine, 39, arch=0x40000003) == -1  # i386
    assert judged(machine, 39, arch=next(arch for name, arch in ARCH.items() if name != machine)) == -1
    assert judged("x86_64", 0x40000000 + 39) == ENOSYS  # x32


@pytest.mark.parametrize("machine", machines())
def test_only_six_calls_are_judged_by_arguments_so_that_the_kernel_remembers_its_answer_to_all_others(machine: str) -> None:
    looked_into = {number for number in range(471) if not _is_judged_by_number(machine, number)}

    assert len(looked_into) == 6
    assert {NUMBERS[machine][name] for name in ("ioctl", "clone", "unshare", "personality", "socket")} < looked_into


def _is_judged_by_number(machine: str, number: int) -> bool:
    try:
        return judged(machine, number, (), known_bytes=8) >= 0
    except struct.error:
        return False


@cache
def instructions(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter: code, where to go on if it holds, where if not, and the value."""
    whole = program(machine)
    return [struct.unpack_from("=HBBI", whole, at) for at in range(0, len(whole), 8)]


def judged(machine: str, number: int, arguments: tuple[int, ...] = (), *, arch: int | None = None, known_bytes: int = 64) -> int:
    """The error that the filter answers with; 0 when it allows the call, -1 when it ends the process."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, arch or ARCH[machine], 0, *padded)[:known_bytes]
    words, at, accumulator = instructions(machine), 0, 0
    while True:
        code, then, otherwise, value = words[at]
        at += 1
        if code == 0x06:
            return 0 if value == ALLOW else -1 if value == KILL else value & 0xFFFF
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += then if holds else otherwise
