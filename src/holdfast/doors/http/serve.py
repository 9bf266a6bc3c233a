"""Listening: a socket, a server around it, and a graceful end."""

import errno
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from holdfast.vocabulary.errors import Busy

from .guard import Guard

TRIED_PORTS = 100
GRACE_SECONDS = 30
MAX_FRAME_BYTES = 10 * 1024 * 1024


def listen(host: str, port: int, *, or_next: bool) -> socket.socket:
    """A listening socket; with `or_next` a busy port is passed over for the next free one.

    Raises:
        Busy: The port is taken, or the address is not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + (TRIED_PORTS if or_next and port else 1)):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise Busy(f"cannot listen on {host}: {error.strerror}", hint="Choose another --host.") from error
            continue
        listening.listen(2048)
        return listening
    raise Busy(f"port {port} of {host} is taken", hint="Choose another --port, or 0 for any.")


async def serve(app: Guard, listening: socket.socket, *, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
    """Serve until a signal says to stop; what runs is finished, what is new is refused."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="off",
        ws_max_size=MAX_FRAME_BYTES,
        ws_per_message_deflate=False,
    )
    await _Server(config, app, on_ready, on_stop).serve([listening])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, app: Guard, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second Ctrl-C does not wait for what runs. A stop that was asked for is no failure, so the signal is not raised again."""
        self._app.is_stopping = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
