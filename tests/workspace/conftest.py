"""A real folder, mounted, beside something that must never be seen through it."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from holdfast.store.database import Database
from holdfast.store.leases import Lease
from holdfast.workspace import kernel, settling
from holdfast.workspace.mount import Mount
from holdfast.workspace.spawner import Confinement, Spawner
from tests.store.conftest import address, database, emptied_postgres_url, lease, postgres_server, sqlite_url
from tests.untested import needs
from tests.workspace.shelf import Shelf, opened_shelf

__all__ = ["address", "database", "emptied_postgres_url", "lease", "postgres_server", "sqlite_url"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that is mounted."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the mounted one, with a file that no path may reach."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("outside\n")
    return folder


@pytest.fixture
def mount(root: Path) -> Generator[Mount]:
    mount = Mount("project", root)
    yield mount
    mount.close()


@pytest.fixture
async def shelf(mount: Mount, database: Database, lease: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Shelf]:
    """The mounted folder with a store behind it, once on SQLite and once on PostgreSQL; nothing is settled unless a test says so."""
    monkeypatch.setattr(settling, "PAUSE_SECONDS", 600)
    async with opened_shelf(mount, database, lease, tmp_path / "content") as shelf:
        yield shelf


@pytest.fixture(params=["with openat2", "without openat2"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs twice: on this kernel, and as on one that is older than openat2."""
    if request.param == "without openat2":
        monkeypatch.setattr(kernel, "has_openat2", lambda: False)
    elif not kernel.has_openat2():
        pytest.skip("this kernel has no openat2, or does not let us use it")


@pytest.fixture(
    params=[
        Confinement.LANDLOCK,
        pytest.param(Confinement.BUBBLEWRAP, marks=needs("bubblewrap", "ripgrep is confined by it where Landlock is missing")),
        Confinement.NONE,
    ]
)
def way(request: pytest.FixtureRequest, mount: Mount) -> Confinement:
    """The test runs with each of the ways to keep ripgrep inside."""
    for spawner in (mount.spawner, mount.spawner_for_large):
        spawner.close()
    mount.spawner, mount.spawner_for_large = (Spawner("project", mount.descriptor, ways=[request.param]) for _ in range(2))
    return request.param
