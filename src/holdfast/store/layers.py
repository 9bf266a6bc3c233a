"""Layers: what commands changed before it is real, and what became of it.

`running` and `keeping` mean that nothing has happened to the workspace
yet, `committed` that it will, whatever happens to the process. What was
kept stays on record, with what was there before, so that it can be
taken back.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from holdfast.vocabulary.effects import Effect, EffectKind, Effects, EntryType
from holdfast.vocabulary.errors import Conflict, NotFound
from holdfast.vocabulary.json import Json

from .columns import insert, now
from .database import Database, Durability, Row, Transaction
from .leases import Lease, check_held

RUNNING = "running"
PENDING = "pending"
KEEPING = "keeping"
COMMITTED = "committed"
SETTLED = "settled"
DROPPED = "dropped"

# Nothing of these has reached the workspace.
OPEN = (RUNNING, PENDING, KEEPING)

_ROWS_A_LINE = 250  # so that no thread holds the interpreter for longer than a moment


@dataclass(frozen=True, kw_only=True)
class NewLayer:
    """A layer that begins, or one whose effects are to be decided. `started` is by mount, in nanoseconds."""

    id: str
    session_id: str = ""
    call_id: str = ""
    state: str = RUNNING
    started: Mapping[str, int]
    undoes: str = ""
    key: str | None = None


@dataclass(frozen=True)
class LayerRow:
    """A row of `layers`, but for its effects and its record."""

    id: str
    workspace_id: str
    session_id: str
    call_id: str
    kept_by: str
    undoes: str
    state: str
    effects_hash: str
    key: str | None
    epoch: int
    created_at: int
    updated_at: int
    started: Mapping[str, int]


_COLUMNS = "id, workspace_id, session_id, call_id, kept_by, undoes, state, effects_hash, key, epoch, created_at, updated_at, started"
_LAYER = f"SELECT {_COLUMNS} FROM layers"
_BY_ID = f"{_LAYER} WHERE workspace_id = :workspace_id AND id = :id"
_PUT = f"{insert('layers', _COLUMNS)} ON CONFLICT DO NOTHING"


async def add(database: Database, lease: Lease, new: NewLayer) -> LayerRow:
    """The layer's row; or the one that was added with the same id or key before."""

    def work(transaction: Transaction) -> LayerRow:
        check_held(transaction, lease)
        return put(transaction, lease, new)

    return await database.write(work)


async def get(database: Database, workspace_id: str, layer_id: str) -> LayerRow | None:
    """The layer with that id."""
    row = await database.row(_BY_ID, {"workspace_id": workspace_id, "id": layer_id})
    return _layer(row) if row else None


async def in_state(database: Database, workspace_id: str, *states: str) -> list[LayerRow]:
    """The layers of a workspace that are in one of the states, the oldest first."""
    found: list[LayerRow] = []
    for state in states:
        rows = await database.scan(
            f"{_LAYER} WHERE workspace_id = :workspace_id AND state = :state", {"workspace_id": workspace_id, "state": state}
        )
        found += map(_layer, rows)
    return sorted(found, key=_age)


async def of_call(database: Database, workspace_id: str, call_id: str) -> list[LayerRow]:
    """What a call ran or made real, the oldest first."""
    values = {"workspace_id": workspace_id, "call_id": call_id}
    rows = await database.rows(f"{_LAYER} WHERE workspace_id = :workspace_id AND call_id = :call_id", values)
    rows += await database.rows(f"{_LAYER} WHERE workspace_id = :workspace_id AND kept_by = :call_id", values)
    return sorted({row[0]: _layer(row) for row in rows}.values(), key=_age)


async def undone(database: Database, workspace_id: str, session_id: str | None) -> list[LayerRow]:
    """The undos of a session, or of all."""
    rows = await database.scan(
        f"{_LAYER} WHERE workspace_id = :workspace_id AND state IN ('committed', 'settled') AND {_of(session_id)} AND undoes <> ''",
        {"workspace_id": workspace_id, "session_id": session_id or ""},
    )
    return [_layer(row) for row in rows]


async def effects(database: Database, layer: LayerRow) -> Effects:
    """What the layer's command did. Unpacking many takes time: `unpack_effects` can do it in a thread."""
    return unpack_effects(await _blob(database, layer, "effects"))


async def packed_effects(database: Database, layer: LayerRow) -> bytes:
    """The same, as it is stored."""
    return await _blob(database, layer, "effects")


async def record(database: Database, layer: LayerRow) -> bytes:
    """What was kept of it, as `commit` was given it."""
    return await _blob(database, layer, "record")


async def hold(database: Database, lease: Lease, new: NewLayer, found: Effects, *, packed: bytes | None = None) -> LayerRow:
    """Leave the effects pending, until somebody decides. `packed` is what `pack_effects` made of them, when they are many.

    Raises:
        Conflict: It is decided already.
    """
    data = pack_effects(found.every) if packed is None else packed

    def work(transaction: Transaction) -> LayerRow:
        check_held(transaction, lease)
        put(transaction, lease, new)
        return _step(
            transaction, lease, new.id, OPEN, {"state": PENDING, "effects_hash": found.hash, "effects": data, "epoch": lease.epoch}
        )

    return await database.write(work)


async def move(database: Database, lease: Lease, layer_id: str, *, to: str, only_from: Sequence[str]) -> LayerRow:
    """Give a layer another state. That it is settled may be undone by a power cut: the recovery then says it again.

    Raises:
        Conflict: It is in none of the states `only_from`; its facts name the `state`.
        NotFound: There is no such layer.
    """

    def work(transaction: Transaction) -> LayerRow:
        check_held(transaction, lease)
        return _step(transaction, lease, layer_id, only_from, {"state": to, "epoch": lease.epoch})

    return await database.write(work, durability=Durability.RECORDED if to == SETTLED else Durability.ACKNOWLEDGED)


async def commit(
    database: Database, lease: Lease, new: NewLayer, *, kept_by: str, effects_hash: str, effects: bytes, record: bytes
) -> LayerRow:
    """Promise that what is on record will be done to the workspace: from now on there is no way back.

    Raises:
        Conflict: It is decided already.
    """
    values = {
        "state": COMMITTED,
        "kept_by": kept_by,
        "effects_hash": effects_hash,
        "effects": effects,
        "record": record,
        "epoch": lease.epoch,
    }

    def work(transaction: Transaction) -> LayerRow:
        check_held(transaction, lease)
        put(transaction, lease, new)
        return _step(transaction, lease, new.id, OPEN, values)

    return await database.write(work)


def _of(session_id: str | None) -> str:
    """The condition for rows of a session; for those of all, one that is always true and takes the same values."""
    return "session_id = :session_id" if session_id is not None else "session_id >= :session_id"


async def last_calls(database: Database, workspace_id: str, session_id: str | None, *, limit: int = 200) -> list[tuple[str, str]]:
    """The calls of a session, or of all, that changed files, each with its session, the latest first."""
    values = {"workspace_id": workspace_id, "session_id": session_id or "", "limit": limit}
    by_versions = await database.scan(
        f"SELECT session_id, call_id, max(created_at) FROM versions WHERE workspace_id = :workspace_id AND {_of(session_id)}"
        " AND call_id <> '' AND state <> 'aborted' AND kind NOT IN ('baseline', 'external') GROUP BY session_id, call_id"
        " ORDER BY max(created_at) DESC LIMIT :limit",
        values,
    )
    by_layers = await database.scan(
        f"SELECT session_id, kept_by, updated_at FROM layers WHERE workspace_id = :workspace_id AND {_of(session_id)} AND kept_by <> ''"
        " AND state IN ('committed', 'settled') ORDER BY updated_at DESC LIMIT :limit",
        values,
    )
    latest: dict[tuple[str, str], int] = {}
    for session, call_id, at in [*by_versions, *by_layers]:
        latest[session, call_id] = max(at, latest.get((session, call_id), 0))
    return sorted(latest, key=lambda call: latest[call], reverse=True)


async def virtual_paths(database: Database, workspace_id: str, mount: str) -> set[str]:
    """Where virtual files are, which no command may write."""
    rows = await database.scan(
        "SELECT path FROM files WHERE workspace_id = :workspace_id AND mount = :mount AND deleted_at IS NULL AND is_virtual = :yes",
        {"workspace_id": workspace_id, "mount": mount, "yes": True},
    )
    return {path for (path,) in rows}


def pack_rows(rows: Iterable[Sequence[Json]]) -> bytes:
    """Rows of JSON, compressed."""
    packing, packed, rest = zlib.compressobj(1), bytearray(), iter(rows)
    while some := list(islice(rest, _ROWS_A_LINE)):
        packed += packing.compress(json.dumps(some, separators=(",", ":")).encode() + b"\n")
    return bytes(packed + packing.flush())


def unpack_rows(packed: bytes) -> Iterator[list[Json]]:
    """The rows that `pack_rows` packed."""
    for line in zlib.decompress(packed).splitlines():
        yield from json.loads(line)


def pack_effects(every: Iterable[Effect]) -> bytes:
    """Effects as they are stored."""
    return pack_rows(effect_row(effect) for effect in every)


def unpack_effects(packed: bytes) -> Effects:
    """The effects that `pack_effects` packed."""
    return Effects(tuple(map(effect_of, unpack_rows(packed))))


def effect_row(effect: Effect) -> list[Json]:
    """An effect as JSON."""
    return [
        effect.mount,
        effect.path,
        effect.kind.value,
        effect.type.value,
        effect.mode,
        effect.size,
        effect.hash,
        effect.before,
        effect.is_whole,
        effect.is_protected,
        effect.is_ignored,
        effect.note,
    ]


def effect_of(row: Sequence[Json]) -> Effect:
    """The effect that `effect_row` told."""
    mount, path, kind, entry_type, *rest = row
    return Effect(mount, path, EffectKind(kind), EntryType(entry_type), *rest)  # pyright: ignore[reportArgumentType] - as it was written


# Inside a transaction


def put(transaction: Transaction, lease: Lease, new: NewLayer) -> LayerRow:
    """The layer's row, added when it is not there."""
    at = now()
    values = {
        **vars(new),
        "started": json.dumps(dict(new.started)),
        "workspace_id": lease.workspace_id,
        "kept_by": "",
        "effects_hash": "",
        "epoch": lease.epoch,
        "created_at": at,
        "updated_at": at,
    }
    transaction.run(_PUT, values)
    row = transaction.row(_BY_ID, values) or transaction.row(f"{_LAYER} WHERE workspace_id = :workspace_id AND key = :key", values)
    if row is None:
        raise Conflict("the layer belongs to another workspace", layer=new.id)
    return _layer(row)


def _step(
    transaction: Transaction, lease: Lease, layer_id: str, only_from: Sequence[str], values: Mapping[str, str | int | bytes]
) -> LayerRow:
    where = {"id": layer_id, "workspace_id": lease.workspace_id}
    row = transaction.row(f"{_BY_ID} FOR UPDATE", where)
    if row is None:
        raise NotFound("there is no such layer", hint="Its effects may have been dropped.", layer=layer_id)
    layer = _layer(row)
    if layer.state not in only_from:
        raise Conflict(f"the layer is {layer.state}", hint="It has been decided already.", layer=layer_id, state=layer.state)
    changed = {**values, "updated_at": now()}
    assignments = ", ".join(f"{name} = :{name}" for name in changed)
    transaction.run(f"UPDATE layers SET {assignments} WHERE id = :id AND workspace_id = :workspace_id", {**where, **changed})
    row = transaction.row(_BY_ID, where)
    assert row is not None
    return _layer(row)


async def _blob(database: Database, layer: LayerRow, column: str) -> bytes:
    rows = await database.scan(
        f"SELECT {column} FROM layers WHERE id = :id AND workspace_id = :workspace_id", {"id": layer.id, "workspace_id": layer.workspace_id}
    )
    return bytes(rows[0][0]) if rows and rows[0][0] is not None else zlib.compress(b"")


def _age(layer: LayerRow) -> tuple[int, str]:
    return layer.created_at, layer.id


def _layer(row: Row) -> LayerRow:
    return LayerRow(*row[:-1], started=json.loads(row[-1]))
