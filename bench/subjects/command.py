"""A confined command beside the same one run plainly: as a root server and as an ordinary user, small and large.

Each server is an interpreter of its own, which does one turn for each
line that it reads. What must be taken away afterwards, such as the layer,
is taken away after the answer.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.bench import Bench, WrongAnswer
from bench.row import Row
from holdfast.sandbox.command import Command, SandboxMount, Tier
from holdfast.sandbox.discard import remove
from holdfast.sandbox.sandbox import Sandbox
from holdfast.sandbox.settings import SandboxSettings

_PERSON = 12345
_LARGE_MEGABYTES = 600
_CHECKOUT = Path(__file__).parent.parent.parent

# Milliseconds that a confined command may take over a plain one.
_OVER_AS_ROOT, _OVER_AS_USER = 13, 10

_BUBBLEWRAP = "bwrap --unshare-all --die-with-parent --new-session --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp sh -c true"
_FOUND_AND_READ = "find tree -type f | wc -l; cat tree/*/* | sha256sum"
_HEAVY = {
    "files copied and removed": "cp -r tree copy && rm -r copy",
    "files packed and unpacked": "mkdir out && tar cf - tree | tar xf - -C out && rm -r out",
    "files found and read": _FOUND_AND_READ,
}
# What a command costs once beside what each file costs.
_TIMES_AS_MANY = 10


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """`true`, and commands that are busy with files."""
    if bench.clock is not time.perf_counter:
        bench.say("  left out: what the servers use of the processor is not counted here")
        return
    is_root = os.geteuid() == 0
    files = 400 if bench.quick else 4000
    with ExitStack() as undo:
        person = undo.enter_context(_serving(files, user=True))
        yield await _true(bench, "an ordinary user", person, _OVER_AS_USER)
        server = undo.enter_context(_serving(files, user=False)) if is_root else person
        if is_root:
            yield await _true(bench, "a root server", server, _OVER_AS_ROOT)
        large = undo.enter_context(_serving(0, user=not is_root, megabytes=_LARGE_MEGABYTES))
        yield await bench.row(
            f"command: confined true from a server of {_LARGE_MEGABYTES} MB",
            ours=lambda: large.turn("confined", "true"),
            floor=("from a small one", lambda: server.turn("confined", "true")),
            goal=1.2,
            rounds=9,
            times=5,
        )
        for what, script in _HEAVY.items():
            yield await bench.row(
                f"command: {files} {what}",
                ours=lambda script=script: person.turn("confined", script),
                floor=("plain", lambda script=script: person.turn("plain", script)),
                goal=1.1,
                rounds=7,
            )
    many = files * _TIMES_AS_MANY
    with _serving(many, user=True) as person:
        yield await bench.row(
            f"command: {many} files found and read",
            ours=lambda: person.turn("confined", _FOUND_AND_READ),
            floor=("plain", lambda: person.turn("plain", _FOUND_AND_READ)),
            goal=1.1,
            rounds=5,
        )


async def _true(bench: Bench, who: str, server: "_Server", over_milliseconds: int) -> Row:
    row = await bench.row(
        f"command: confined true as {who}",
        ours=lambda: server.turn("confined", "true"),
        floor=("sh -c true", lambda: server.turn("plain", "true")),
        peers={"bubblewrap alone": lambda: server.turn("plain", _BUBBLEWRAP)},
        rounds=15,
        times=4,
    )
    if row.floor is None:
        raise WrongAnswer("nothing was measured")
    allowed = row.floor + over_milliseconds / 1000
    return replace(row, floor=allowed, floor_name=f"sh -c true + {over_milliseconds} ms:", goal=1, parts={"plain": row.floor})


@dataclass(frozen=True)
class _Server:
    process: "subprocess.Popen[str]"

    def turn(self, how: str, script: str) -> None:
        """Have one command run, and wait for its end."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{how} {script}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "0":
            raise WrongAnswer(f"{how} {script}: {answer}")


@contextmanager
def _serving(files: int, *, user: bool, megabytes: int = 0) -> Generator[_Server]:
    words = [sys.executable, "-m", "bench.subjects.command", str(files), str(int(user)), str(megabytes)]
    process = subprocess.Popen(words, cwd=_CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield _Server(process)
    finally:
        process.communicate()


# Inside the server


async def _serve(files: int, *, megabytes: int) -> None:
    ballast = bytearray(os.urandom(1024) * 1024 * megabytes)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-", dir="/var/tmp"))
    try:
        sandbox = await _opened(folder, files)
        if sandbox.tier is not Tier.LAYERED:
            raise WrongAnswer(str(sandbox.lacks))
        for line in sys.stdin:
            how, _, script = line.strip().partition(" ")
            if how == "plain":
                print(_plain(script, folder / "project"), flush=True)
                continue
            layer = sandbox.new_layer()
            finished = await sandbox.run(Command(script, 600, ("project", "")), layer, lambda _: None)
            print(finished.exit_code, flush=True)
            await sandbox.discard(layer)
        sandbox.close()
    finally:
        remove(folder)
        del ballast


def _plain(script: str, folder: Path) -> int:
    return subprocess.run(["/bin/sh", "-c", script], cwd=folder, capture_output=True, check=False).returncode


async def _opened(folder: Path, files: int) -> Sandbox:
    project = folder / "project"
    for number in range(files):
        file = project / "tree" / str(number % 60) / f"{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"line of file {number}\n" * 100)
    project.mkdir(exist_ok=True)
    descriptor = os.open(project, os.O_PATH | os.O_DIRECTORY)
    settings = SandboxSettings(folder / "data" / "layers", folder / "data" / "home", folder / "data")
    return await Sandbox.open([SandboxMount("project", project, descriptor, writable=True)], settings, workspace_id="bench")


def _main() -> None:
    files, user, megabytes = (int(word) for word in sys.argv[1:4])
    if user and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_PERSON)
        os.setuid(_PERSON)
    asyncio.run(_serve(files, megabytes=megabytes))


if __name__ == "__main__":
    _main()
