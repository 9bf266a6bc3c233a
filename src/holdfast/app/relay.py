"""Passing a call on to the process that holds its workspace, over a socket in the data folder.

The folder is the user's own and nobody else can enter it, so whoever
can connect may call. One line of JSON goes out with the call, one comes
back with its outcome; hanging up cancels the call.

An address names the running machine and the socket. A socket that is
there and refuses is the proof that its process has ended: it listens
before the store knows of it, and is removed only after the store has
forgotten it. No socket is no proof: it may be in another data folder.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.errors import Busy, HoldfastError, InvalidArguments, Mistake, every_error
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile

from .profiles import hear_profile, tell_profile

_FOLDER = "sockets"
_SUFFIX = ".sock"
_YOUNG_SECONDS = 60.0
_MAX_LINE = 64 * 1024 * 1024

Taker: TypeAlias = Callable[[str, ToolCall, Profile], Awaitable[Outcome]]


class NotTaken(Exception):
    """The other process is only starting, or is giving the workspace back: look again who holds it."""


class Relay:
    """Our end: takes calls that other processes pass on to us."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._take: Taker | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, home: Path) -> AsyncGenerator["Relay"]:
        """Listen, under a name that is told to others by the store."""
        folder = home / _FOLDER
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{uuid7()}{_SUFFIX}"
        relay = cls(f"{_machine()}/{name}")
        with _short(folder) as short:
            server = await asyncio.start_unix_server(relay._serve, f"{short}/{name}", limit=_MAX_LINE)
        try:
            yield relay
        finally:
            server.close()
            (folder / name).unlink(missing_ok=True)

    def answer_with(self, take: Taker) -> None:
        """Say who takes the calls."""
        self._take = take

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            taking = asyncio.create_task(self._answer(await reader.readline()))
            hung_up = asyncio.create_task(reader.read(1))
            await asyncio.wait({taking, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            hung_up.cancel()
            if not taking.done():
                taking.cancel()
                return
            writer.write(json.dumps(taking.result(), default=str).encode() + b"\n")
            await writer.drain()
        except (ConnectionError, ValueError):
            # Whoever asked has gone, or spoke another language.
            return
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        asked = json.loads(line)
        call = ToolCall(asked["id"], asked["name"], asked["arguments"], Caller(**asked["caller"]), Wish(asked.get("effects", "keep")))
        if self._take is None:
            return {"raised": _told_error(Busy("the process that holds the workspace is only starting", hint="Try again in a moment."))}
        try:
            return _told(await self._take(asked["workspace"], call, hear_profile(asked["profile"])))
        except HoldfastError as error:
            return {"raised": _told_error(error)}


async def is_gone(home: Path, address: str) -> bool:
    """Whether the process at `address` has certainly ended."""
    try:
        _, writer = await _connected(home, address)
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    writer.close()
    return False


async def sweep(home: Path, known: Collection[str]) -> None:
    """Remove the sockets of processes that have ended and that nobody knows any more."""
    names = {address.partition("/")[2] for address in known}
    for socket in list((home / _FOLDER).glob(f"*{_SUFFIX}")):
        if socket.name in names or time.time() - socket.stat().st_mtime < _YOUNG_SECONDS:
            continue
        if await is_gone(home, f"{_machine()}/{socket.name}"):
            socket.unlink(missing_ok=True)


async def pass_on(home: Path, address: str, workspace_id: str, call: ToolCall, profile: Profile) -> Outcome:
    """Have the process at `address` take the call.

    Raises:
        OSError: It is not there any more, and has not heard the call.
        NotTaken: It cannot take the call now, and nothing has happened.
        Busy: It went away in the middle of the call.
        HoldfastError: What the other would have raised.
    """
    reader, writer = await _connected(home, address)
    try:
        asked = {"workspace": workspace_id, "id": call.id, "name": call.name, "arguments": call.arguments}
        asked.update(caller=vars(call.caller), profile=tell_profile(profile), effects=call.effects.value)
        writer.write(json.dumps(asked).encode() + b"\n")
        await writer.drain()
        line = await reader.readline()
    except ConnectionError:
        line = b""
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise Busy("the process that holds the workspace went away in the middle of the call", hint="Look what was done, then try again.")
    return _heard(json.loads(line))


async def _connected(home: Path, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    machine, _, name = address.partition("/")
    if machine != _machine():
        raise FileNotFoundError(f"{address} is on another machine")
    with _short(home / _FOLDER) as short:
        return await asyncio.open_unix_connection(f"{short}/{name}", limit=_MAX_LINE)


def _told(outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"outcome": type(outcome).__name__, "answer": vars(outcome.answer)}
    if not isinstance(outcome, Done):
        told["error"] = _told_error(outcome.error)
    return told


def _told_error(error: HoldfastError) -> dict[str, Any]:
    mistakes = [[each.argument, each.problem] for each in error.mistakes] if isinstance(error, InvalidArguments) else []
    return {"code": error.code, "message": error.message, "hint": error.hint, "facts": error.facts, "mistakes": mistakes}


def _heard(told: dict[str, Any]) -> Outcome:
    if "raised" in told:
        error = _error(**told["raised"])
        if isinstance(error, Busy):
            raise NotTaken(str(error)) from error
        raise error
    answer = Answer(**told["answer"])
    if told["outcome"] == "Done":
        return Done(answer)
    error = _error(**told["error"])
    return Refused(answer, error) if told["outcome"] == "Refused" else Failed(answer, error)


def _error(code: str, message: str, hint: str, facts: dict[str, Any], mistakes: list[list[str]]) -> HoldfastError:
    kind = next((kind for kind in every_error() if kind.code == code), HoldfastError)
    error = kind.__new__(kind)
    HoldfastError.__init__(error, message, hint=hint, **facts)
    if isinstance(error, InvalidArguments):
        error.mistakes = tuple(Mistake(*each) for each in mistakes)
    return error


def _machine() -> str:
    """This machine since it was started; where that cannot be told, nobody but ourselves is on it."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"process-{os.getpid()}"


@contextlib.contextmanager
def _short(folder: Path) -> Any:
    """A short name of a folder: the address of a socket has at most 107 bytes."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
