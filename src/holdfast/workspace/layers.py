"""What is on record of commands' effects: under way, waiting for a decision, kept or dropped."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.store import layers
from holdfast.store.layers import NewLayer
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.effects import Effects
from holdfast.vocabulary.errors import Conflict, NotFound

from .changes import Changes
from .keep import Kept, keep
from .keep_choice import LeftOut, Permission, choose
from .keep_source import Source
from .mount import Mount
from .records import Records
from .rewind import Rewound, rewind
from .trash import Trash
from .undo import Undone, last_call, undo


@dataclass(frozen=True)
class Undecided:
    """Effects that wait for a decision."""

    id: str
    session_id: str
    call_id: str
    created_at: int
    started: Mapping[str, int]
    effects: Effects


@dataclass(frozen=True)
class LayerBook:
    """The records of a workspace's layers, for changes made on behalf of one call.

    `mounts` are those that commands see, `every` those that any tool
    can have changed.
    """

    records: Records
    changes: Changes
    mounts: Mapping[str, Mount]
    trash: Trash
    every: Mapping[str, Mount] = field(default_factory=dict[str, Mount])
    may_write_protected: bool = False

    async def begin(self, layer_id: str, started: Mapping[str, int], call: ToolCall) -> None:
        """Record that a command is about to run: if this process ends, it is known that nothing came of it."""
        await layers.add(self.records.database, self.records.lease, _new(layer_id, started, call))

    async def hold(self, layer_id: str, started: Mapping[str, int], call: ToolCall, effects: Effects) -> None:
        """Leave effects pending."""
        packed = await asyncio.to_thread(layers.pack_effects, effects.every)
        await layers.hold(self.records.database, self.records.lease, _new(layer_id, started, call), effects, packed=packed)

    async def keep(
        self,
        layer_id: str,
        started: Mapping[str, int],
        call: ToolCall,
        effects: Effects,
        uppers: Mapping[str, int],
        *,
        only: Iterable[tuple[str, str]] | None = None,
        may_write_git: bool = False,
    ) -> Kept:
        """Make effects real, all or only those at or below some paths."""
        return await keep(
            self.records,
            self.changes,
            self.mounts,
            _new(layer_id, started, call),
            effects,
            uppers,
            trash=self.trash,
            only=only,
            may_write_git=may_write_git,
            may_write_protected=self.may_write_protected,
        )

    async def left_out(self, effects: Effects, uppers: Mapping[str, int], *, may_write_git: bool) -> list[LeftOut]:
        """What a keep of all these effects would leave out."""
        permission = Permission(may_write_git, self.may_write_protected, Source(uppers, self.trash).is_plain_config)
        return (await asyncio.to_thread(choose, effects.every, None, permission)).left_out

    async def drop(self, layer_id: str) -> None:
        """Record that nothing comes of it.

        Raises:
            NotFound: There is no such layer.
            Conflict: It has been decided already.
        """
        await layers.move(self.records.database, self.records.lease, layer_id, to=layers.DROPPED, only_from=layers.OPEN)

    async def undo(self, call_id: str | None, *, session_id: str | None, force: bool) -> Undone:
        """Take back what a call did to files; without one, the last that did something, of a session or of all.

        Raises:
            NotFound: There is nothing to take back.
        """
        if call_id is None:
            session_id, call_id = await last_call(self.records, session_id)
        mounts = self.every or self.mounts
        return await undo(self.records, self.changes, mounts, call_id, trash=self.trash, session_id=session_id, force=force)

    async def rewind(self, session_id: str, event: int, *, dry_run: bool) -> Rewound:
        """Take back what a session did to files after an event, but for what others have changed since.

        Raises:
            NotFound, InvalidArguments: There is no such session, or event.
        """
        mounts = self.every or self.mounts
        return await rewind(self.records, self.changes, mounts, session_id, event, trash=self.trash, dry_run=dry_run)

    async def undecided(self, layer_id: str) -> Undecided:
        """The effects that are pending under that id.

        Raises:
            NotFound: There is no such layer.
            Conflict: It has been decided already.
        """
        row = await layers.get(self.records.database, self.records.workspace_id, layer_id)
        if row is None:
            raise NotFound("there are no such effects", hint="List the pending ones.", layer=layer_id)
        if row.state != layers.PENDING:
            raise Conflict(f"the effects are {_WORDS.get(row.state, row.state)}", hint="They can be decided once.", layer=layer_id)
        packed = await layers.packed_effects(self.records.database, row)
        effects = await asyncio.to_thread(layers.unpack_effects, packed)
        return Undecided(row.id, row.session_id, row.call_id, row.created_at, row.started, effects)

    async def pending(self) -> list[str]:
        """The ids of what waits for a decision, the oldest first."""
        return [row.id for row in await layers.in_state(self.records.database, self.records.workspace_id, layers.PENDING)]


# What a person calls the states.
_WORDS = {layers.RUNNING: "not known yet", layers.KEEPING: "being kept", layers.COMMITTED: "being kept", layers.SETTLED: "kept already"}


def _new(layer_id: str, started: Mapping[str, int], call: ToolCall) -> NewLayer:
    return NewLayer(id=layer_id, session_id=call.caller.session, call_id=call.id, started=started)
