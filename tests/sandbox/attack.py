"""All hostile commands against one sandbox, with a canary outside: what got out, told in words."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.sandbox.command import Tier
from holdfast.sandbox.hands import own_uid
from holdfast.sandbox.settings import CommandLimits

from .hostile import LOUD, QUIET
from .yard import Yard, open_yard

_MIB = 1024 * 1024
_LIMITS = CommandLimits(
    memory_bytes=300 * _MIB,
    processes=64,
    file_bytes=24 * _MIB,
    layer_bytes=40 * _MIB,
    home_bytes=40 * _MIB,
    tmp_bytes=8 * _MIB,
    shm_bytes=8 * _MIB,
    output_bytes=_MIB,
    output_flood_bytes=16 * _MIB,
)

# Tries every attempt in a process of its own, which costs less than an interpreter each.
_DRIVER = """
import json, os, select, signal, sys, traceback
for number, (by, script) in enumerate(json.load(open("attempts.json"))):
    end, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.dup2(into, 1); os.dup2(into, 2)
        if by == "sh":
            os.execvp("sh", ["sh", "-c", script])
        try:
            exec(script, {})
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(0)
    os.close(into)
    said = b""
    while select.select([end], [], [], 5)[0]:
        chunk = os.read(end, 65536)
        if not chunk: break
        said = (said + chunk)[:4000]
        if len(said) == 4000: break
    os.close(end)
    try: os.killpg(pid, signal.SIGKILL)
    except OSError: pass
    os.waitpid(pid, 0)
    print(json.dumps([number, said.decode(errors="replace")]), flush=True)
"""

# Writes down whatever reaches it: signals and connections.
_CANARY = """
import os, selectors, signal, socket, sys
log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM}:
    signal.signal(number, lambda number, _: os.write(log, b"signal %d\\n" % number))
tcp = socket.create_server(("127.0.0.1", 0)); port = tcp.getsockname()[1]
path = socket.socket(socket.AF_UNIX); path.bind(sys.argv[3]); path.listen()
os.chmod(sys.argv[3], 0o777)
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0canary-%d" % os.getpid()); abstract.listen()
listening = [tcp, path, abstract]
try: listening.append(socket.create_server(("::1", port), family=socket.AF_INET6))
except OSError: pass
print(port, flush=True)
watch = selectors.DefaultSelector()
for one in listening: watch.register(one, selectors.EVENT_READ)
while True:
    for key, _ in watch.select():
        key.fileobj.accept()
        os.write(log, b"connection\\n")
"""


@dataclass(frozen=True)
class Canary:
    """A folder and a process outside, both as open to harm as they can be."""

    folder: Path
    process: subprocess.Popen[str]
    port: int

    def words(self, yard: Yard) -> dict[str, str]:
        return {
            "{outside}": str(self.folder),
            "{pid}": str(self.process.pid),
            "{port}": str(self.port),
            "{socket}": str(self.folder / "socket"),
            "{abstract}": f"canary-{self.process.pid}",
            "{data}": str(yard.settings.holdfast_home),
            "{server}": str(os.getpid()),
        }

    def state(self) -> list[str]:
        """Everything about the folder that a command could change: a change of mode, time, owner or attribute shows in the ctime."""
        lines = [f"alive {self.process.poll() is None}"]
        for path in (self.folder, *sorted(self.folder.rglob("*"))):
            now = path.lstat()
            lines.append(f"{path} {now.st_mode:o} {now.st_uid} {now.st_size} {now.st_nlink} {now.st_ctime_ns}")
        return lines


@contextmanager
def canary(folder: Path, uid: int | None) -> Generator[Canary]:
    outside = folder / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    (outside / "file").write_text("precious\n")
    (outside / "file").chmod(0o666)
    drop = [] if uid is None else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    words = [*drop, "/usr/bin/python3", "-c", _CANARY, "canary", str(outside / "log"), str(outside / "socket")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={"PLANTED": "secret"}, start_new_session=True)
    assert process.stdout
    try:
        yield Canary(outside, process, int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def attack(owner: int | None, loud: Sequence[str]) -> list[str]:
    """Try everything, and name what got out or did not end as it must."""
    os.environ["PLANTED_TOKEN"] = "PLANTED"
    async with open_yard(owner=owner, limits=_LIMITS) as yard:
        if yard.sandbox.tier is not Tier.LAYERED:
            return [f"no tier 1: {yard.sandbox.lacks}"]
        uid = None if os.geteuid() != 0 else owner or own_uid(yard.folder.name)
        with canary(yard.folder, uid) as bird:
            words = bird.words(yard)
            _prepare(yard, words)
            before = bird.state()
            found = await _quietly(yard)
            for name in loud:
                found += await _loudly(yard, name)
            if bird.state() != before:
                found.append(f"something outside changed: {set(bird.state()) ^ set(before)}")
        found += [f"the project changed: {path}" for path in yard.project.rglob("*") if path.name not in _OWN]
        if (yard.project / "notes.txt").read_text() != "first\n":
            found.append("the project's file changed")
    return found + _left(yard)


_OWN = ("notes.txt", "driver.py", "attempts.json")


def _prepare(yard: Yard, words: dict[str, str]) -> None:
    attempts = [(one.by, _filled(one.script, words)) for one in QUIET]
    (yard.project / "attempts.json").write_text(json.dumps(attempts))
    (yard.project / "driver.py").write_text(_DRIVER)
    (yard.folder / "data" / "planted-secret").write_text("ours\n")


def _filled(script: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        script = script.replace(name, value)
    return script


async def _quietly(yard: Yard) -> list[str]:
    finished = await yard.run("exec /usr/bin/python3 driver.py", seconds=120)
    lines = b"".join(yard.shown).decode(errors="replace").splitlines()
    said: dict[int, str] = dict(json.loads(line) for line in lines if line.startswith("["))
    missing = [f"not tried: {one.about}" for number, one in enumerate(QUIET) if number not in said]
    escaped = [f"{one.about}: {said[number]}" for number, one in enumerate(QUIET) if "ESCAPED" in said.get(number, "")]
    useless = [f"{one.about}: {said[number]}" for number, one in enumerate(QUIET) if _was_no_attempt(said.get(number, ""))]
    return missing + escaped + useless + ([f"the batch ended with {finished}"] if finished.exit_code else [])


def _was_no_attempt(said: str) -> bool:
    """Whether the attempt was not understood, and so shows nothing."""
    return any(word in said for word in ("SyntaxError", "NameError", "AttributeError", "Syntax error", "TypeError"))


async def _loudly(yard: Yard, name: str) -> list[str]:
    script, reasons = LOUD[name]
    finished = await yard.run(script, seconds=1 if "timeout" in reasons else 30)
    lasting = "" if finished.reason in reasons else f"{name} ended by {finished.reason!r}, not {reasons}"
    full = "" if finished.peak_memory_bytes < 2 * _LIMITS.memory_bytes else f"{name} had {finished.peak_memory_bytes} bytes"
    return [fault for fault in (lasting, full) if fault]


def _left(yard: Yard) -> list[str]:
    """Processes that are still in the project or the layers, or have its path in their words."""
    left: list[str] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                words = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if yard.folder.name.encode() in words:
                left.append(f"still alive: {words!r}")
    return left


def main() -> None:
    """As an ordinary user, in an interpreter of one's own: `python -m tests.sandbox.attack [loud name…]`."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(12345)
        os.setuid(12345)
        os.environ["HOME"] = "/nonexistent"
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.write(json.dumps(asyncio.run(attack(None, sys.argv[1:]))))


if __name__ == "__main__":
    main()
