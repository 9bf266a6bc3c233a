"""What really came of calls that a program did not live to see the end of: from what is on record, never guessed.

- A result that was told is the result.
- A call with nothing on record has not run, whatever it is: what changes
  things is on record before it does. So it is taken along the road now.
  A call that only looks and did not finish is run again by the same rule.
- One that was refused has not run either, and is judged again: so it
  waits once more for the same yes, or finds it.
- Any other was begun, and is never run again. The model is told what the
  records say: done, not run, partly done, or that nobody knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.store import layers, questions, turns, versions
from holdfast.store.database import Database
from holdfast.store.turns import CallRecord
from holdfast.store.versions import ABORTED
from holdfast.vocabulary.json import Json, JsonObject, dump
from holdfast.vocabulary.messages import CallBlock

_FILES_NAMED = 50
_NOT_REPEATED = "It is not repeated by itself."


@dataclass(frozen=True)
class Recalled:
    """What the model is told of a call."""

    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Undecided:
    """A command has run, and what it did waits for somebody's decision under that id."""

    layer_id: str


async def recall(
    database: Database, workspace_id: str, session_id: str, call: CallBlock, told: JsonObject | None
) -> Recalled | Undecided | None:
    """What came of a call; None when it has not run. `told` is its result, if that was told."""
    if told is not None:
        return Recalled(str(told["result"]), is_error=told["status"] == "error")
    ran = [row for row in await layers.of_call(database, workspace_id, call.id) if row.session_id == session_id]
    if (pending := next((row for row in ran if row.state == layers.PENDING), None)) is not None:
        return Undecided(pending.id)
    records = await turns.records_of_call(database, workspace_id, session_id, call.id)
    if not records or records[0].outcome == "refused":
        return None
    asked = await questions.last_of(database, workspace_id, session_id)
    if asked is not None and asked.call_id == call.id and records[0].code == "busy":
        return None
    made = [version for version in await versions.of_call(database, workspace_id, call.id) if version.session_id == session_id]
    kept = [version.path for version in made if version.state != ABORTED]
    return _said(records[0], kept, is_partial=len(kept) < len(made))


def _said(record: CallRecord, files: Sequence[str], *, is_partial: bool) -> Recalled:
    output: Mapping[str, Json] = record.output if isinstance(record.output, Mapping) else {}
    changed = _named(files)
    match record.outcome, output.get("recovered"):
        case "done", None:
            return Recalled(f"Done before the program ended. What it answered was lost; on record of it is: {_shown(record.output)}")
        case "done", _ if is_partial:
            return Recalled(f"Partly done when the program ended: {changed} The rest was not. {_NOT_REPEATED}", is_error=True)
        case "done", _:
            return Recalled(f"Done, but the program ended before it could answer: {changed or 'all that it did is there.'}")
        case _, "not run":
            return Recalled("Not run: the program ended first, and nothing of what the call began is left.", is_error=True)
        case "failed", None if record.code == "cancelled":
            return Recalled(f"Stopped before its end: {changed or 'nothing has changed.'} {_NOT_REPEATED}", is_error=True)
        case "failed", None:
            return Recalled(f"Failed before the program ended; on record of it is: {_shown(record.output)}", is_error=True)
        case _:
            known = changed or "Whether it did anything is not known: look before you repeat it."
            return Recalled(f"Interrupted when the program ended. {known}", is_error=True)


def _named(files: Sequence[str]) -> str:
    if not files:
        return ""
    shown = ", ".join(f"/{path}" for path in dict.fromkeys(files[:_FILES_NAMED]))
    return f"these files are changed: {shown}{' and more' if len(files) > _FILES_NAMED else ''}."


def _shown(output: Json) -> str:
    return dump(output).decode()
