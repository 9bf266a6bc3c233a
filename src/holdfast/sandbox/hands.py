"""Whose hands a command has: never those of root.

An ordinary server runs commands as itself. A root server drops to the
owner of the workspace's root; when that is root too, to a user of the
workspace's own, who exists nowhere else.
"""

import hashlib
import os
import pwd
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from .command import SandboxMount
from .environment import CLEAN

# Neither people, nor containers, nor services have numbers in here: see systemd's UIDS-GIDS.
_OWN_FIRST, _OWN_COUNT = 1_900_000_000, 200_000_000
# Where a container has only 65,536 users: those that systemd would give to passing services.
_SMALL_FIRST, _SMALL_COUNT = 61_184, 4_336


@dataclass(frozen=True)
class Hands:
    """A user and a group. `dropped` says that a root server becomes them."""

    uid: int
    gid: int
    dropped: bool


class NoHands(Exception):
    """No user can be had for this workspace."""


def hands_for(mounts: Sequence[SandboxMount], workspace_id: str) -> Hands:
    """Who runs the commands of the workspace with these mounts; the first that is writable decides.

    Raises:
        NoHands: This process is root and knows no user to become.
    """
    if os.geteuid() != 0:
        return Hands(os.geteuid(), os.getegid(), dropped=False)
    main = next((mount for mount in mounts if mount.writable), mounts[0])
    owner = os.fstat(main.descriptor)
    if owner.st_uid != 0:
        return Hands(owner.st_uid, owner.st_gid or _group_of(owner.st_uid), dropped=True)
    uid = own_uid(workspace_id)
    return Hands(uid, uid, dropped=True)


def own_uid(workspace_id: str) -> int:
    """A number for the workspace alone, always the same.

    Raises:
        NoHands: None that this machine lets us use is free.
    """
    mapped = _mapped()
    first, count = (_OWN_FIRST, _OWN_COUNT) if _within(mapped, _OWN_FIRST, _OWN_COUNT) else (_SMALL_FIRST, _SMALL_COUNT)
    if not _within(mapped, first, count):
        raise NoHands
    begin = int.from_bytes(hashlib.sha256(workspace_id.encode()).digest()[:8])
    for step in range(100):
        uid = first + (begin + step) % count
        if not _exists(uid):
            return uid
    raise NoHands


@contextmanager
def mapping(*, owner: tuple[int, int], to: Hands) -> Generator[int]:
    """A user namespace in which one owner's files belong to somebody else, and all others' to whom they do.

    Raises:
        OSError: The kernel refuses it.
    """
    words, pipe = ["unshare", "--user", "sh", "-c", "echo; read wait"], subprocess.PIPE
    holder = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=CLEAN)
    assert holder.stdin
    assert holder.stdout
    try:
        if holder.stdout.readline() != b"\n":
            raise PermissionError("user namespaces are refused")
        for kind, theirs, ours in (("uid", owner[0], to.uid), ("gid", owner[1], to.gid)):
            descriptor = os.open(f"/proc/{holder.pid}/{kind}_map", os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, _lines(theirs, ours).encode())
            finally:
                os.close(descriptor)
        namespace = os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield namespace
        finally:
            os.close(namespace)
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


def _lines(theirs: int, ours: int) -> str:
    """
    >>> print(_lines(0, 5).replace("4294967289", "…"))
    0 5 1
    1 1 4
    6 6 …
    """
    lines = [(theirs, ours, 1)]
    edges = [-1, *sorted({theirs, ours}), 2**32 - 1]
    for before, after in pairwise(edges):
        if after - before > 1:
            lines.append((before + 1, before + 1, after - before - 1))
    return "".join(f"{inside} {outside} {count}\n" for inside, outside, count in sorted(lines))


def _mapped() -> list[tuple[int, int]]:
    with open("/proc/self/uid_map") as lines:
        rows = [line.split() for line in lines]
    return [(int(row[0]), int(row[2])) for row in rows]


def _within(mapped: list[tuple[int, int]], first: int, count: int) -> bool:
    return any(begin <= first and first + count <= begin + length for begin, length in mapped)


def _exists(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _group_of(uid: int) -> int:
    try:
        return pwd.getpwuid(uid).pw_gid or uid
    except KeyError:
        return uid
