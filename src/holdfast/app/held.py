"""One workspace that this process holds: recovered, its mounts open, its road ready."""

import asyncio
import contextlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.config.settings import Settings
from holdfast.dispatch.approvals import Approvals
from holdfast.dispatch.person import SessionPerson
from holdfast.dispatch.road import Road
from holdfast.internet.search import Search
from holdfast.internet.settings import InternetSettings
from holdfast.policy.decide import Rules
from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.tool.commands import Commands
from holdfast.tool.context import Surroundings
from holdfast.tool.registry import Registry
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import Busy
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.outcome import Outcome
from holdfast.vocabulary.profile import Profile
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.workspace.changes import Changes
from holdfast.workspace.ledger import VersionLedger
from holdfast.workspace.mount import Mount
from holdfast.workspace.records import Records
from holdfast.workspace.recovery import recover

from .commands import layers_left, open_commands
from .mounts import OpenMounts, own_paths
from .recorder import StoreRecorder

# Longer than a tool may take by default, so that what runs is finished.
_FINISH_SECONDS = 65.0


@dataclass
class Held:
    """What there is of a workspace while it is held."""

    lease: Lease
    road: Road
    person: SessionPerson
    mounts: OpenMounts
    commands: Commands
    _changes: Changes
    _ledger: VersionLedger
    _recorder: StoreRecorder
    _running: int = 0
    _is_closing: bool = False
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, call: ToolCall, profile: Profile) -> Outcome:
        """Bring a call along the road.

        Raises:
            Busy: The workspace is being given back, and nothing has happened.
        """
        with self._is_running():
            return await self.road.take(call, profile)

    async def outcome_of(self, call: ToolCall, profile: Profile) -> Outcome:
        """The same for those who put more on record at once, and wait for that."""
        with self._is_running():
            return (await self.road.outcome_of(call, profile))[0]

    @contextlib.contextmanager
    def _is_running(self) -> Generator[None]:
        if self._is_closing:
            raise Busy("this process is giving the workspace back", hint="Try again in a moment.")
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def close(self) -> None:
        """Finish what runs and what was promised, take no more, then give everything back."""
        self._is_closing = True
        self.person.leave()
        if self.road.approvals is not None:
            self.road.approvals.leave()
        if self._running:
            self._idle.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), _FINISH_SECONDS)
        await self._changes.finish()
        await self._ledger.close()
        await self._recorder.finish()
        self.commands.close()
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
        found = await recover(ledger, opened.named, state_of=opened.state, layers=layers_left(settings, records.workspace_id))
        changes = Changes(ledger)
        person = SessionPerson(database, lease, question_seconds=60 * settings["question_minutes"], announce=announce)
        recorder = StoreRecorder(database, lease, opened.state, own_state="state" not in mounts)
        every = {**opened.named, "state": opened.state("default")}
        rules = Rules(ProtectedPaths(own=own_paths(every, settings.home)), writes_protected=settings["writes_protected"])
        pending = found.layers.pending if found.layers else frozenset[str]()
        commands = await open_commands(settings, records, _seen_by_commands(opened, mounts), rules.protected, pending=pending)
        surroundings = Surroundings(every, changes, person, opened.state, records, search=_search(settings), commands=commands)
        approvals = Approvals(database, lease, seconds=settings["approval_timeout"])
        road = Road(registry, surroundings, rules, recorder, announce, approvals)
    except BaseException:
        opened.close()
        raise
    return Held(lease, road, person, opened, commands, changes, ledger, recorder)


def _seen_by_commands(opened: OpenMounts, mounts: Mapping[str, str | Path]) -> dict[str, Mount]:
    """All mounts but a `@central` that lies in our own data."""
    return {name: mount for name, mount in opened.named.items() if name != "central" or "central" in mounts}


def _search(settings: Settings) -> Search:
    return Search.of(InternetSettings(**{name: settings[name] for name in ("searxng_url", "searxng_engines", "brave_key", "brave_url")}))
