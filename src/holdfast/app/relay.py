"""Passing a call on to the process that holds its workspace, over a socket in the data folder.

The folder is the user's own and nobody else can enter it, so whoever
can connect may call. One line of JSON goes out with the call, one comes
back with its outcome, and before it some with what it prints; hanging up
cancels the call. A turn of an agent is passed on in the same way: then
lines come back with what happens, and go out with what the person says.

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
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.call import Caller, ToolCall, Wish
from holdfast.vocabulary.chat import ChatEvent, EndOfTurn
from holdfast.vocabulary.errors import Busy, HoldfastError, InvalidArguments, Mistake, every_error
from holdfast.vocabulary.events import Show
from holdfast.vocabulary.outcome import Answer, Done, Failed, Outcome, Refused
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.trust import Trust

from .profiles import hear_profile, tell_profile
from .talk import SessionChange, TalkHere, Tell, Wanted

_FOLDER = "sockets"
_SUFFIX = ".sock"
_YOUNG_SECONDS = 60.0
_MAX_LINE = 64 * 1024 * 1024


class Holder(Protocol):
    """Who takes what others pass on."""

    async def hold(self, workspace_id: str) -> object:
        """Hold the workspace, or raise Busy."""
        ...

    async def take_here(self, workspace_id: str, call: ToolCall, profile: Profile, show: Show | None = None) -> Outcome:
        """Bring a call to its outcome."""
        ...

    def talk_here(self, workspace_id: str, wanted: Wanted, tell: Tell) -> AbstractAsyncContextManager[TalkHere]:
        """Begin a turn."""
        ...

    async def change_session_here(self, workspace_id: str, session_id: str, change: SessionChange) -> None:
        """Rename a session, or delete it."""
        ...


class NotTaken(Exception):
    """The other process is only starting, or is giving the workspace back: look again who holds it."""


class Relay:
    """Our end: takes calls that other processes pass on to us."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._holder: Holder | None = None

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

    def answer_with(self, holder: Holder) -> None:
        """Say who takes the calls."""
        self._holder = holder

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked: dict[str, Any] = json.loads(await reader.readline())
            if "talk" in asked:
                await self._talk(asked, reader, writer)
                return
            taking = asyncio.create_task(self._answer(asked, lambda chunk: _tell(writer, {"output": chunk})))
            hung_up = asyncio.create_task(reader.read(1))
            await asyncio.wait({taking, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            hung_up.cancel()
            if not taking.done():
                taking.cancel()
                return
            await _say(writer, taking.result())
        except (ConnectionError, ValueError):
            # Whoever asked has gone, or spoke another language.
            return
        finally:
            writer.close()

    async def _answer(self, asked: dict[str, Any], show: Show) -> dict[str, Any]:
        if self._holder is None:
            return _starting()
        try:
            if "session" in asked:
                await self._holder.hold(asked["workspace"])
                await self._holder.change_session_here(asked["workspace"], asked["session"], SessionChange(**asked["change"]))
                return {"done": True}
            effects, trust = Wish(asked.get("effects", "keep")), asked.get("trust")
            caller = Caller(**asked["caller"])
            call = ToolCall(asked["id"], asked["name"], asked["arguments"], caller, effects, Trust(trust) if trust else None)
            shown = show if asked.get("shows") else None
            return _told(await self._holder.take_here(asked["workspace"], call, hear_profile(asked["profile"]), shown))
        except HoldfastError as error:
            return {"raised": _told_error(error)}

    async def _talk(self, asked: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tell what happens in a turn, and hear what is said to it, until it ends or whoever watches hangs up."""
        if self._holder is None:
            await _say(writer, _starting())
            return
        try:
            await self._holder.hold(asked["workspace"])
        except HoldfastError as error:
            await _say(writer, {"raised": _told_error(error)})
            return

        def tell(event: ChatEvent) -> None:
            _tell(writer, {"event": [event.type, event.payload, event.seq]})

        try:
            async with self._holder.talk_here(asked["workspace"], Wanted(**asked["talk"]), tell) as talk:
                await _say(writer, {"begun": talk.session_id})
                ending, hearing = asyncio.create_task(talk.ended()), asyncio.create_task(_hear_all(reader, talk))
                await asyncio.wait({ending, hearing}, return_when=asyncio.FIRST_COMPLETED)
                hearing.cancel()
                if ending.done():
                    await _say(writer, {"ended": ending.result()})
                ending.cancel()
        except HoldfastError as error:
            await _say(writer, {"refused": _told_error(error)})


async def _hear_all(reader: asyncio.StreamReader, talk: TalkHere) -> None:
    while line := await reader.readline():
        await talk.hear(json.loads(line))


def _tell(writer: asyncio.StreamWriter, told: dict[str, Any]) -> None:
    if writer.transport.get_write_buffer_size() > _MAX_LINE:
        # Somebody who reads nothing is as good as gone.
        writer.close()
    if not writer.is_closing():
        writer.write(_line(told))


async def _say(writer: asyncio.StreamWriter, told: dict[str, Any]) -> None:
    writer.write(_line(told))
    await writer.drain()


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told, default=str).encode() + b"\n"


def _starting() -> dict[str, Any]:
    return {"raised": _told_error(Busy("the process that holds the workspace is only starting", hint="Try again in a moment."))}


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


async def pass_on(home: Path, address: str, workspace_id: str, call: ToolCall, profile: Profile, show: Show | None = None) -> Outcome:
    """Have the process at `address` take the call; what it prints is shown as it comes.

    Raises:
        OSError: It is not there any more, and has not heard the call.
        NotTaken: It cannot take the call now, and nothing has happened.
        Busy: It went away in the middle of the call.
        HoldfastError: What the other would have raised.
    """
    asked: dict[str, Any] = {"workspace": workspace_id, "id": call.id, "name": call.name, "arguments": call.arguments}
    asked.update(caller=vars(call.caller), profile=tell_profile(profile), effects=call.effects.value)
    asked.update(trust=call.trust.value if call.trust else None, shows=show is not None)
    return _heard(await _asked(home, address, asked, show))


async def pass_on_change(home: Path, address: str, workspace_id: str, session_id: str, change: SessionChange) -> None:
    """Have the process at `address` change a session. Raises as `pass_on`."""
    told = await _asked(home, address, {"workspace": workspace_id, "session": session_id, "change": vars(change)})
    if "raised" in told:
        raise _raised(told["raised"])


async def _asked(home: Path, address: str, asked: dict[str, Any], show: Show | None = None) -> dict[str, Any]:
    reader, writer = await _connected(home, address)
    try:
        await _say(writer, asked)
        while (line := await reader.readline()).endswith(b"\n"):
            told = json.loads(line)
            if show is None or "output" not in told:
                return told
            show(told["output"])
    except ConnectionError:
        pass
    finally:
        writer.close()
    raise Busy("the process that holds the workspace went away in the middle of the call", hint="Look what was done, then try again.")


@asynccontextmanager
async def talk_there(home: Path, address: str, workspace_id: str, wanted: Wanted, tell: Tell) -> AsyncGenerator["TalkThere"]:
    """A turn that the process at `address` has begun; leaving ends it.

    Raises:
        OSError, NotTaken: As in `pass_on`.
        HoldfastError: It cannot begin.
    """
    reader, writer = await _connected(home, address)
    try:
        await _say(writer, {"workspace": workspace_id, "talk": wanted.told()})
        talk = TalkThere(reader, writer, tell)
        await talk.begin()
        yield talk
    finally:
        writer.close()


class TalkThere:
    """A turn in another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tell: Tell) -> None:
        self._reader = reader
        self._writer = writer
        self._tell = tell
        self.session_id = ""

    async def begin(self) -> None:
        """Wait until it has begun."""
        told = await self._next()
        if "raised" in told:
            raise _raised(told["raised"])
        if "refused" in told:
            raise _error(**told["refused"])
        self.session_id = told["begun"]

    async def hear(self, frame: Mapping[str, Any]) -> None:
        """Pass on what the person says."""
        with contextlib.suppress(ConnectionError):
            await _say(self._writer, dict(frame))

    async def ended(self) -> EndOfTurn:
        """How it ended.

        Raises:
            Busy: The other process went away.
        """
        told = await self._next()
        if "refused" in told:
            raise _error(**told["refused"])
        return str(told["ended"])

    async def _next(self) -> dict[str, Any]:
        """The next line that is not an event; those are told."""
        while True:
            try:
                line = await self._reader.readline()
            except ConnectionError:
                line = b""
            if not line.endswith(b"\n"):
                hint = "The session can be continued: holdfast sessions."
                raise Busy("the process that holds the workspace went away in the middle of the turn", hint=hint)
            told = json.loads(line)
            if "event" not in told:
                return told
            self._tell(ChatEvent(*told["event"]))


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
        raise _raised(told["raised"])
    answer = Answer(**told["answer"])
    if told["outcome"] == "Done":
        return Done(answer)
    error = _error(**told["error"])
    return Refused(answer, error) if told["outcome"] == "Refused" else Failed(answer, error)


def _raised(told: dict[str, Any]) -> Exception:
    error = _error(**told)
    return NotTaken(str(error)) if isinstance(error, Busy) else error


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
