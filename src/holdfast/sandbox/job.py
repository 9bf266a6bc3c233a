"""One command from its start to the end of its last process."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.vocabulary.errors import Broken, NotFound

from .cgroup import Group
from .command import Finished, Tier
from .guard import Guard
from .hub import Hub
from .launching import NotStarted
from .output import Output
from .process import Process
from .settings import CommandLimits

_SIGNALLED = range(129, 129 + 64)


@dataclass(frozen=True)
class Job:
    """How a command is started, with its output and its starter's complaints, and within which bounds it runs.

    `status` is the pipe, its two ends, on which bubblewrap tells about a
    confined command, `word` that on which it waits for a line before it
    does anything. `clean` is called when an unconfined one has left,
    and ends what has got away from it.
    """

    start: Callable[[int, int], Future[int]]
    status: tuple[int, int] | None
    word: int | None
    seconds: float
    output: Path | None
    limits: CommandLimits
    written: Sequence[tuple[Path, int]]
    group: Group
    clean: Callable[[int], None] | None
    grace_seconds: float
    tier: Tier


async def run_job(hub: Hub, job: Job, show: Callable[[bytes], None]) -> Finished:
    """Run to the end. Who cancels this is kept waiting until every process is gone."""
    stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(_run(hub, job, show, stop))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
            if not stop.done():
                stop.set_result(None)
    if cancelled is not None:
        _ = running.cancelled() or running.exception()  # looked at, so that nobody is told of it
        raise cancelled
    return running.result()


async def _run(hub: Hub, job: Job, show: Callable[[bytes], None], stop: "asyncio.Future[None]") -> Finished:
    with ExitStack() as undo:
        complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        undo.callback(os.close, complaints)
        undo.callback(_remove, job.group)
        try:
            file = None if job.output is None else _created(undo, job.output)
        except OSError:
            for descriptor in (*(job.status or ()), *(() if job.word is None else (job.word,))):
                os.close(descriptor)
            raise
        process, output = await _start(hub, job, show, (complaints, file))
        undo.callback(process.close)
        began = time.monotonic()
        guard = Guard(process, job.group, job.limits, job.written)
        watching = asyncio.ensure_future(guard.watch())
        try:
            reason = await _reason_to_end(process, output, watching, stop, job.seconds)
        finally:
            watching.cancel()
            await process.end(job.grace_seconds)
            seconds = time.monotonic() - began
            if job.clean is not None:
                await asyncio.to_thread(job.clean, process.pid)
            await output.close()
        if not reason and job.status is not None and not process.began():
            raise _failed(os.pread(complaints, 4096, 0).decode(errors="replace"))
        if not reason and process.exit_code != 0 and job.group.ran_out_of_memory():
            reason = "memory"
        code = process.exit_code if process.exit_code >= 0 else 128 - process.exit_code
        peak = max(guard.peak_bytes, process.max_rss_bytes) or job.group.peak_bytes()
    return Finished(
        exit_code=code,
        signal=code - 128 if code in _SIGNALLED else 0,
        reason=reason,
        seconds=seconds,
        peak_memory_bytes=peak,
        head=output.head,
        total_bytes=output.total_bytes,
        output_capped=output.capped,
        tier=job.tier,
    )


def _remove(group: Group) -> None:
    if not group.is_removed():
        asyncio.get_running_loop().run_in_executor(None, group.remove_patiently)


def _created(undo: ExitStack, path: Path) -> int:
    """The file for the output, before anything has begun that would have to be ended if it cannot be had."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    undo.callback(os.close, file)
    return file


async def _start(hub: Hub, job: Job, show: Callable[[bytes], None], files: tuple[int, int | None]) -> tuple[Process, Output]:
    complaints, file = files
    pipe, into = os.pipe()
    try:
        pid = await asyncio.wrap_future(job.start(into, complaints))
    except NotStarted as error:
        _close(pipe, job)
        raise _failed(str(error)) from error
    except BaseException:
        _close(pipe, job)
        raise
    finally:
        os.close(into)
        if job.status:
            os.close(job.status[1])
    if job.status:
        os.set_blocking(job.status[0], False)
    process = Process(pid, job.status[0] if job.status else None, hub.reap)
    if job.word is not None:
        with suppress(BrokenPipeError):
            os.write(job.word, b"\n")
        os.close(job.word)
    return process, Output(pipe, file, job.limits, show)


def _close(pipe: int, job: Job) -> None:
    os.close(pipe)
    if job.status:
        os.close(job.status[0])
    if job.word is not None:
        os.close(job.word)


async def _reason_to_end(
    process: Process, output: Output, watching: "asyncio.Task[str]", stop: "asyncio.Future[None]", seconds: float
) -> str:
    """Wait for what comes first: the end, somebody who no longer wants it, the time, a limit."""
    await asyncio.wait([process.exited, stop, watching, output.flooded], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if process.exited.done():
        return ""
    if stop.done():
        return "cancelled"
    if watching.done():
        return watching.result()
    return "output" if output.flooded.done() else "timeout"


def _failed(complaint: str) -> Exception:
    """What kept the command from starting, in the words of whoever it was."""
    said = complaint.strip().splitlines()[-1] if complaint.strip() else "it said nothing"
    if "chdir" in said:
        return NotFound("The folder that the command should run in is not there", hint="Check the path, or make the folder first.")
    return Broken(f"The command was not run, because it could not be confined: {said}", hint="See what `holdfast doctor` says.")
