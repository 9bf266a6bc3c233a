"""Calls that a process did not live to finish: what really came of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from holdfast.store import audit, layers, versions
from holdfast.store.audit import Entry
from holdfast.store.database import Durability, Transaction
from holdfast.store.layers import LayerRow
from holdfast.store.versions import ABORTED, Version
from holdfast.vocabulary.json import Json

from .records import Records

_CLOCK_MARGIN_MICROSECONDS = 60_000_000
_VERSIONS_A_PAGE = 1_000
_FILES_NAMED = 100


async def close_calls(records: Records) -> int:
    """Complete the entries of such calls, and return how many there were.

    A call whose changes were recorded is done, since they have been made
    by now. One whose changes were all taken back was not run, nor was a
    command whose layer has gone with all that it did. Of any other it is
    only known that it was interrupted.
    """
    left = await audit.unfinished(records.database, records.lease)
    by_session: dict[str, list[Entry]] = defaultdict(list)
    for entry in left:
        by_session[entry.session_id].append(entry)
    closed: list[Entry] = []
    for session_id, entries in by_session.items():
        made = await _changes_of(records, session_id, entries)
        for entry in entries:
            # Some models begin anew with their ids in every session.
            ran = [
                row for row in await layers.of_call(records.database, records.workspace_id, entry.call_id) if row.session_id == session_id
            ]
            closed.append(_closed(entry, made.get(entry.call_id, []), ran))

    def work(transaction: Transaction) -> None:
        for entry in closed:
            audit.put(transaction, entry)

    if closed:
        await records.database.write(work, durability=Durability.RECORDED)
    return len(closed)


async def _changes_of(records: Records, session_id: str, entries: Sequence[Entry]) -> dict[str, list[Version]]:
    """The versions that the calls made, by call."""
    wanted = {entry.call_id for entry in entries}
    made: dict[str, list[Version]] = defaultdict(list)
    after = _id_at(min(entry.ts for entry in entries) - _CLOCK_MARGIN_MICROSECONDS)
    while page := await versions.of_session(records.database, records.workspace_id, session_id, after=after, limit=_VERSIONS_A_PAGE):
        for version in page:
            if version.call_id in wanted:
                made[version.call_id].append(version)
        after = page[-1].id
    return made


def _closed(entry: Entry, made: Sequence[Version], ran: Sequence[LayerRow]) -> Entry:
    kept = [version for version in made if version.state != ABORTED]
    if kept:
        named: list[Json] = [{"path": version.path, "kind": version.kind, "hash": version.hash} for version in kept[:_FILES_NAMED]]
        return replace(entry, outcome="done", output={"recovered": "done", "files": named})
    undecided = next((row for row in ran if row.state == layers.PENDING), None)
    if undecided is not None:
        return replace(entry, outcome="done", output={"recovered": "done", "effects": "held", "effects_id": undecided.id})
    if any(row.state in (layers.COMMITTED, layers.SETTLED) for row in ran):
        return replace(entry, outcome="done", output={"recovered": "done"})
    if made or ran:
        return replace(entry, outcome="failed", code="not_run", output={"recovered": "not run"})
    return replace(entry, outcome="failed", code="interrupted", output={"recovered": "interrupted"})


def _id_at(microseconds: int) -> str:
    """What all ids are greater than that were made after that time."""
    text = f"{max(0, microseconds) // 1_000:012x}"
    return f"{text[:8]}-{text[8:]}"
