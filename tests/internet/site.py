"""A real HTTP server on this machine that speaks as it is told, and remembers what it was asked."""

import json
import socket
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    """What was asked."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Said:
    """What is answered."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Speech: TypeAlias = Callable[["Handler"], None]
Answer: TypeAlias = Said | Speech


class Handler(BaseHTTPRequestHandler):
    """One connection to a site."""

    protocol_version = "HTTP/1.1"
    site: "Site"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.site.requests.append(
            Request(self.path.partition("?")[0], dict(parse_qsl(parts.query, keep_blank_values=True)), dict(self.headers.items()))
        )
        answer = self.site.next_answer()
        if not isinstance(answer, Said):
            self.close_connection = True
            answer(self)
            return
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name that the library gives it
        """Nobody reads it."""


class Site:
    """A server whose answers are given one after the other; the last one stays."""

    def __init__(self, port: int, closing: threading.Event) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self.closing = closing
        self.requests: list[Request] = []
        self._answers: list[Answer] = []

    def answer(self, *answers: Answer) -> None:
        """Answer so from now on."""
        self._answers = list(answers)

    def next_answer(self) -> Answer:
        """What is said to the next request."""
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@contextmanager
def site(*answers: Answer) -> Generator[Site]:
    """A server that is there for as long as the block lasts."""
    closing = threading.Event()

    class OneSite(Handler):
        """The handler of this site alone."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), OneSite)
    server.daemon_threads = True
    made = Site(server.server_address[1], closing)
    made.answer(*answers)
    OneSite.site = made
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def unused_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def searxng(*results: Mapping[str, object], **more: object) -> Said:
    """An answer of SearXNG, in the words of its documentation."""
    fields: dict[str, object] = {"query": "q", "number_of_results": 0, "answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
    return Said(json.dumps({**fields, "results": results, "unresponsive_engines": [], **more}).encode())


def brave(*results: Mapping[str, object]) -> Said:
    """An answer of Brave, in the words of its documentation; without results it has no `web`."""
    web = {"web": {"type": "search", "results": results, "family_friendly": True}} if results else {}
    return Said(json.dumps({"type": "search", "query": {"original": "q"}, "mixed": {}, **web}).encode())


def page(number: int, **more: object) -> dict[str, object]:
    """A result as SearXNG has it."""
    about = {"title": f"Page {number}", "url": f"https://example.org/{number}", "content": f"About {number}.", "score": 1 / number}
    return {**about, "engine": "bing", "engines": ["bing"], "positions": [number], "category": "general", **more}


def brave_page(number: int, **more: object) -> dict[str, object]:
    """A result as Brave has it."""
    about = {"title": f"Brave {number}", "url": f"https://brave.example/{number}", "description": f"Of {number}."}
    return {**about, "type": "search_result", "language": "en", **more}


def hang(handler: Handler) -> None:
    """Say nothing, and do not hang up."""
    handler.site.closing.wait(30)


def hang_up(handler: Handler) -> None:
    """End the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def drip(handler: Handler) -> None:
    """Begin to answer, one byte at a time and without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
    try:
        while not handler.site.closing.wait(0.02):
            handler.wfile.write(b" ")
    except OSError:
        return


def flood(handler: Handler) -> None:
    """Answer without end, as fast as it is read."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
    try:
        while not handler.site.closing.is_set():
            handler.wfile.write(b" " * 65536)
    except OSError:
        return
