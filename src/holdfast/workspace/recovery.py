"""What the new holder of a workspace does before its first call: the disk is brought to where the store has promised it to be.

Only what earlier holders left pending is touched. A version that never
reached the disk is put there; what somebody else has put there since is
kept, and becomes known. Nothing is synced here: that is done behind the
first calls' backs, like after any change.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.store import files, versions
from holdfast.store.files import File
from holdfast.store.versions import Version
from holdfast.vocabulary.access import MountMode
from holdfast.vocabulary.errors import HoldfastError, LostLease

from .calls_left import close_calls
from .changes import Changes
from .keep_recovery import LayersFound, LayersLeft, recover_layers
from .ledger import VersionLedger
from .mount import Mount
from .records import STATE, Records
from .redo import Outcome, Redo
from .settling import Applied
from .sweep import sweep
from .sweep_contents import sweep_contents

log = logging.getLogger(__name__)

_DEEPER_THAN_ANY = 1 << 30


@dataclass
class RecoveryReport:
    """How many pending versions were on the disk, put there, or given up for what the disk has; and what was swept away."""

    settled: int = 0
    redone: int = 0
    external: int = 0
    aborted: int = 0
    failed: int = 0
    calls: int = 0
    swept: int = 0
    layers: LayersFound | None = None
    seconds: float = 0.0


async def recover(
    ledger: VersionLedger,
    mounts: Mapping[str, Mount],
    *,
    state_of: Callable[[str], Mount] | None = None,
    layers: LayersLeft | None = None,
) -> RecoveryReport:
    """Make the workspace what earlier holders have acknowledged. `state_of` gives the `@state` of a run that is not among the mounts.

    Without `layers`, what commands left is not looked at.

    Raises:
        LostLease: Another process has taken the workspace over meanwhile.
        Busy: The store does not answer.
    """
    started, report, records = time.perf_counter(), RecoveryReport(), ledger.records
    writable = [mount for mount in mounts.values() if mount.mode is not MountMode.READ_ONLY]
    sweeping = asyncio.gather(*(sweep(mount, older_than_seconds=0) for mount in writable))
    try:
        for version, row in await _in_order(records):
            mount = _mount(records, version, mounts, state_of)
            if mount is not None:
                await _recover_one(ledger, mount, version, row, report)
        if layers is not None:
            report.layers = await recover_layers(records, Changes(ledger), mounts, layers)
        report.calls = await close_calls(records)
    finally:
        report.swept = sum(await sweeping)
    report.swept += await sweep_contents(records)
    report.seconds = time.perf_counter() - started
    return report


async def _in_order(records: Records) -> list[tuple[Version, File]]:
    """What is pending, with the file's row: moves of folders first, the upper ones before the lower, since all else went along."""
    found: list[tuple[Version, File]] = []
    for version in await versions.newest_pending(records.database, records.lease):
        row = await files.get(records.database, records.workspace_id, version.file_id)
        if row is not None:
            found.append((version, row))
    return sorted(found, key=_order)


def _order(pending: tuple[Version, File]) -> tuple[int, int, str]:
    version, row = pending
    depth = row.path.count("/") if row.is_folder and version.kind == "move" else _DEEPER_THAN_ANY
    return depth, version.epoch, version.id


async def _recover_one(ledger: VersionLedger, mount: Mount, version: Version, row: File, report: RecoveryReport) -> None:
    try:
        # A later version of the same file says where and what it is; this one is history, and settled with that one.
        outcome = Outcome.SETTLED if row.version_id != version.id else await Redo(ledger.records, mount, version, row).done()
    except LostLease:
        raise
    except HoldfastError as error:
        log.warning("version %s of %s stays pending: %s", version.id, version.path, error)
        report.failed += 1
        return
    match outcome:
        case Outcome.SETTLED:
            report.settled += 1
        case Outcome.REDONE:
            report.redone += 1
        case Outcome.EXTERNAL:
            report.external += 1
        case Outcome.ABORTED:
            report.aborted += 1
            return
    ledger.settling.add(Applied(mount, (row.path,), (row.path.rpartition("/")[0], version.path.rpartition("/")[0]), version.id))


def _mount(records: Records, version: Version, mounts: Mapping[str, Mount], state_of: Callable[[str], Mount] | None) -> Mount | None:
    """Where the version belongs; None when that is not mounted now, and has to wait."""
    for mount in mounts.values():
        if records.name_of(mount) == version.mount:
            return mount
    where, _, run = version.mount.partition("/")
    if state_of is None or where != STATE or run.startswith("@"):
        return None
    mount = state_of(run)
    return mount if records.name_of(mount) == version.mount else None
