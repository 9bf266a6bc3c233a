"""Keeping records: one row per call in the store, and its copy, one line in the run's log."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from holdfast.dispatch.audit import AuditEntry
from holdfast.store import audit
from holdfast.store.columns import now
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.json import Json, dump
from holdfast.workspace.author import Author
from holdfast.workspace.log import LineLog
from holdfast.workspace.mount import Mount
from holdfast.workspace.resolve import resolve_now

_LOG = "logs/execution.jsonl"


class StoreRecorder:
    """The row is the truth; the line is there for those who read logs."""

    def __init__(self, database: Database, lease: Lease, state_of: Callable[[str], Mount], *, own_state: bool) -> None:
        self._database = database
        self._lease = lease
        self._state_of = state_of
        self._logs: dict[str, LineLog] = {}
        self._is_good = True
        self._own_state = own_state

    async def prepare(self, call: ToolCall) -> None:
        """Before the first record of a run, and after one that could not be made, make sure that the next one can be."""
        if self._is_good and call.caller.state in self._logs:
            return
        if not self._is_good:
            await self._database.write(lambda transaction: transaction.now())
        await self._log(call).check()
        self._is_good = True

    async def intend(self, author: object) -> None:
        """Write the row that says that the call has started, and wait until it is durable."""
        if isinstance(author, Author) and author.audit is not None:
            await audit.intend(self._database, self._lease, author.audit)

    def author(self, call: ToolCall, given: Json) -> Author:
        """Who the call's changes are by, and the entry that says that it has started."""
        caller = call.caller
        started = audit.Entry(
            id=uuid7(),
            workspace_id=self._lease.workspace_id,
            ts=now(),
            tool=call.name,
            outcome=audit.STARTED,
            epoch=self._lease.epoch,
            session_id=caller.session,
            call_id=call.id,
            agent=caller.agent,
            user_id=caller.user,
            input=given,
        )
        return Author(call.id, caller.session, caller.user, caller.agent, started)

    def record(self, entry: AuditEntry, author: object) -> Awaitable[object]:
        """Write the row, and then the line; neither is taken back when the caller leaves."""
        if not isinstance(author, Author) or author.audit is None:
            raise TypeError("a call's changes are by an author who has been recorded")
        log, line, started = self._log(entry.call), dump(entry.line()), author.audit
        row = replace(started, outcome=entry.outcome, code=entry.code or "", duration_ms=entry.duration_ms, output=entry.output)
        # Where the log lies beside the database, whoever writes the one may as well write the other. Elsewhere a disk may hang.
        recorded: asyncio.Future[Any]
        if self._own_state:
            recorded = audit.record(self._database, row, after=lambda: log.add_now(line))
        else:
            recorded = asyncio.gather(audit.record(self._database, row), log.add(line))
        recorded.add_done_callback(self._recorded)
        return recorded

    def _recorded(self, recorded: asyncio.Future[Any]) -> None:
        if recorded.cancelled() or recorded.exception() is not None:
            self._is_good = False

    async def finish(self) -> None:
        """Wait until every line is written."""
        for log in self._logs.values():
            await log.finish()

    def _log(self, call: ToolCall) -> LineLog:
        run = call.caller.state
        if run not in self._logs:
            self._logs[run] = LineLog(resolve_now(self._state_of(run), _LOG, written=f"@state/{_LOG}"))
        return self._logs[run]
