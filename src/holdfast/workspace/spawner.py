"""Starting ripgrep so that it can read beneath one mount's root and nowhere else.

ripgrep walks by path strings, so a link that is swapped in while it runs
leads it outside. It is therefore never let loose on a tree unconfined: it
is started by a thread that Landlock has bound, or inside bubblewrap, and
where neither can be had it may only read its standard input.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar

from . import landlock
from .kernel import open_beneath
from .program import find_ripgrep, libraries

T = TypeVar("T")

_TRIAL_SECONDS = 10

Opened: TypeAlias = Callable[[], AbstractContextManager[tuple[int, os.stat_result]]]


class Confinement(Enum):
    """What keeps ripgrep inside."""

    LANDLOCK = "landlock"
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


@dataclass(frozen=True)
class Running:
    """A program under way, with a pipe that it writes to and a file in memory for what it complains about."""

    process: subprocess.Popen[bytes]
    output: int
    complaints: int

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.output)
        os.close(self.complaints)


class Spawner:
    """One thread that starts ripgrep for one mount.

    It is bound when it is first needed and lives as long as the mount,
    since bubblewrap ends what it runs when the thread that started it ends.
    """

    def __init__(self, name: str, root: int, *, ways: Sequence[Confinement] = (Confinement.LANDLOCK, Confinement.BUBBLEWRAP)) -> None:
        # One of its own: what is still to be started when the mount is closed must not meet another folder under that number.
        self._root = os.dup(root)
        self._ways = ways
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"holdfast-{name}-rg")
        self._ready: _Ready | None = None
        self._is_used = False

    async def confinement(self) -> Confinement:
        """What ripgrep will be kept inside with; found by trying, the first time."""
        ready = self._ready or await asyncio.wrap_future(self._submitted(self._prepared))
        return ready.confinement

    async def start_in(self, path: str, arguments: Sequence[str]) -> Running:
        """Start ripgrep in the directory `path` of the mount.

        Raises:
            OSError: The directory cannot be opened.
        """
        return await self._started(lambda: self._start_in(path, arguments))

    async def start_on(self, opened: Opened, arguments: Sequence[str]) -> Running:
        """Start ripgrep on the contents of a file. The thread opens it: a caller who is cancelled would close it too early."""
        return await self._started(lambda: self._start_on(opened, arguments))

    def close(self) -> None:
        """Let the thread end."""
        if self._is_used:
            self._thread.submit(self._forget)
        else:
            self._forget()
        self._thread.shutdown(wait=False)

    def _submitted(self, work: Callable[[], T]) -> Future[T]:
        self._is_used = True
        return self._thread.submit(work)

    async def _started(self, start: Callable[[], Running]) -> Running:
        future = self._submitted(start)
        started = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(started)
        except asyncio.CancelledError:
            future.add_done_callback(_abandon)
            # What goes wrong now is nobody's any more.
            started.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise

    def _start_in(self, path: str, arguments: Sequence[str]) -> Running:
        ready = self._prepared()
        if ready.confinement is Confinement.NONE:
            raise AssertionError("ripgrep must not walk a tree unconfined")
        directory = open_beneath(self._root, path, os.O_PATH | os.O_DIRECTORY, follow=False)
        try:
            if ready.confinement is Confinement.BUBBLEWRAP:
                words = [*_bubblewrap(self._root, ready), "--chdir", f"/tree/{path}", "/rg", *arguments]
                return _spawned(words, executable=None, cwd="/", stdin=ready.null)
            return _spawned(["rg", *arguments], executable=ready.executable, cwd=f"/proc/self/fd/{directory}", stdin=ready.null)
        finally:
            os.close(directory)

    def _start_on(self, opened: Opened, arguments: Sequence[str]) -> Running:
        executable = self._prepared().executable
        with opened() as (descriptor, _):
            return _spawned(["rg", *arguments], executable=executable, cwd="/", stdin=descriptor)

    def _prepared(self) -> "_Ready":
        if self._ready is None:
            self._ready = _prepare(self._root, self._ways)
        return self._ready

    def _forget(self) -> None:
        os.close(self._root)
        if self._ready is not None:
            os.close(self._ready.program)
            os.close(self._ready.null)


@dataclass(frozen=True)
class _Ready:
    """What the thread has at hand once it can no longer open files."""

    confinement: Confinement
    path: str
    libraries: tuple[str, ...]
    program: int
    null: int

    @property
    def executable(self) -> str:
        return f"/proc/self/fd/{self.program}"


def _prepare(root: int, ways: Sequence[Confinement]) -> _Ready:
    """Bind this thread in the first way that works."""
    path = find_ripgrep()
    needed = tuple(libraries(path))
    program = os.open(path, os.O_PATH | os.O_CLOEXEC)
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    for way in ways:
        ready = _Ready(way, path, needed, program, null)
        if way is Confinement.LANDLOCK and _landlocked(root, ready):
            return ready
        if way is Confinement.BUBBLEWRAP and _wraps(root, ready):
            return ready
    return _Ready(Confinement.NONE, path, needed, program, null)


def _landlocked(root: int, ready: _Ready) -> bool:
    """Give up all files but the mount's, and what ripgrep needs to start."""
    if not landlock.version():
        return False
    needed = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in ready.libraries]
    try:
        landlock.restrict_thread(
            [
                (root, landlock.READ_FILE | landlock.READ_DIRECTORY),
                *((descriptor, landlock.READ_FILE | landlock.EXECUTE) for descriptor in (ready.program, *needed)),
            ]
        )
    except OSError:
        return False
    finally:
        for descriptor in needed:
            os.close(descriptor)
    return True


def _wraps(root: int, ready: _Ready) -> bool:
    """Whether bubblewrap is there and may make its namespaces."""
    if shutil.which("bwrap") is None:
        return False
    words = [*_bubblewrap(root, ready), "/rg", "--version"]
    try:
        return subprocess.run(words, stdin=ready.null, capture_output=True, check=False, timeout=_TRIAL_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _bubblewrap(root: int, ready: _Ready) -> list[str]:
    """The command that shows the rest of its line nothing but the mount, ripgrep and the libraries."""
    tree = os.readlink(f"/proc/self/fd/{root}")
    binds = [(tree, "/tree"), (ready.path, "/rg"), *((path, path) for path in ready.libraries)]
    confined = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
    return confined + [word for source, target in binds for word in ("--ro-bind", source, target)]


def _spawned(words: Sequence[str], *, executable: str | None, cwd: str, stdin: int) -> Running:
    output, into = os.pipe()
    complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
    try:
        # Python's own descriptors close themselves on exec. `close_fds` would list /proc/self/fd, which Landlock denies.
        process = subprocess.Popen(
            words,
            executable=executable,
            cwd=cwd,
            stdin=stdin,
            stdout=into,
            stderr=complaints,
            close_fds=False,
            env={"PATH": os.defpath},
            start_new_session=True,
        )
    except BaseException:
        os.close(output)
        os.close(complaints)
        raise
    finally:
        os.close(into)
    os.set_blocking(output, False)
    return Running(process, output, complaints)


def _abandon(future: Future[Running]) -> None:
    """End what was started for somebody who no longer waits for it."""
    if future.cancelled() or future.exception() is not None:
        return
    running = future.result()
    with suppress(ProcessLookupError):
        os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    running.close()
