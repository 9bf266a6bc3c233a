"""What the new holder of a workspace does with layers: a keep that was promised is finished, one that was not has not begun."""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass

from holdfast.store import layers
from holdfast.store.layers import LayerRow
from holdfast.vocabulary.errors import HoldfastError, LostLease

from .changes import Changes
from .keep import Keeper
from .keep_source import Source
from .mount import Mount
from .records import Records
from .trash import Trash

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LayersLeft:
    """Where what earlier holders left is: their trash, and the uppers of a layer as open folders; of an undo there are none."""

    trash: Trash
    uppers: Callable[[LayerRow], AbstractContextManager[Mapping[str, int]]]


@dataclass(frozen=True)
class LayersFound:
    """How many keeps were finished or could not be; and the layers that somebody has yet to decide about, by id."""

    finished: int
    failed: int
    pending: frozenset[str]


async def recover_layers(records: Records, changes: Changes, mounts: Mapping[str, Mount], left: LayersLeft) -> LayersFound:
    """Finish what was promised, and let what was not be decided again. Layers of other ids than `pending` and of failed ones can go.

    Raises:
        LostLease: Another process has taken the workspace over meanwhile.
    """
    database, workspace_id = records.database, records.workspace_id
    finished = failed = 0
    waiting: set[str] = set()
    for row in await layers.in_state(database, workspace_id, layers.COMMITTED):
        try:
            await _finished(Keeper(records, changes, mounts, left.trash), row, left)
            finished += 1
        except LostLease:
            raise
        except (HoldfastError, OSError) as error:
            log.warning("the effects of layer %s are not all in the workspace yet: %s", row.id, error)
            waiting.add(row.id)
            failed += 1
    for row in await layers.in_state(database, workspace_id, layers.RUNNING, layers.KEEPING, layers.PENDING):
        if row.epoch >= records.lease.epoch:
            continue
        if row.state == layers.RUNNING:
            await layers.move(database, records.lease, row.id, to=layers.DROPPED, only_from=(layers.RUNNING,))
        elif row.state == layers.KEEPING:
            await layers.move(database, records.lease, row.id, to=layers.PENDING, only_from=(layers.KEEPING,))
    pending = await layers.in_state(database, workspace_id, layers.PENDING)
    return LayersFound(finished, failed, frozenset({*waiting, *(row.id for row in pending)}))


async def _finished(keeper: Keeper, row: LayerRow, left: LayersLeft) -> None:
    with ExitStack() as leaving:
        uppers: Mapping[str, int] = {}
        if row.started:
            # Without the layer there is still the store.
            with suppress(FileNotFoundError):
                uppers = leaving.enter_context(left.uppers(row))
        await keeper.finish(row, Source(uppers, left.trash))
