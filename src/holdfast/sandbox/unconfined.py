"""Commands that nothing confines, for a person who has written that they understand."""

import os
import secrets
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from holdfast.vocabulary.errors import NotFound

from . import chain
from .cgroup import Group, find_groups
from .command import Command, SandboxMount, Tier
from .environment import environment_for
from .hands import Hands
from .hub import Hub, Start
from .job import Job
from .settings import SandboxSettings

# All processes of a command have this in their environment, by which one that got away is found again.
_MARK = "HOLDFAST_COMMAND"
_TRIES = 40


def job(hub: Hub, command: Command, mounts: Sequence[SandboxMount], settings: SandboxSettings) -> Job:
    """The command in the project itself, under the same limits of processes as inside a sandbox."""
    mount = next((one for one in mounts if one.name == command.cwd[0]), None)
    if mount is None:
        raise NotFound(f"There is no mount {command.cwd[0]}")
    cwd = os.path.join(mount.root, command.cwd[1])
    if not os.path.isdir(cwd):
        raise NotFound("The folder that the command should run in is not there", hint="Check the path, or make the folder first.")
    hands = _hands(mount)
    settings.home.mkdir(parents=True, exist_ok=True)
    if hands.dropped:
        os.chown(settings.home, hands.uid, hands.gid)
    mark = secrets.token_hex(16)
    environment = environment_for(
        settings, os.environ, path=os.environ.get("PATH", ""), additions={**command.environment, _MARK: mark}, home=str(settings.home)
    )
    group = Group(find_groups(), settings.limits)
    # The words come after setpriv, so that nothing that the environment says has effect before root is dropped.
    inner = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items())]
    limited = chain.limited(settings.limits, command.script, others=_running_as(hands.uid))
    words = [*chain.dropping(chain.find_programs(), hands), *inner, *limited]
    return Job(
        start=lambda out, complaints: hub.start(Start(words, chain.CLEAN, cwd), out, complaints),
        status=None,
        word=None,
        seconds=command.seconds,
        output=command.output,
        limits=settings.limits,
        written=[],
        group=group,
        clean=lambda pid: _clean(pid, group, f"{_MARK}={mark}".encode()),
        grace_seconds=settings.grace_seconds,
        tier=Tier.UNCONFINED,
    )


def _hands(mount: SandboxMount) -> Hands:
    """The owner of the root; here there is nobody else whom root could become."""
    owner = os.fstat(mount.descriptor)
    return Hands(owner.st_uid, owner.st_gid, dropped=os.geteuid() == 0 and owner.st_uid != 0)


def _running_as(uid: int) -> int:
    """How many threads a user has, which is what the kernel counts against the limit of processes."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _clean(pid: int, group: Group, mark: bytes) -> None:
    """End what the command has left behind, as far as it can be found."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    group.kill()
    for _ in range(_TRIES):
        left = _marked(mark)
        if not left:
            return
        for one in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.005)


def _marked(mark: bytes) -> list[int]:
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.append(int(name))
    return found
