"""All workspaces of one data folder, and this process's place among those that hold them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from holdfast.agent.sessions import Sessions
from holdfast.config.home import make_home
from holdfast.config.settings import Settings
from holdfast.store import leases, people, turns
from holdfast.store.database import Database
from holdfast.store.leases import Lease, Node
from holdfast.store.lockfile import LockFile
from holdfast.store.opening import open_database
from holdfast.store.people import Workspace
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Category, Tool
from holdfast.vocabulary.call import ToolCall
from holdfast.vocabulary.errors import Busy, HoldfastError, LostLease, NotFound
from holdfast.vocabulary.events import Event, Show, output_of
from holdfast.vocabulary.finding import Finding
from holdfast.vocabulary.outcome import Done, Outcome
from holdfast.vocabulary.profile import Profile

from .commands import UNDERSTOOD, find_lacks, lacks_of
from .held import Held, open_held
from .local_user import ensure_local_user
from .relay import NotTaken, Relay, is_gone, pass_on, pass_on_change, sweep, talk_there
from .talk import SessionChange, Talk, TalkHere, Tell, Wanted, impatiently_watched
from .tools import find_tools

if TYPE_CHECKING:
    from holdfast.providers.choose import Providers

    from .agents import Agents

LEASE_SECONDS = 15.0
WAIT_SECONDS = 5.0
DATABASE_FILE = "holdfast.db"

log = logging.getLogger(__name__)
S = TypeVar("S")
T = TypeVar("T")


class Platform:
    """Workspaces by their ids. The ones that nobody else holds are held here from the first call on."""

    def __init__(self, settings: Settings, database: Database, node: Node, registry: Registry, *, lease_seconds: float) -> None:
        self.settings = settings
        self.database = database
        self.registry = registry
        self._node = node
        self._lease_seconds = lease_seconds
        self._closing: set[str] = set()
        self._dropping: set[asyncio.Task[None]] = set()
        self._is_leaving = False
        self._held: dict[str, Held] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._locks: dict[str, LockFile] = {}
        self._extra: dict[str, Mapping[str, str | Path]] = {}
        self._folders: dict[str, Path] = {}
        self._watchers: list[Callable[[str, Event], None]] = []
        self._agents: dict[str, Agents] = {}
        self._patient: dict[str, set[str]] = {}
        self._providers: Providers | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, lease_seconds: float = LEASE_SECONDS) -> AsyncGenerator["Platform"]:
        """Join those that work on this data folder; leaving gives back every workspace, with all that was promised done.

        Raises:
            Busy, AccessDenied, NoSpace, Broken: The database cannot be used, and why.
        """
        make_home(settings.home)
        database = await open_database(settings["database_url"] or settings.home / DATABASE_FILE)
        try:
            async with Relay.open(settings.home) as relay:
                node = await leases.join(database, relay.address, seconds=lease_seconds)
                platform = cls(settings, database, node, find_tools(), lease_seconds=lease_seconds)
                relay.answer_with(platform)
                beating = asyncio.create_task(platform._beat())
                try:
                    yield platform
                finally:
                    beating.cancel()
                    await platform._leave()
        finally:
            await database.close()

    async def take(self, workspace_id: str, call: ToolCall, profile: Profile, show: Show | None = None) -> Outcome:
        """Bring a call to its outcome, here or wherever the workspace is held; what it prints is shown as it comes.

        Raises:
            Busy: The holder does not answer.
            NotFound: There is no such workspace.
        """
        return await self._here_or_there(
            workspace_id,
            lambda: self.take_here(workspace_id, call, profile, show),
            lambda address: pass_on(self.settings.home, address, workspace_id, call, profile, show),
        )

    async def _here_or_there(self, workspace_id: str, here: Callable[[], Awaitable[T]], there: Callable[[str], Awaitable[S]]) -> T | S:
        """What comes of doing it here, or where the workspace is held when `here` is Busy."""
        give_up_at = asyncio.get_running_loop().time() + WAIT_SECONDS
        while True:
            try:
                return await here()
            except Busy as busy:
                if self._is_leaving:
                    raise
                address = await self._holder(workspace_id)
                if address is not None:
                    # Gone just now, or about to go: look again.
                    with contextlib.suppress(OSError, NotTaken):
                        return await there(address)
                if asyncio.get_running_loop().time() > give_up_at:
                    raise busy from None
            await asyncio.sleep(0.02)

    async def take_here(self, workspace_id: str, call: ToolCall, profile: Profile, show: Show | None = None) -> Outcome:
        """Bring a call to its outcome in this process.

        Raises:
            Busy: Another process holds the workspace.
        """
        held = await self.hold(workspace_id)
        with contextlib.ExitStack() as after:
            if show is not None:
                after.callback(self.watch(output_of(call, show)))
            outcome = await held.take(call, profile)
        if not isinstance(outcome, Done) and isinstance(outcome.error, LostLease):
            self._drop(workspace_id, held)
        return outcome

    async def hold(self, workspace_id: str) -> Held:
        """The workspace, held by this process: taken and recovered if it was not.

        Raises:
            Busy: Another process holds it.
            NotFound: There is no such workspace, or its folder is gone.
        """
        if (held := self._held.get(workspace_id)) is not None:
            return held
        async with self._opening.setdefault(workspace_id, asyncio.Lock()):
            if self._is_leaving or workspace_id in self._closing:
                raise Busy("this process is giving the workspace back", hint="Try again in a moment.")
            if (held := self._held.get(workspace_id)) is None:
                held = self._held[workspace_id] = await self._take(workspace_id)
            return held

    async def agents(self, workspace_id: str) -> "Agents":
        """The agents of a workspace, which is held here for them. What their sessions ask while somebody watches has its time.

        Raises:
            Busy, NotFound: As in `hold`.
        """
        from .agents import Agents

        held = await self.hold(workspace_id)
        found = self._agents.get(workspace_id)
        if found is None or found.held is not held:
            found = self._agents[workspace_id] = Agents(self, held, self.providers)
            found.approvals.is_watched = impatiently_watched(found, self._patient.setdefault(workspace_id, set()))
        await found.open()
        return found

    async def take_up(self, workspace_id: str) -> None:
        """Hold a workspace, and go on with the turns that were left open there.

        Raises:
            Busy, NotFound: As in `hold`.
        """
        await self.hold(workspace_id)
        # Most often there are none, and then nothing that agents need has to be imported yet.
        if await turns.left_open(self.database, workspace_id):
            await self.agents(workspace_id)

    @asynccontextmanager
    async def talk(self, workspace_id: str, wanted: Wanted, tell: Tell) -> AsyncGenerator[Talk]:
        """A turn that has begun, here or wherever the workspace is held; leaving ends it.

        Raises:
            Busy: The holder does not answer, or a turn of the session is running.
            NotFound, InvalidArguments, InvalidSetting: There is no such session, profile or model.
        """
        async with AsyncExitStack() as stack:
            found = await self._here_or_there(
                workspace_id,
                lambda: self.hold(workspace_id),
                lambda address: stack.enter_async_context(talk_there(self.settings.home, address, workspace_id, wanted, tell)),
            )
            if isinstance(found, Held):
                found = await stack.enter_async_context(self.talk_here(workspace_id, wanted, tell))
            yield found

    @asynccontextmanager
    async def talk_here(self, workspace_id: str, wanted: Wanted, tell: Tell) -> AsyncGenerator[TalkHere]:
        """The same, in this process."""
        agents, user = await self.agents(workspace_id), await self.local_user()
        talk = await TalkHere.begin(agents, wanted.played_by(self.providers), tell, patient=self._patient[workspace_id], by=user.id)
        try:
            yield talk
        finally:
            await talk.leave()

    async def change_session(self, workspace_id: str, session_id: str, change: SessionChange) -> None:
        """Rename a session or delete it, here or wherever the workspace is held.

        Raises:
            Busy: The holder does not answer.
            NotFound: There is no such session.
        """
        await self._here_or_there(
            workspace_id,
            lambda: self.change_session_here(workspace_id, session_id, change),
            lambda address: pass_on_change(self.settings.home, address, workspace_id, session_id, change),
        )

    async def change_session_here(self, workspace_id: str, session_id: str, change: SessionChange) -> None:
        """The same, in this process."""
        held = await self.hold(workspace_id)
        await change.make(Sessions(self.database, held.lease), session_id, agents=self._agents.get(workspace_id))

    @property
    def providers(self) -> "Providers":
        """Those who have models; there is one of each for all workspaces."""
        from holdfast.providers.choose import Providers

        from .models import provider_settings

        if self._providers is None:
            self._providers = Providers(provider_settings(self.settings))
        return self._providers

    async def tools(self, workspace_id: str, profile: Profile) -> list[Tool]:
        """What a profile offers in a workspace: commands only where they can be run."""
        every = self.registry.list_for_scope(profile.scope, toolsets=profile.toolsets or None)
        if not any(tool.category is Category.EXEC for tool in every) or await self._offers_commands(workspace_id):
            return every
        return [tool for tool in every if tool.category is not Category.EXEC]

    async def _offers_commands(self, workspace_id: str) -> bool:
        if (held := self._held.get(workspace_id)) is not None:
            return (await held.commands.sandbox()).offers_commands
        return self.settings["unconfined_commands"] == UNDERSTOOD or not await self.sandbox_lacks(workspace_id)

    async def sandbox_lacks(self, workspace_id: str) -> list[Finding]:
        """What keeps the commands of a workspace from being confined, and how to get it; nothing when they are."""
        held = self._held.get(workspace_id)
        if held is not None:
            return lacks_of((await held.commands.sandbox()).lacks)
        row = await people.get_workspace(self.database, workspace_id)
        return await find_lacks(self.settings, Path(row.root)) if row is not None else []

    async def ensure_workspace(self, folder: Path, *, owner_id: str | None = None, name: str = "") -> Workspace:
        """The workspace of a folder, made when there is none; its owner is the local user unless another is named."""
        root = str(folder.resolve())
        found = await people.find_workspace(self.database, root)
        if found is None:
            owner = owner_id or (await self.local_user()).id
            found = await people.add_workspace(self.database, name or folder.resolve().name or "root", root, owner)
        # Paths may be written as the folder was named, even if that leads elsewhere.
        self._folders[found.id] = folder
        return found

    async def local_user(self) -> people.User:
        """The user of this machine, who needs no account."""
        return await ensure_local_user(self.database)

    async def check(self) -> None:
        """Make sure that the database can be written.

        Raises:
            Busy, NoSpace, AccessDenied: It cannot.
        """
        await self.database.write(lambda transaction: transaction.now())

    def mount_also(self, workspace_id: str, mounts: Mapping[str, str | Path]) -> None:
        """Mount more folders when the workspace is opened, for as long as this process holds it."""
        self._extra[workspace_id] = mounts

    def stop_waiting(self) -> None:
        """Let no call wait for a person any longer, since this process is about to end; what they were asked stays."""
        for agents in self._agents.values():
            agents.stop()
        for held in self._held.values():
            held.person.leave()

    def watch(self, watcher: Callable[[str, Event], None]) -> Callable[[], None]:
        """Have every event of every workspace told to `watcher`, as it happens; what this gives ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    async def _take(self, workspace_id: str) -> Held:
        row = await people.get_workspace(self.database, workspace_id)
        if row is None:
            raise NotFound("there is no such workspace", hint="Check its id.", workspace=workspace_id)
        lock = self._locks.setdefault(workspace_id, LockFile(self.settings.home / "leases" / f"{workspace_id}.lock"))
        if self.database.embedded:
            lock.take()
        try:
            lease = await self._lease(workspace_id)
            stored = await people.list_mounts(self.database, workspace_id)
            mounts = {
                **{mount.name: f"{mount.root}:{mount.mode}".removesuffix(":rw") for mount in stored},
                **self._extra.get(workspace_id, {}),
            }
            announce, folder = self._announcer(workspace_id), self._folders.get(workspace_id, Path(row.root))
            return await open_held(self.settings, self.database, lease, folder, mounts, self.registry, announce)
        except BaseException:
            lock.release()
            raise

    async def _lease(self, workspace_id: str) -> Lease:
        try:
            return await leases.take(self.database, self._node, workspace_id, holder_is_gone=self.database.embedded)
        except Busy as busy:
            # A holder that was killed has left its deadline behind; there is no need to wait for that when we can see it.
            holder, address = busy.facts.get("holder"), busy.facts.get("address")
            if not isinstance(holder, str) or not isinstance(address, str) or not await is_gone(self.settings.home, address):
                raise
        await leases.declare_gone(self.database, holder)
        return await leases.take(self.database, self._node, workspace_id)

    async def _holder(self, workspace_id: str) -> str | None:
        node = await leases.holder(self.database, workspace_id)
        return node.address if node is not None and node.id != self._node.id and node.address else None

    def _announcer(self, workspace_id: str) -> Callable[[Event], None]:
        def announce(event: Event) -> None:
            for watcher in self._watchers:
                watcher(workspace_id, event)

        return announce

    async def _beat(self) -> None:
        """Push our deadline forward, whatever happens."""
        with contextlib.suppress(HoldfastError, OSError):
            await sweep(self.settings.home, await leases.addresses(self.database))
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                await self._renew()
            except HoldfastError as error:
                log.warning("the lease could not be renewed: %s", error)

    async def _renew(self) -> None:
        """Push our deadline forward; give up what we have lost, and come back as a new node when we are not known any more."""
        held = dict(self._held)
        try:
            kept = await leases.renew(self.database, self._node, seconds=self._lease_seconds)
        except LostLease:
            log.warning("this process has lost its place; it comes back as a new node")
            self._node = await leases.join(self.database, self._node.address, seconds=self._lease_seconds)
            kept = []
        for workspace_id, each in held.items():
            if each.lease not in kept:
                self._drop(workspace_id, each)

    def _drop(self, workspace_id: str, held: Held) -> None:
        """Give up a workspace that we have lost. Until what still runs there is over, it is not taken again."""
        if self._held.get(workspace_id) is held:
            del self._held[workspace_id]
            self._closing.add(workspace_id)
            dropping = asyncio.create_task(self._close_lost(workspace_id, held))
            self._dropping.add(dropping)
            dropping.add_done_callback(self._dropping.discard)

    async def _close_lost(self, workspace_id: str, held: Held) -> None:
        agents = self._agents.pop(workspace_id, None)
        try:
            if agents is not None:
                await agents.close()
            await held.close()
        finally:
            self._locks[workspace_id].release()
            self._closing.discard(workspace_id)

    async def _leave(self) -> None:
        self._is_leaving = True
        for opening in list(self._opening.values()):
            # What is just being opened is opened to its end, so that it can be closed.
            async with opening:
                pass
        await asyncio.gather(*(agents.close() for agents in self._agents.values()))
        if self._providers is not None:
            await self._providers.close()
        await asyncio.gather(*(held.close() for held in self._held.values()), *self._dropping)
        self._held.clear()
        with contextlib.suppress(HoldfastError):
            await leases.leave(self.database, self._node)
        for lock in self._locks.values():
            lock.release()
