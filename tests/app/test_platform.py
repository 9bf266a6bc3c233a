"""A process among those that hold workspaces: what it does when it has lost its place, or sees that another has ended."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from holdfast.app import EVERYTHING, Platform
from holdfast.app.relay import is_gone, sweep
from holdfast.config.settings import Settings, load_settings
from holdfast.store import leases
from holdfast.store.database import Database
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import Busy, LostLease
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done, Outcome
from tests.promises import carries
from tests.store.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

SHORT = 0.3
MACHINE = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings for either database."""
    (tmp_path / "project").mkdir()
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return load_settings(environ={"HOLDFAST_DATABASE_URL": url}, home=tmp_path / "home")


@pytest.fixture
def on_postgres(tmp_path: Path, postgres_url: str) -> Settings:
    """Settings for PostgreSQL, where no lock of a file shows who is alive."""
    (tmp_path / "project").mkdir()
    return load_settings(environ={"HOLDFAST_DATABASE_URL": postgres_url}, home=tmp_path / "home")


class Place:
    """A platform, and the workspace that a test has there."""

    def __init__(self, platform: Platform, workspace_id: str) -> None:
        self.platform = platform
        self.workspace_id = workspace_id

    async def call(self, name: str, /, **arguments: Json) -> Outcome:
        return await self.platform.take(self.workspace_id, ToolCall(f"call-{name}", name, arguments, Caller()), EVERYTHING)

    async def write(self, path: str) -> Outcome:
        return await self.call("write", path=path, content="x", overwrite=True)

    async def epoch(self) -> int:
        row = await self.platform.database.row("SELECT epoch FROM workspaces WHERE id = :id", {"id": self.workspace_id})
        assert row is not None
        return row[0]


@asynccontextmanager
async def opened(settings: Settings, *, lease_seconds: float = 15.0) -> AsyncGenerator[Place]:
    async with Platform.open(settings, lease_seconds=lease_seconds) as platform:
        yield Place(platform, (await platform.ensure_workspace(settings.home.parent / "project")).id)


async def forget_nodes(database: Database) -> None:
    await database.write(lambda transaction: transaction.run("DELETE FROM nodes"))


async def until_new(place: Place, epoch: int) -> None:
    """Write until the workspace has been taken anew; what is not done on the way is busy."""
    async with asyncio.timeout(30):
        while await place.epoch() == epoch:
            outcome = await place.write("/meanwhile")
            assert isinstance(outcome, Done) or isinstance(outcome.error, Busy), outcome
            await asyncio.sleep(0.02)


@carries("SERVE-9")
async def test_a_process_that_is_no_longer_known_comes_back_as_a_new_node(settings: Settings) -> None:
    async with opened(settings, lease_seconds=SHORT) as place:
        await place.write("/before")
        before = await place.epoch()
        await forget_nodes(place.platform.database)

        await until_new(place, before)
        after = await place.write("/after")

        assert isinstance(after, Done)
        assert await place.epoch() == before + 1
        assert (settings.home.parent / "project" / "after").read_text() == "x"


@carries("SERVE-9")
async def test_whoever_was_overtaken_acknowledges_nothing_more_and_passes_calls_on(on_postgres: Settings) -> None:
    async with opened(on_postgres) as first, opened(on_postgres) as second:
        await first.write("/before")
        # As if it had been stopped for longer than its lease lasts.
        await second.platform.database.write(lambda transaction: transaction.run("UPDATE nodes SET deadline = 0 WHERE address <> ''"))
        await second.platform.hold(second.workspace_id)

        late = await first.write("/late")
        passed_on = await first.write("/passed-on")

        assert not isinstance(late, Done)
        assert isinstance(late.error, LostLease)
        assert not (on_postgres.home.parent / "project" / "late").exists()
        assert isinstance(passed_on, Done)
        assert (await second.platform.hold(second.workspace_id)).lease.epoch == await second.epoch()


@carries("SERVE-9")
async def test_a_lease_that_was_lost_is_noticed_by_the_next_beat(on_postgres: Settings) -> None:
    async with opened(on_postgres, lease_seconds=SHORT) as first, opened(on_postgres) as second:
        await first.write("/before")
        held = await first.platform.hold(first.workspace_id)
        await leases.release(second.platform.database, held.lease)
        await second.platform.hold(second.workspace_id)

        async with asyncio.timeout(30):
            while True:
                try:
                    assert await first.platform.hold(first.workspace_id) is held
                except Busy:
                    break
                await asyncio.sleep(0.02)

        assert isinstance(await first.write("/passed-on"), Done)


@carries("SERVE-9")
async def test_what_runs_is_finished_before_a_workspace_is_given_back(settings: Settings) -> None:
    async with opened(settings) as place:
        writes = [asyncio.create_task(place.write(f"/{number}")) for number in range(30)]
        await asyncio.sleep(0.05)

    outcomes = await asyncio.gather(*writes, return_exceptions=True)

    done = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Done)]
    assert {file.name for file in (settings.home.parent / "project").iterdir()} == {str(number) for number in done}
    assert all(isinstance(outcome, Done | Busy) for outcome in outcomes), outcomes


@carries("SERVE-8")
async def test_a_holder_whose_socket_refuses_is_gone_and_its_deadline_is_not_waited_for(on_postgres: Settings) -> None:
    async with opened(on_postgres) as place:
        await dead_holder(place, on_postgres.home, listens=False)

        outcome = await asyncio.wait_for(place.write("/a"), 10)

        assert isinstance(outcome, Done)


@carries("SERVE-8")
@pytest.mark.parametrize("how", ["listens", "no socket", "another machine"])
async def test_a_holder_that_may_be_alive_is_not_overtaken(on_postgres: Settings, how: str) -> None:
    async with opened(on_postgres) as place:
        epoch, listening = await dead_holder(place, on_postgres.home, listens=how == "listens", how=how)

        with pytest.raises(Busy):
            await place.platform.hold(place.workspace_id)

        assert await place.epoch() == epoch
        listening.close()


async def dead_holder(place: Place, home: Path, *, listens: bool, how: str = "") -> tuple[int, socket.socket]:
    """Somebody else holds the workspace, and has a minute left; their socket listens, or does not."""
    name = "other.sock"
    machine = MACHINE if how != "another machine" else "elsewhere"
    listening = socket.socket(socket.AF_UNIX)
    if how != "no socket":
        listening.bind(str(home / "sockets" / name))
    if listens:
        listening.listen()
    database = place.platform.database
    node = await leases.join(database, f"{machine}/{name}", seconds=60)
    lease = await leases.take(database, node, place.workspace_id)
    if not listens:
        listening.close()
    return lease.epoch, listening


@carries("SERVE-8")
async def test_sockets_of_processes_that_nobody_knows_are_swept_and_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    listening = socket.socket(socket.AF_UNIX)
    for name in ("dead.sock", "known.sock", "young.sock"):
        with socket.socket(socket.AF_UNIX) as once:
            once.bind(str(folder / name))
    listening.bind(str(folder / "alive.sock"))
    listening.listen()
    for name in ("dead.sock", "known.sock", "alive.sock"):
        os.utime(folder / name, (0, 0))

    await sweep(tmp_path, {f"{MACHINE}/known.sock"})

    assert sorted(file.name for file in folder.iterdir()) == ["alive.sock", "known.sock", "young.sock"]
    assert (await is_gone(tmp_path, f"{MACHINE}/known.sock"), await is_gone(tmp_path, f"{MACHINE}/alive.sock")) == (True, False)
    listening.close()
