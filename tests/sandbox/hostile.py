"""Commands that mean harm. One of them got out if it prints ESCAPED, or if anything outside has changed.

In a script `{outside}` is a folder that anybody may write to, `{pid}` a
process of the same user, `{port}` and `{socket}` and `{abstract}` are
where it listens, `{data}` is HOLDFAST_HOME, `{server}` the server.
"""

import os
from dataclasses import dataclass

_BOTH = {"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442, "clone3": 435}
_X86_64 = {"add_key": 248, "keyctl": 250, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "kexec_load": 246, "init_module": 175}
_AARCH64 = {"add_key": 217, "keyctl": 219, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "kexec_load": 104, "init_module": 105}
_NUMBERS = _BOTH | (_X86_64 if os.uname().machine == "x86_64" else _AARCH64)


@dataclass(frozen=True)
class Hostile:
    """One attempt, by the shell or by Python."""

    about: str
    script: str
    by: str = "sh"


def _python(about: str, statements: str) -> Hostile:
    return Hostile(about, statements, "python")


def _libc(about: str, call: str) -> Hostile:
    """A call of the C library that must fail."""
    return _python(about, f'import ctypes, os\nl = ctypes.CDLL(None, use_errno=True)\nif l.{call} >= 0: print("ESCAPED")')


def _syscall(name: str, arguments: str) -> Hostile:
    return _libc(f"the system call {name}", f"syscall({_NUMBERS[name]}, {arguments})")


def _socket(about: str, family: int, kind: int, protocol: int = 0) -> Hostile:
    return _python(about, f'import socket\nsocket.socket({family}, {kind}, {protocol})\nprint("ESCAPED")')


_FIND = "find / -path /usr -prune -o -path /proc -prune -o "

_FILES = [
    Hostile("write over a file", "echo changed > {outside}/file && echo ESCAPED"),
    Hostile("append to a file", "echo more >> {outside}/file && echo ESCAPED"),
    Hostile("make a file", "touch {outside}/new && echo ESCAPED"),
    Hostile("make a file where the folder is made first", "mkdir -p {outside}; echo x > {outside}/new"),
    Hostile("remove a file", "rm {outside}/file && echo ESCAPED"),
    Hostile("remove all", "rm -rf {outside}"),
    Hostile("rename a file", "mv {outside}/file {outside}/other && echo ESCAPED"),
    Hostile("truncate a file", "truncate -s 0 {outside}/file && echo ESCAPED"),
    Hostile("change a mode", "chmod 000 {outside}/file && echo ESCAPED"),
    Hostile("change a time", "touch -d 2001-01-01 {outside}/file && echo ESCAPED"),
    Hostile("change an owner", "chown 1000 {outside}/file && echo ESCAPED"),
    _python("set an attribute", 'import os\nos.setxattr("{outside}/file", "user.bad", b"1")\nprint("ESCAPED")'),
    Hostile("write through a link", "ln -s {outside}/file link; echo changed > link && echo ESCAPED"),
    Hostile("write through a linked folder", "ln -s {outside} folder; echo changed > folder/file && echo ESCAPED"),
    Hostile("write through ..", "echo changed > ../outside/file && echo ESCAPED"),
    Hostile("write through many ..", "echo changed > ../../../../../..{outside}/file && echo ESCAPED"),
    Hostile("hard link to a file", "ln {outside}/file hard && echo changed > hard && echo ESCAPED"),
    Hostile("write through /proc/self/root", "echo changed > /proc/self/root{outside}/file && echo ESCAPED"),
    Hostile("write through /proc/1/root", "echo changed > /proc/1/root{outside}/file && echo ESCAPED"),
    Hostile("write through the first process's folder", "echo changed > /proc/1/cwd/../outside/file && echo ESCAPED"),
    Hostile("use a descriptor that was left open", "for f in /proc/1/fd/* /proc/$$/fd/*; do ls $f/file && echo ESCAPED; done"),
    _python(
        "walk up from an open folder",
        'import os\nd = os.open(".", os.O_RDONLY)\nfor _ in range(50): d = os.open("..", os.O_RDONLY, dir_fd=d)\n'
        'os.open("{outside}".lstrip("/") + "/file", os.O_RDWR, dir_fd=d)\nprint("ESCAPED")',
    ),
    Hostile("chroot and climb", "chroot . /bin/sh -c 'echo ESCAPED'"),
    Hostile("make a device and read the disk", "mknod disk b 254 0 && head -c 1 disk && echo ESCAPED"),
    Hostile("write to the system's programs", "cp /bin/true /usr/bin/holdfast-bad && echo ESCAPED"),
    Hostile("write to /etc", "echo bad >> /etc/passwd && echo ESCAPED"),
    Hostile("write to the layer's own folder", _FIND + "-path '*/work/work' -print 2>/dev/null | grep -q . && echo ESCAPED"),
    Hostile("make a program for root", "cp /bin/sh mine; chmod 4755 mine; ./mine -p -c 'id -u' | grep -qx 0 && echo ESCAPED"),
    Hostile(
        "run the system's own setuid programs",
        "for p in su sudo mount newgrp; do $p -c id 2>/dev/null | grep -q uid=0 && echo ESCAPED; done",
    ),
]

_SECRETS = [
    Hostile("read the shadow file", "cat /etc/shadow && echo ESCAPED"),
    Hostile("read the real passwd", "grep -q daemon /etc/passwd && echo ESCAPED"),
    Hostile("read keys", "cat /root/.ssh/* /home/*/.ssh/* && echo ESCAPED"),
    Hostile("read our data", "ls {data} && echo ESCAPED"),
    Hostile("read our data by finding it", _FIND + "-name planted-secret -print 2>/dev/null | grep -q . && echo ESCAPED"),
    Hostile("read a file outside", "cat {outside}/file && echo ESCAPED"),
    Hostile("read the host's logs", "ls /var/log/* && echo ESCAPED"),
    Hostile("read the environment of the server", "cat /proc/{server}/environ | tr '\\0' '\\n' | grep -q . && echo ESCAPED"),
    Hostile("read every environment", "cat /proc/*/environ | tr '\\0' '\\n' | grep -q PLANTED && echo ESCAPED"),
    Hostile("read its own environment", "env | grep -q PLANTED && echo ESCAPED"),
    Hostile("read the kernel's memory", "head -c 1 /proc/kcore && echo ESCAPED"),
    Hostile("read /dev/mem", "head -c 1 /dev/mem && echo ESCAPED"),
    Hostile("read the kernel's log", "dmesg && echo ESCAPED"),
    Hostile("read the disk", "head -c 1 /dev/vda /dev/sda && echo ESCAPED"),
    Hostile("read keyrings", "cat /proc/keys | grep -q . && echo ESCAPED"),
    Hostile("see other processes", "ls /proc | grep -x {pid} && tr '\\0' ' ' < /proc/{pid}/cmdline | grep -q canary && echo ESCAPED"),
    Hostile("see the host's name", 'test "$(uname -n)" = holdfast || echo ESCAPED'),
    Hostile("see the host's mounts", "grep -q ' {outside}' /proc/self/mountinfo && echo ESCAPED"),
    Hostile("become root by its number", 'test "$(id -u)" = 0 && echo ESCAPED'),
]

_NETWORK = [
    _python("connect to the loopback", 'import socket\nsocket.create_connection(("127.0.0.1", {port}), 2)\nprint("ESCAPED")'),
    _python("connect by IPv6", 'import socket\nsocket.create_connection(("::1", {port}), 2)\nprint("ESCAPED")'),
    _python("connect to the internet", 'import socket\nsocket.create_connection(("1.1.1.1", 53), 2)\nprint("ESCAPED")'),
    _python("send a datagram away", 'import socket\nsocket.socket(2, 2).sendto(b"x", ("8.8.8.8", 53))\nprint("ESCAPED")'),
    _python("ask for a name", 'import socket\nsocket.gethostbyname("example.org")\nprint("ESCAPED")'),
    _python("connect to a socket outside", 'import socket\nsocket.socket(1, 1).connect("{socket}")\nprint("ESCAPED")'),
    _python("connect to an abstract socket", 'import socket\nsocket.socket(1, 1).connect("\\0{abstract}")\nprint("ESCAPED")'),
    _python("connect to Docker and D-Bus", 'import socket\nsocket.socket(1, 1).connect("/run/docker.sock")\nprint("ESCAPED")'),
    _socket("a vsock", 40, 1),
    _socket("a socket of the kernel's crypto", 38, 5),
    _socket("a packet socket", 17, 3, 768),
    _socket("a raw socket", 2, 3, 1),
    _socket("a netlink socket for audit", 16, 3, 9),
    _socket("a netlink socket for uevents", 16, 3, 15),
    _socket("a Bluetooth socket", 31, 3),
    _socket("a CAN socket", 29, 3),
    _socket("a TIPC socket", 30, 1),
    _socket("an RDS socket", 21, 5),
    _socket("an XDP socket", 44, 3),
]

_PROCESSES = [
    Hostile(
        "signal a process outside",
        "kill -USR1 {pid} && kill -0 {pid} && tr '\\0' ' ' </proc/{pid}/cmdline | grep -q canary && echo ESCAPED",
    ),
    Hostile("signal its group", "kill -USR1 -{pid} && echo ESCAPED"),
    _libc("trace a process", "ptrace(16, {pid}, 0, 0)"),
    _libc("be traced", "ptrace(0, 0, 0, 0)"),
    _python("read another's memory", 'open("/proc/{pid}/mem", "rb")\nprint("ESCAPED")'),
    _libc("process_vm_readv", "process_vm_readv(os.getpid(), None, 0, None, 0, 0)"),
    _python(
        "take a descriptor",
        'import os, ctypes\nf = os.pidfd_open(os.getppid())\nif ctypes.CDLL(None).syscall(438, f, 1, 0) >= 0: print("ESCAPED")',
    ),
    Hostile("leave a daemon behind", "setsid sh -c 'sleep 300; touch {outside}/late' >/dev/null 2>&1 &"),
    Hostile("leave a daemon behind, twice forked", "(setsid nohup sh -c 'sleep 301; echo {outside}' >/dev/null 2>&1 &) &"),
    Hostile("raise its own priority", "nice -n -10 true 2>&1 | grep -q . || echo ESCAPED"),
    Hostile("raise its own limits", "ulimit -n 1000000 && echo ESCAPED"),
    Hostile("choose who dies when memory is short", "echo -1000 > /proc/self/oom_score_adj && echo ESCAPED"),
    Hostile("leave its control group", "echo $$ > /sys/fs/cgroup/cgroup.procs && echo ESCAPED"),
    _python("type into the terminal", 'import fcntl, os\nfcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x")\nprint("ESCAPED")'),
    _python("type into a terminal of its own", 'import fcntl, pty\nm, s = pty.openpty()\nfcntl.ioctl(s, 0x5412, b"x")\nprint("ESCAPED")'),
]

_KERNEL = [
    Hostile("a user namespace", "unshare -Ur true && echo ESCAPED"),
    Hostile("a mount namespace", "unshare -m true && echo ESCAPED"),
    Hostile("another bubblewrap", "bwrap --ro-bind / / true && echo ESCAPED"),
    Hostile("a mount", "mount -t tmpfs none /tmp && echo ESCAPED"),
    Hostile("a bind mount", "mount --bind / /mnt && echo ESCAPED"),
    Hostile("write the system again", "mount -o remount,rw /usr && echo ESCAPED"),
    Hostile("take a mount away", "umount /etc && echo ESCAPED"),
    Hostile("enter another's namespaces", "nsenter -t 1 -a true && echo ESCAPED"),
    _libc("setns", "setns(os.open('/proc/self/ns/net', 0), 0)".replace("'", '"')),
    _libc("clone into a user namespace", 'syscall(56 if os.uname().machine == "x86_64" else 220, 0x10000011, 0, 0, 0, 0)'),
    _libc("another personality", "personality(0x0400000)"),
    _libc("set the host's name", 'sethostname(b"bad", 3)'),
    Hostile("set the time", "date -s 2001-01-01 2>/dev/null && echo ESCAPED"),
    Hostile("set a switch of the kernel", "echo 1 > /proc/sys/kernel/panic && echo ESCAPED"),
    Hostile("set how cores are dumped", "echo '|/bin/sh' > /proc/sys/kernel/core_pattern && echo ESCAPED"),
    Hostile("press the magic key", "echo b > /proc/sysrq-trigger && echo ESCAPED"),
    _libc("the swap", 'swapon(b"notes.txt", 0)'),
    _libc("a key", f"syscall({_NUMBERS['keyctl']}, 1, 0, 0, 0)"),
    _syscall("add_key", 'b"user", b"a", b"b", 1, -2'),
    _syscall("bpf", "5, 0, 0"),
    _syscall("userfaultfd", "1"),
    _syscall("perf_event_open", "0, 0, -1, -1, 0"),
    _syscall("io_uring_setup", "4, ctypes.create_string_buffer(120)"),
    _syscall("open_tree", '-100, b"/usr", 1'),
    _syscall("fsopen", 'b"tmpfs", 0'),
    _syscall("mount_setattr", '-100, b"/usr", 0, ctypes.create_string_buffer(32), 32'),
    _syscall("clone3", "ctypes.create_string_buffer(88), 88"),
    _syscall("kexec_load", "0, 0, 0, 0"),
    _syscall("init_module", "0, 0, 0"),
    _python(
        "a call in the way of x32",
        'import ctypes, os\nif os.uname().machine == "x86_64" and ctypes.CDLL(None).syscall(0x40000000 + 39) >= 0: print("ESCAPED")',
    ),
    _libc("space on the disk without writing", 'fallocate(os.open("big", 66, 384), 0, 0, 1 << 20)'),
]

# All that can be tried one after another in one sandbox.
QUIET = [*_FILES, *_SECRETS, *_NETWORK, *_PROCESSES, *_KERNEL]

# What takes the machine, or ends the others. With each comes why it may be ended; "" where it may end by itself.
LOUD = {
    "a fork bomb": ("b() { b | b & }; b; sleep 0.5", ("",)),
    "a fork bomb in another language": (
        "/usr/bin/python3 -c 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass'",
        ("timeout",),
    ),
    "a flood of memory": ("/usr/bin/python3 -c 'x = []\nwhile True: x.append(b\"x\" * 8388608)'", ("", "memory")),
    "a flood of memory by many": (
        "for i in 1 2 3 4 5 6; do /usr/bin/python3 -c 'import time\nx = b\"x\" * 150000000\ntime.sleep(20)' & done; wait",
        ("memory",),
    ),
    "a flood of memory in files": (
        "head -c 3000000000 /dev/zero > /tmp/big; head -c 3000000000 /dev/zero > /dev/shm/big; head -c 9000000 /dev/zero > /big",
        ("", "memory"),
    ),
    "a flood of memory in files without names": (
        "/usr/bin/python3 -c 'import os\nwhile True:\n  f = os.memfd_create(\"x\")\n  for _ in range(60): os.write(f, bytes(1048576))'",
        ("", "memory"),
    ),
    "a flood of the disk in one file": ("cat /dev/zero > big", ("",)),
    "a flood of the disk in many files": ("i=0; while true; do head -c 8000000 /dev/zero > big$i; i=$((i+1)); done", ("disk",)),
    "a flood of the disk in HOME": ("i=0; while true; do head -c 8000000 /dev/zero > ~/big$i; i=$((i+1)); done", ("disk",)),
    "a flood of output": ("yes", ("output",)),
    "the end of everybody": ("kill -9 -1; sleep 20", ("timeout",)),
    "a refusal to end": ("trap '' TERM INT HUP QUIT; while true; do sleep 1; done", ("timeout",)),
    "one that stops itself": ("kill -STOP $$", ("timeout",)),
}
