"""The programs that a command is started through."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from .environment import CLEAN
from .hands import Hands
from .launcher import OPTIONS, SECCOMP, STATUS
from .settings import CommandLimits

NEEDED = {"bwrap": "bubblewrap", "unshare": "util-linux", "setpriv": "util-linux", "sh": "dash"}


@dataclass(frozen=True)
class Programs:
    """Where the programs of the chain are."""

    bwrap: str
    setpriv: str


def missing_packages() -> list[str]:
    """The packages of what cannot be found, each once."""
    lacks = [package for name, package in NEEDED.items() if shutil.which(name, path=CLEAN["PATH"]) is None]
    return list(dict.fromkeys(lacks))


def find_programs() -> Programs:
    """The programs, none of which may be missing; what a person has on their PATH does not count."""
    found = {name: shutil.which(name, path=CLEAN["PATH"]) or name for name in ("bwrap", "setpriv")}
    return Programs(**found)


def confined(programs: Programs, inner: Sequence[str]) -> list[str]:
    """The words that run `inner` in bubblewrap, whose own descriptors are where the launcher puts them."""
    return [programs.bwrap, "--args", str(OPTIONS), "--seccomp", str(SECCOMP), "--json-status-fd", str(STATUS), "--", *inner]


def dropping(programs: Programs, hands: Hands) -> list[str]:
    """The words that make a root server's command somebody else's."""
    if not hands.dropped:
        return []
    return [programs.setpriv, "--reuid", str(hands.uid), "--regid", str(hands.gid), "--clear-groups", "--"]


def limited(limits: CommandLimits, script: str, *, others: int = 0, waits: bool = False) -> list[str]:
    """The words that run a script under limits. What runs them is the first process, and leaves as the script does.

    It sets the limits inside the namespace, where the number of processes
    is counted afresh; without one the kernel counts all of the user's, of
    which `others` are there already. Its own complaints are nobody's
    business; those of the script go where its output goes. When it
    `waits`, it does nothing before a line comes on its input, which nobody
    sends who does not know of it.
    """
    processes = limits.processes + others
    settings = (
        "exec 2>/dev/null",
        *(("read -r said || exit 125", "exec </dev/null", "unset said") if waits else ()),
        "ulimit -c 0",
        f"ulimit -d {limits.memory_bytes // 1024}",
        f"ulimit -f {limits.file_bytes // 512}",
        f"ulimit -n {limits.open_files}",
        f"ulimit -t {limits.cpu_seconds}",
        f"ulimit -u {processes} || ulimit -p {processes}",
    )
    return ["/bin/sh", "-c", "\n".join([*settings, '(exec sh -c "$1" 2>&1)', "exit $?"]), "sh", script]
