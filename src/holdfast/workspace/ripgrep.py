"""Running ripgrep, and listening to it on the event loop."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Awaitable

from holdfast.vocabulary.errors import Broken, HoldfastError, InvalidPattern

from .hits import Hits
from .match import Query
from .scan import Size
from .spawner import Running

_CHUNK_BYTES = 64 * 1024

# No file of settings, no ignore rules, no words about files that cannot be read, no pattern that needs hundreds of megabytes.
_ALWAYS = (
    *("--no-config", "--json", "--no-messages", "--no-ignore", "--hidden"),
    *("--regex-size-limit", "16M", "--dfa-size-limit", "64M"),
)


def arguments(query: Query, *, ordered: bool = False, max_per_file: int = 0, size: Size = Size.LARGE) -> list[str]:
    """ripgrep's words for the query, without the place to search in."""
    words = [*_ALWAYS, "--case-sensitive" if query.case_sensitive else "--ignore-case"]
    if not query.regex:
        words.append("--fixed-strings")
    if query.before:
        words += ["--before-context", str(query.before)]
    if query.after:
        words += ["--after-context", str(query.after)]
    if ordered:
        words += ["--sort", "path"]
    if size is not Size.LARGE:
        # Starting more threads takes longer than searching a small tree.
        words += ["--threads", "1"]
    if size is Size.SMALL_ASCII and _means_the_same_in_ascii(query.pattern):
        # Knowing all letters and digits of the world takes it as long as all the rest, and there are none to be found.
        words.append("--no-unicode")
    if max_per_file:
        words += ["--max-count", str(max_per_file)]
    return [*words, *_globs(query), "-e", query.pattern]


def _means_the_same_in_ascii(pattern: str) -> bool:
    """Whether the pattern needs nothing of Unicode to be understood, and then finds the same in a text of ASCII."""
    return pattern.isascii() and _UNICODE.search(pattern) is None


# Classes and characters by number, and flags, which could ask for Unicode.
_UNICODE = re.compile(r"\\[pPuUx]|\(\?(?!:)")


def _globs(query: Query) -> list[str]:
    """What ripgrep need not open, because we would drop it."""
    words: list[str] = []
    for name in query.skip_directories:
        if not (query.skip_hidden_directories and name.startswith(".")):
            words += ["--glob", f"!{_literal_glob(name)}/"]
    if query.skip_hidden_directories:
        words += ["--glob", "!.*/"]
    # Only what means the same to ripgrep as to us; the rest is left to the filter.
    if all(name[:1] != "#" and not set(name) & set("[]{}\\!/") for name in query.names):
        for name in query.names:
            words += ["--iglob", name]
    return words


def _literal_glob(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[]{}" else letter for letter in name.replace("\\", "\\\\"))


async def listen(starting: Awaitable[Running], hits: Hits) -> None:
    """Let `hits` hear what ripgrep says, until it has ended or there is enough; then it is no longer running.

    Raises:
        InvalidPattern: ripgrep does not understand the pattern.
        Broken: It ended before it was done.
    """
    running = await starting
    try:
        while chunk := await _more(running.output):
            hits.feed(chunk)
            if hits.enough:
                running.process.kill()
                break
            await asyncio.sleep(0)
        code = await _exit_code(running.process)
        # A summary comes last, unless it never got as far as searching.
        if hits.files_searched is None and not hits.enough:
            raise _failure(code, os.pread(running.complaints, _CHUNK_BYTES, 0).decode(errors="replace"))
    finally:
        _end(running)


async def _more(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            await _readable(descriptor)


async def _exit_code(process: subprocess.Popen[bytes]) -> int:
    code = process.poll()
    if code is not None:
        return code
    exited = os.pidfd_open(process.pid)
    try:
        await _readable(exited)
    finally:
        os.close(exited)
    return process.wait()


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


def _end(running: Running) -> None:
    running.close()
    if running.process.poll() is not None:
        return
    # The whole group: a bubblewrap that is killed while it starts would leave its child behind.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.process.pid, signal.SIGKILL)
    loop = asyncio.get_running_loop()
    exited = os.pidfd_open(running.process.pid)

    def take() -> None:
        loop.remove_reader(exited)
        os.close(exited)
        running.process.wait()

    # Its end is taken when it comes: waiting here would hold up somebody who has been told to stop.
    loop.add_reader(exited, take)


def _failure(code: int, complaint: str) -> HoldfastError:
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    reasons = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if not lines or code < 0:
        return Broken("the search ended before it was done", hint="Try again.", exit_code=code)
    reason = reasons[0] if reasons else lines[0].removeprefix("rg: ")
    hint = "The syntax is ripgrep's: put a backslash before a special character that is meant as such."
    return InvalidPattern(f"the pattern cannot be understood: {reason}", hint=hint)
