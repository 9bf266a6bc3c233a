"""One workspace that this process holds: recovered, its mounts open, its road ready."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.config.settings import Settings
from holdfast.dispatch.person import SessionPerson
from holdfast.dispatch.road import Road
from holdfast.policy.decide import Rules
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.tool.context import Surroundings
from holdfast.tool.registry import Registry
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.changes import Changes
from holdfast.workspace.ledger import VersionLedger
from holdfast.workspace.records import Records
from holdfast.workspace.recovery import recover

from .mounts import OpenMounts, own_paths
from .recorder import StoreRecorder


@dataclass(frozen=True)
class Held:
    """What there is of a workspace while it is held."""

    lease: Lease
    road: Road
    person: SessionPerson
    mounts: OpenMounts
    _changes: Changes
    _ledger: VersionLedger
    _recorder: StoreRecorder

    async def close(self) -> None:
        """Finish what was promised, then give everything back."""
        await self._changes.finish()
        await self._ledger.close()
        await self._recorder.finish()
        self.mounts.close()


async def open_held(
    settings: Settings,
    database: Database,
    lease: Lease,
    project: Path,
    mounts: Mapping[str, str | Path],
    registry: Registry,
    announce: Callable[[Event], None],
) -> Held:
    """Recover a workspace whose lease we have just taken, and make its road."""
    opened = OpenMounts(project, mounts, settings.home)
    try:
        records = Records(database, lease, settings.home / "content")
        ledger = VersionLedger(records)
        await recover(ledger, opened.named, state_of=opened.state)
        changes = Changes(ledger)
        person = SessionPerson(database, lease, question_seconds=60 * settings["question_minutes"])
        recorder = StoreRecorder(database, lease, opened.state)
        every = {**opened.named, "state": opened.state("default")}
        surroundings = Surroundings(every, changes, person, opened.state, records)
        rules = Rules(ProtectedPaths(own=own_paths(every, settings.home)), writes_protected=settings["writes_protected"])
        road = Road(registry, surroundings, rules, recorder, announce)
    except BaseException:
        opened.close()
        raise
    return Held(lease, road, person, opened, changes, ledger, recorder)
