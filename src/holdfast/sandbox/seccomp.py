"""The system calls that a command does without, as a filter for the kernel.

What is not named here is allowed: a command is held by its namespaces,
and the filter takes away what would let it work on those, on other
processes and on the kernel itself. Each architecture has its own
numbers; calls made in any other way, such as by x32, are refused.
"""

import errno
import struct
from dataclasses import dataclass

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NR, _ARCH = 0, 4
_X32 = 0x40000000

# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; NEWTIME is a signal's number in clone, and a flag in unshare.
_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_NEW_TIME = 0x80

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK, _NETLINK_ROUTE = 1, 2, 10, 16, 0
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

# Calls that came after this one are not known to be harmless.
_LAST_KNOWN = 470

_BOTH = {
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "open_tree_attr": 467,
}
_X86_64 = {
    **_BOTH,
    "ioctl": 16,
    "socket": 41,
    "socketpair": 53,
    "clone": 56,
    "ptrace": 101,
    "syslog": 103,
    "uselib": 134,
    "personality": 135,
    "ustat": 136,
    "vhangup": 153,
    "modify_ldt": 154,
    "pivot_root": 155,
    "_sysctl": 156,
    "adjtimex": 159,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "iopl": 172,
    "ioperm": 173,
    "create_module": 174,
    "init_module": 175,
    "delete_module": 176,
    "get_kernel_syms": 177,
    "query_module": 178,
    "quotactl": 179,
    "nfsservctl": 180,
    "lookup_dcookie": 212,
    "clock_settime": 227,
    "vserver": 236,
    "mbind": 237,
    "set_mempolicy": 238,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "migrate_pages": 256,
    "unshare": 272,
    "move_pages": 279,
    "fallocate": 285,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "clock_adjtime": 305,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}
_AARCH64 = {
    **_BOTH,
    "ioctl": 29,
    "socket": 198,
    "socketpair": 199,
    "clone": 220,
    "ptrace": 117,
    "syslog": 116,
    "personality": 92,
    "vhangup": 58,
    "pivot_root": 41,
    "adjtimex": 171,
    "chroot": 51,
    "acct": 89,
    "settimeofday": 170,
    "mount": 40,
    "umount2": 39,
    "swapon": 224,
    "swapoff": 225,
    "reboot": 142,
    "sethostname": 161,
    "setdomainname": 162,
    "init_module": 105,
    "delete_module": 106,
    "quotactl": 60,
    "nfsservctl": 42,
    "lookup_dcookie": 18,
    "clock_settime": 112,
    "mbind": 235,
    "set_mempolicy": 237,
    "kexec_load": 104,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "migrate_pages": 238,
    "unshare": 97,
    "move_pages": 239,
    "fallocate": 47,
    "perf_event_open": 241,
    "fanotify_init": 262,
    "name_to_handle_at": 264,
    "open_by_handle_at": 265,
    "clock_adjtime": 266,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "kexec_file_load": 294,
    "bpf": 280,
    "userfaultfd": 282,
}

# What is answered where it is not "not permitted".
_ANSWERS = {"clone3": errno.ENOSYS, "fallocate": errno.EOPNOTSUPP, "userfaultfd": errno.ENOSYS, "mbind": 0, "set_mempolicy": 0}
_BY_ARGUMENT = ("ioctl", "socket", "socketpair", "clone", "unshare", "personality")


@dataclass(frozen=True)
class _Machine:
    arch: int
    numbers: dict[str, int]
    has_x32: bool = False


_MACHINES = {
    "x86_64": _Machine(0xC000003E, _X86_64, has_x32=True),
    "aarch64": _Machine(0xC00000B7, _AARCH64),
}


def machines() -> tuple[str, ...]:
    """The machines, as `os.uname` names them, that there is a filter for."""
    return tuple(_MACHINES)


def program(machine: str) -> bytes:
    """The filter for a machine, as the kernel wants it.

    Raises:
        LookupError: There is none for this machine.
    """
    it = _MACHINES[machine]
    numbers = it.numbers
    words = [_load(_ARCH), _if_equal(it.arch, 1, 0), _return(_KILL), _load(_NR)]
    if it.has_x32:
        words += [_if_at_least(_X32, 0, 1), _return(_ERRNO | errno.ENOSYS)]
    words += [_if_at_least(_LAST_KNOWN + 1, 0, 1), _return(_ERRNO | errno.ENOSYS)]
    for name, number in numbers.items():
        if name not in _BY_ARGUMENT:
            words += [_if_equal(number, 0, 1), _return(_ERRNO | _ANSWERS.get(name, errno.EPERM))]
    for name, judge in (
        ("ioctl", _judge_equal(1, (_TIOCSTI, _TIOCLINUX), inside=_ERRNO | errno.EPERM, outside=_ALLOW)),
        ("clone", _judge_bits(_NAMESPACES)),
        ("unshare", _judge_bits(_NAMESPACES | _NEW_TIME)),
        ("personality", _judge_equal(0, _PERSONALITIES, inside=_ALLOW, outside=_ERRNO | errno.EPERM)),
        ("socketpair", _judge_equal(0, (_AF_UNIX,), inside=_ALLOW, outside=_ERRNO | errno.EAFNOSUPPORT)),
        ("socket", _judge_socket()),
    ):
        words += [_if_equal(numbers[name], 0, len(judge)), *judge]
    return b"".join([*words, _return(_ALLOW)])


def _judge_equal(argument: int, values: tuple[int, ...], *, inside: int, outside: int) -> list[bytes]:
    """One answer when the argument is one of the values, another when not."""
    tests = [_if_equal(value, len(values) - at, 0) for at, value in enumerate(values)]
    return [_load_argument(argument), *tests, _return(outside), _return(inside)]


def _judge_bits(bits: int) -> list[bytes]:
    """Refuse when any of the bits is set in the first argument."""
    return [_load_argument(0), _word(_JUMP_SET, 0, 1, bits), _return(_ERRNO | errno.EPERM), _return(_ALLOW)]


def _judge_socket() -> list[bytes]:
    """The families that programs take for granted, though nobody is there; of netlink only what lists the interfaces."""
    return [
        _load_argument(0),
        _if_equal(_AF_UNIX, 5, 0),
        _if_equal(_AF_INET, 4, 0),
        _if_equal(_AF_INET6, 3, 0),
        _if_equal(_AF_NETLINK, 0, 3),
        _load_argument(2),
        _if_equal(_NETLINK_ROUTE, 0, 1),
        _return(_ALLOW),
        _return(_ERRNO | errno.EAFNOSUPPORT),
    ]


def _load_argument(number: int) -> bytes:
    """The lower half of an argument, on a little-endian machine: the kernel itself looks at no more of those judged here."""
    return _load(16 + 8 * number)


def _load(offset: int) -> bytes:
    return _word(_LOAD, 0, 0, offset)


def _if_equal(value: int, then: int, otherwise: int) -> bytes:
    return _word(_JUMP_EQUAL, then, otherwise, value)


def _if_at_least(value: int, then: int, otherwise: int) -> bytes:
    return _word(_JUMP_AT_LEAST, then, otherwise, value)


def _return(value: int) -> bytes:
    return _word(_RETURN, 0, 0, value)


def _word(code: int, then: int, otherwise: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
