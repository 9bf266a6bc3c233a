"""A small process that starts confined commands, run as a script of its own by `Hub`.

It becomes the user whose hands the commands have, and enters a user and a
mount namespace, once. For each command it mounts the layers by system
calls and starts bubblewrap, so that no other programs have to be started
on the way. It knows nothing of the rest of Holdfast, and imports nothing
after it has given its rights away.
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import sys

# Where a command's own descriptors are in bubblewrap: its words, its filter and its status.
OPTIONS, SECCOMP, STATUS = 10, 11, 12
# What is written to the request before the words of the program: folders, each with a mount of a layer in it.
END_OF_FOLDERS = b""
OPEN = b"open"
# What an answer begins with that is no number, but says why there is none.
FAILED = b"!"

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_MNT_DETACH = 2
# `volatile`: a layer is made durable when it is kept, and not by syncing the whole disk at its end.
_OVERLAY = b"userxattr,volatile,lowerdir=lower,upperdir=upper,workdir=work"
_CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
_REQUEST_BYTES = 64

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Answer requests until whoever started this has gone: a pid, or what became of one."""
    os.set_inheritable(int(sys.argv[1]), False)
    door = socket.socket(fileno=int(sys.argv[1]))
    try:
        _enter(uid=int(sys.argv[2]), gid=int(sys.argv[3]))
    except OSError as error:
        door.send(f"{error.strerror}: {error.filename}".encode())
        return
    mounted: dict[int, list[bytes]] = {}
    door.send(OPEN)
    while True:
        said, descriptors, _, _ = socket.recv_fds(door, _REQUEST_BYTES, 8, socket.MSG_CMSG_CLOEXEC)
        if not said:
            return
        if not descriptors:
            door.send(_reaped(int(said)))
            # After the answer: the kernel forgets each file that the command has looked at, which takes a while when they are many.
            _unmount(mounted.pop(int(said), []))
            continue
        try:
            answer = str(_started(descriptors, mounted)).encode()
        except OSError as error:
            answer = FAILED + f"{error.filename}: {error.strerror}".encode()
        for descriptor in descriptors:
            os.close(descriptor)
        door.send(answer)


def _enter(*, uid: int, gid: int) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        # Without it /proc/self would still be root's, after the change of user.
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _done(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        os.write(file, text.encode())
        os.close(file)
    os.chdir("/")


def _started(descriptors: "list[int]", mounted: "dict[int, list[bytes]]") -> int:
    """Mount the layers and start the program, whose namespace then has them; here they are taken away when it is reaped."""
    words = os.pread(descriptors[0], os.fstat(descriptors[0]).st_size, 0).split(b"\0")
    folders = words[: words.index(END_OF_FOLDERS)]
    words = words[len(folders) + 1 :]
    done: list[bytes] = []
    # Out of the way first: one may have the number that another is to get.
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, STATUS + 1) for one in descriptors[1:]]
    try:
        for folder in folders:
            os.chdir(folder)
            _done(_libc.mount(b"overlay", b"seen", b"overlay", 0, _OVERLAY), "overlay")
            done.append(folder + b"/seen")
        os.chdir("/")
        places = [(os.POSIX_SPAWN_DUP2, one, target) for one, target in zip(high, (0, 1, 2, OPTIONS, SECCOMP, STATUS), strict=True)]
        pid = os.posix_spawn(words[0], words, _CLEAN, file_actions=places, setsid=True)
    except OSError:
        _unmount(done)
        raise
    finally:
        os.chdir("/")
        for one in high:
            os.close(one)
    mounted[pid] = done
    return pid


def _unmount(paths: "list[bytes]") -> None:
    for path in paths:
        _libc.umount2(path, _MNT_DETACH)


def _reaped(pid: int) -> bytes:
    """With what it left, and the most memory that one of its processes had; 0 when that was less than ours, which the kernel counts too."""
    _, status, usage = os.wait4(pid, 0)
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    most = usage.ru_maxrss if usage.ru_maxrss > ours else 0
    return f"{os.waitstatus_to_exitcode(status)} {most}".encode()


def _done(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


if __name__ == "__main__":
    main()
