"""Sockets: who may open one, and what one client is told. Whoever reads slowly never slows the rest."""

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from starlette.websockets import WebSocket, WebSocketDisconnect

from holdfast.accounts.tokens import Identity
from holdfast.vocabulary.errors import Busy, Forbidden, HoldfastError, InvalidArguments, InvalidToken, Mistake, NotFound
from holdfast.vocabulary.json import dump

from .door import Door
from .replies import Receive, Scope, Send

if TYPE_CHECKING:
    from holdfast.app.agents import Agents

MAX_WAITING_FRAMES = 1_000
MAX_WAITING_BYTES = 1024 * 1024
_LAST_WORD_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 5.0
_TRY_AGAIN, _SERVICE_RESTART, _NO_TOKEN, _NO_MEMBER = 1013, 1012, 4401, 4403


class Frame(BaseModel):
    """What a client sends: names in camelCase, values of exactly their types; what we do not know is not looked at."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel, extra="ignore")


Sent = TypeVar("Sent", bound=Frame)


def read_frame(kind: type[Sent], given: object) -> Sent:
    """The frame.

    Raises:
        InvalidArguments: Something in it does not fit.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        mistakes = [Mistake(".".join(str(step) for step in each["loc"]), str(each["msg"])) for each in error.errors()]
        raise InvalidArguments(mistakes, hint="Correct the frame and send it again.") from None


class Outbox:
    """What waits to be sent to one client. More than it may hold means that the client does not keep up, and is let go."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._is_sending = False
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.behind = asyncio.Event()

    def put(self, frame: bytes) -> None:
        """Send it in its turn."""
        self._waiting.append(frame)
        self._bytes += len(frame)
        # The oldest is not counted: one frame, however large, is no sign of slowness. Nor is much at once that nobody could send yet.
        is_much = len(self._waiting) > MAX_WAITING_FRAMES or self._bytes - len(self._waiting[0]) > MAX_WAITING_BYTES
        if is_much and self._is_sending:
            self.behind.set()
        if len(self._waiting) > MAX_WAITING_FRAMES // 2 or self._bytes > MAX_WAITING_BYTES // 2:
            self._room.clear()
        self._something.set()

    async def put_patiently(self, frame: bytes) -> None:
        """The same, when half of what may wait has been sent."""
        await self._room.wait()
        self.put(frame)

    async def write(self) -> None:
        """Send what comes, as fast as the client takes it."""
        while True:
            await self._something.wait()
            frame = self._waiting.popleft()
            self._bytes -= len(frame)
            if len(self._waiting) <= MAX_WAITING_FRAMES // 2 and self._bytes <= MAX_WAITING_BYTES // 2:
                self._room.set()
            if not self._waiting:
                self._something.clear()
            self._is_sending = True
            await self._websocket.send_text(frame.decode())
            self._is_sending = False


class Talk(ABC):
    """One client at one socket."""

    def __init__(self, agents: "Agents", identity: Identity, outbox: Outbox) -> None:
        self.agents = agents
        self.user_id = identity.user_id
        self.outbox = outbox
        self.may_endanger = False

    @abstractmethod
    async def hear(self, frame: Mapping[str, Any]) -> None:
        """Do what a frame says.

        Raises:
            HoldfastError: It cannot be done; the client is told.
        """

    @abstractmethod
    def told_error(self, error: HoldfastError, frame: Mapping[str, Any]) -> object:
        """The frame that tells of an error."""

    @abstractmethod
    def leave(self) -> None:
        """Watch nothing any longer."""

    RESYNC: ClassVar[Mapping[str, object]]


Kind: TypeAlias = Callable[["Agents", Identity, Outbox], Talk]


class Sockets:
    """All sockets, as one ASGI application; each address is one kind of talk."""

    def __init__(self, door: Door, kinds: Mapping[str, Kind]) -> None:
        self._door = door
        self._kinds = kinds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a socket for a member, and hold it until one side ends it.

        Raises:
            InvalidToken, Forbidden: As for every address.
            NotFound: There is no such socket.
        """
        kind = self._kinds.get(scope["path"])
        websocket = WebSocket(scope, receive, send)
        workspace_id = websocket.query_params.get("workspace", "")
        identity, _ = await self._door.caller(scope, workspace_id)
        if kind is None:
            raise NotFound("there is no such address", hint=f"The sockets are: {', '.join(self._kinds)}.")
        agents = await self._door.platform.agents(workspace_id)
        outbox = Outbox(websocket)
        talk = kind(agents, identity, outbox)
        await websocket.accept()
        try:
            await self._hold(websocket, talk, identity, workspace_id)
        finally:
            talk.leave()

    async def _hold(self, websocket: WebSocket, talk: Talk, identity: Identity, workspace_id: str) -> None:
        async def read() -> None:
            while (message := await websocket.receive())["type"] != "websocket.disconnect":
                talk.may_endanger = await self._door.may_endanger(identity, workspace_id)
                await _hear(talk, message)

        async def look() -> None:
            """Until whoever is there may not be any longer."""
            while (left := identity.expires_at - time.time()) > 0:
                await asyncio.sleep(min(left, _LOOK_AGAIN_SECONDS))
                with contextlib.suppress(Busy):
                    await self._door.may_endanger(identity, workspace_id)
            raise InvalidToken("the token has expired", hint="Come back with a new one, and resume.")

        ends = (read(), talk.outbox.write(), talk.outbox.behind.wait(), talk.agents.closed.wait(), look())
        tasks = [asyncio.ensure_future(end) for end in ends]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            error = task.exception()
            if isinstance(error, InvalidToken | Forbidden):
                code = _NO_TOKEN if isinstance(error, InvalidToken) else _NO_MEMBER
                await _end(websocket, code, error.message, talk.told_error(error, {}))
                return
            if error is not None and not isinstance(error, WebSocketDisconnect):
                raise error
        if talk.outbox.behind.is_set():
            await _end(websocket, _TRY_AGAIN, "too slow", talk.RESYNC)
        elif talk.agents.closed.is_set():
            await _end(websocket, _SERVICE_RESTART, "come back and resume")


async def _hear(talk: Talk, message: Mapping[str, Any]) -> None:
    frame: Mapping[str, Any] = {}
    try:
        frame = _parsed(message.get("text") or message.get("bytes") or "")
        await talk.hear(frame)
    except HoldfastError as error:
        talk.outbox.put(dump(talk.told_error(error, frame)))


def _parsed(data: str | bytes) -> Mapping[str, Any]:
    try:
        given: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise InvalidArguments([Mistake("", "the frame is not valid JSON")], hint='Send {"type": …, …}.') from None
    if not isinstance(given, dict) or not isinstance(cast("dict[str, Any]", given).get("type"), str):
        raise InvalidArguments([Mistake("", "the frame is not an object with a type")], hint='Send {"type": …, …}.')
    return cast("dict[str, Any]", given)


async def _end(websocket: WebSocket, code: int, reason: str, last: object = None) -> None:
    """Say why, and close; a client that takes nothing more is not waited for."""
    with contextlib.suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(_LAST_WORD_SECONDS):
            if last is not None:
                await websocket.send_text(dump(last).decode())
            await websocket.close(code, reason)
