"""Logs: one line of JSON for each thing that happened, or words for a person who looks on; never a secret.

A thread of their own writes them, so nobody waits for whoever reads them:
when that is too slow, lines are left out, and the next one says how many.
"""

import contextlib
import logging
import os
import queue
import threading
from collections.abc import Generator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from holdfast.dispatch.audit import masked

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

REQUESTS = "holdfast.http"
_REQUEST_FACTS = ("request_id", "method", "path", "status", "milliseconds", "lost_lines")
_MAX_WAITING = 10_000
_LAST_SECONDS = 1.0


@contextlib.contextmanager
def logs_to(stream: TextIO, *, verbose: bool) -> Generator[None]:
    """Log while this lasts. A person at a terminal hears of every request only when they want to."""
    is_person = stream.isatty()
    lines = _Lines(stream, _formatter(for_person=is_person), for_person=is_person)
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO if verbose or not is_person else logging.WARNING)
    for loud in ("uvicorn", "httpx"):
        logging.getLogger(loud).setLevel(logging.WARNING)
    root.addHandler(lines)
    try:
        yield
    finally:
        root.removeHandler(lines)
        root.setLevel(before)
        lines.close()


class _Lines(logging.Handler):
    def __init__(self, stream: TextIO, formatter: logging.Formatter, *, for_person: bool) -> None:
        super().__init__()
        self._for_person = for_person
        self.setFormatter(formatter)
        # A way of our own to the same place: whoever waits for a reader holds its lock, and Python's last flush would wait for that.
        self._stream = open(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="backslashreplace")  # noqa: SIM115 - the thread closes it
        self._waiting: queue.Queue[logging.LogRecord | None] = queue.Queue(_MAX_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_all, name="logs", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if self._lost:
            record.lost_lines = self._lost
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self._lost += 1
        else:
            self._lost = 0

    def close(self) -> None:
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._thread.join(_LAST_SECONDS)
        super().close()

    def format(self, record: logging.LogRecord) -> str:
        """The line. A request's is made by hand: there is one for every call, and it should cost next to nothing."""
        if self._for_person or record.name != REQUESTS or record.exc_info:
            return super().format(record)
        return _request_line(record)

    def _write_all(self) -> None:
        # Nobody reads them any more: there is nothing left to say it to.
        with contextlib.suppress(OSError, ValueError), self._stream:
            while (record := self._waiting.get()) is not None:
                self._stream.write(f"{self.format(record)}\n")
                if self._waiting.empty():
                    self._stream.flush()


def _request_line(record: logging.LogRecord) -> str:
    import orjson

    told = {"event": record.getMessage(), "level": record.levelname.lower(), "logger": record.name}
    for name in _REQUEST_FACTS:
        value = getattr(record, name, None)
        if value is not None:
            told[name] = masked(value) if isinstance(value, str) else value
    told["timestamp"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
    return orjson.dumps(told, default=str).decode()


def _formatter(*, for_person: bool) -> logging.Formatter:
    import orjson
    import structlog

    def as_json(event: object, **_: object) -> str:
        return orjson.dumps(event, default=str).decode()

    known: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    shown = structlog.dev.ConsoleRenderer() if for_person else structlog.processors.JSONRenderer(serializer=as_json)
    last: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info, _mask, shown]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=known, processors=last)


def _mask(_logger: "WrappedLogger", _method: str, event: "EventDict") -> "EventDict":
    return {name: masked(value) if isinstance(value, str) else value for name, value in event.items()}
