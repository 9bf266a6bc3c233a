"""A real HTTP server on this machine that streams what it is told, breaks off where it is told, and remembers what it was asked."""

import contextlib
import json
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


class Then(Enum):
    """What comes instead of more bytes."""

    CUT = "the connection is closed in the middle"
    HANG = "nothing, and nobody hangs up"
    DRIP = "a space now and then, for longer than anybody should wait"


Piece: TypeAlias = bytes | Then
_DRIPS = 500


@dataclass(frozen=True)
class Play:
    """One answer, piece by piece; `status` None says nothing at all, not even that."""

    pieces: tuple[Piece, ...] = ()
    status: int | None = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def json(cls, body: object, status: int = 200, **headers: str) -> "Play":
        """A short answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls((json.dumps(body).encode(),), status, {"Content-Type": "application/json", **named})


@dataclass(frozen=True)
class Asked:
    """What was asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)


class Server:
    """What a test tells the server, and what the server tells the test."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.closing = threading.Event()
        self.left = threading.Event()
        self.asked: list[Asked] = []
        self.connections = 0
        self._plays: list[Play] = []
        self.fixed: dict[str, Play] = {}

    def play(self, *plays: Play) -> None:
        """Answer so from now on, one after the other; the last one stays."""
        self._plays = list(plays)

    def next(self, path: str) -> Play:
        """What is said to the next request."""
        if path in self.fixed:
            return self.fixed[path]
        return self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]

    @property
    def chats(self) -> list[Asked]:
        """The requests for an answer, without those that only look."""
        return [each for each in self.asked if each.path.partition("?")[0] not in self.fixed]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_told: Server

    def setup(self) -> None:
        super().setup()
        self.server_told.connections += 1

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        told = self.server_told
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        told.asked.append(Asked(self.command, self.path, headers, raw))
        play = told.next(self.path.partition("?")[0])
        try:
            if play.status is None:
                self._then(play.pieces[0])
                return
            self.send_response(play.status)
            for name, value in {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **play.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in play.pieces:
                if isinstance(piece, Then):
                    self._then(piece)
                    return
                self._chunk(piece)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            told.left.set()

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _then(self, what: Piece) -> None:
        self.close_connection = True
        match what:
            case Then.HANG:
                self._wait_until_left()
            case Then.DRIP:
                for _ in range(_DRIPS):
                    if self.server_told.closing.wait(0.01):
                        break
                    self._chunk(b" ")
            case _:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)

    def _wait_until_left(self) -> None:
        self.connection.settimeout(0.02)
        while not self.server_told.closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    self.server_told.left.set()
                    return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name that the library gives it
        """Nobody reads it."""


@contextmanager
def serving(*plays: Play) -> Generator[Server]:
    """A server that is there for as long as the block lasts."""

    class OneServer(_Handler):
        """The handler of this server alone."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), OneServer)
    http.daemon_threads = True
    http.block_on_close = False
    server = Server(http.server_address[1])
    server.play(*plays)
    OneServer.server_told = server
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        http.shutdown()
        http.server_close()
        thread.join()


def unused_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
