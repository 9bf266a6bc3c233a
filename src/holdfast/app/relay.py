"""Passing a call on to the process that holds its workspace, over a socket in the data folder.

The folder is the user's own and nobody else can enter it, so whoever
can connect may call. One line of JSON goes out with the call, one comes
back with its outcome; hanging up cancels the call.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Busy, HoldfastError, InvalidArguments, every_error
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile

from .profiles import named_profile

_FOLDER = "sockets"
_MAX_LINE = 64 * 1024 * 1024

Taker: TypeAlias = Callable[[str, ToolCall, Profile], Awaitable[Outcome]]


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
        relay = cls(f"{uuid7()}.sock")
        with _short(folder) as short:
            server = await asyncio.start_unix_server(relay._serve, f"{short}/{relay.address}", limit=_MAX_LINE)
        try:
            yield relay
        finally:
            server.close()
            with contextlib.suppress(FileNotFoundError):
                (folder / relay.address).unlink()

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
        call = ToolCall(asked["id"], asked["name"], asked["arguments"], Caller(**asked["caller"]))
        if self._take is None:
            return {"busy": "this process is only starting"}
        try:
            return _told(await self._take(asked["workspace"], call, named_profile(asked["profile"])))
        except HoldfastError as error:
            return {"busy": str(error)}


async def pass_on(home: Path, address: str, workspace_id: str, call: ToolCall, profile: Profile) -> Outcome:
    """Have the process at `address` take the call.

    Raises:
        ConnectionError, FileNotFoundError: It is not there any more; the call may not have been heard.
        Busy: It cannot take the call now.
        InvalidArguments: The profile has no name that the other would know.
    """
    if named_profile(profile.name) != profile:
        raise InvalidArguments.of("profile", "is your own, and the workspace is held by another process", hint="Use a shipped profile.")
    with _short(home / _FOLDER) as short:
        reader, writer = await asyncio.open_unix_connection(f"{short}/{address}", limit=_MAX_LINE)
    try:
        asked = {"workspace": workspace_id, "id": call.id, "name": call.name, "arguments": call.arguments}
        asked.update(caller=vars(call.caller), profile=profile.name)
        writer.write(json.dumps(asked).encode() + b"\n")
        await writer.drain()
        line = await reader.readline()
    finally:
        writer.close()
    if not line:
        raise Busy("the process that holds the workspace went away in the middle of the call", hint="Look what was done, then try again.")
    return _heard(json.loads(line))


def _told(outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"outcome": type(outcome).__name__, "answer": vars(outcome.answer)}
    if not isinstance(outcome, Done):
        error = outcome.error
        told["error"] = {"code": error.code, "message": error.message, "hint": error.hint, "facts": error.facts}
    return told


def _heard(told: dict[str, Any]) -> Outcome:
    if "busy" in told:
        raise Busy(told["busy"], hint="Try again in a moment.")
    answer = Answer(**told["answer"])
    if told["outcome"] == "Done":
        return Done(answer)
    error = _error(**told["error"])
    return Refused(answer, error) if told["outcome"] == "Refused" else Failed(answer, error)


def _error(code: str, message: str, hint: str, facts: dict[str, Any]) -> HoldfastError:
    kind = next((kind for kind in every_error() if kind.code == code), HoldfastError)
    error = kind.__new__(kind)
    HoldfastError.__init__(error, message, hint=hint, **facts)
    return error


@contextlib.contextmanager
def _short(folder: Path) -> Any:
    """A short name of a folder: the address of a socket has at most 107 bytes."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
