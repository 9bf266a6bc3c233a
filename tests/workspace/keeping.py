"""A shelf whose commands run in real layers: what they did can be kept, as the road would do it."""

import asyncio
import multiprocessing
import os
import stat
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from holdfast.sandbox.layer import Layer
from holdfast.sandbox.upper import open_uppers
from holdfast.store import layers
from holdfast.store.layers import LayerRow, NewLayer
from holdfast.store.opening import open_database
from holdfast.vocabulary.effects import Effects
from holdfast.workspace.author import Author
from holdfast.workspace.files import Files
from holdfast.workspace.keep import Kept, keep
from holdfast.workspace.keep_recovery import LayersLeft
from holdfast.workspace.mount import Mount
from holdfast.workspace.recovery import RecoveryReport, recover
from holdfast.workspace.trash import Trash
from tests.sandbox.layers import looked_at, run_in_layer
from tests.workspace.shelf import Shelf, shelved, taken_over
from tests.workspace.writing import mounted

_PROCESSES = multiprocessing.get_context("forkserver")


@dataclass
class Workbench:
    """A shelf, and the folder in which its layers and its trash are."""

    shelf: Shelf
    home: Path
    upper_of: dict[str, Layer] = field(default_factory=dict[str, Layer])

    @property
    def root(self) -> Path:
        return self.shelf.root

    @property
    def trash(self) -> Trash:
        return Trash(self.home / "trash" / "w")

    def left(self) -> LayersLeft:
        """What a new holder is told of the layers."""
        return LayersLeft(self.trash, self._uppers)

    async def ran(self, script: str) -> tuple[Layer, Effects]:
        """A layer in which the script was run, and what it did."""
        layer = await asyncio.to_thread(run_in_layer, self.home, self.root, script)
        return layer, await asyncio.to_thread(looked_at, layer, self.root)

    async def keep(
        self,
        layer: Layer,
        effects: Effects,
        *,
        only: Iterable[tuple[str, str]] | None = None,
        git: bool = False,
        protected: bool = False,
        call: str = "c1",
        session: str = "s1",
        trash: Trash | None = None,
    ) -> Kept:
        with open_uppers(layer) as uppers:
            return await keep(
                self.shelf.records,
                self.shelf.files.changes.by(Author(call, session, "ada")),
                {"project": self.shelf.mount},
                NewLayer(id=layer.id, session_id=session, call_id=call, started=layer.started),
                effects,
                uppers,
                trash=trash or self.trash,
                only=only,
                may_write_git=git,
                may_write_protected=protected,
            )

    async def do(self, script: str, *, call: str = "c1", git: bool = False, trash: Trash | None = None) -> Kept:
        """Run a script and keep all that it did."""
        return await self.keep(*await self.ran(script), call=call, git=git, trash=trash)

    def by(self, call: str, session: str = "s1") -> Files:
        """The files as a call has them."""
        return replace(self.shelf.files, changes=self.shelf.files.changes.by(Author(call, session, "ada")), trash=self.trash)

    async def crash_and_recover(self) -> tuple["Workbench", RecoveryReport]:
        shelf = self.shelf
        lease = await taken_over(shelf.database, shelf.records.workspace_id)
        again = shelved(shelf.mount, shelf.database, lease, shelf.records.content_folder)
        report = await recover(again.ledger, {"project": shelf.mount}, layers=self.left())
        return Workbench(again, self.home, self.upper_of), report

    async def keep_held(self, layer_id: str) -> Kept:
        """Keep what is pending, from what is on record alone."""
        records = self.shelf.records
        row = await layers.get(records.database, records.workspace_id, layer_id)
        assert row is not None
        layer = Layer(row.id, self.home / "layers" / row.id, row.started)
        return await self.keep(layer, await layers.effects(records.database, row))

    @contextmanager
    def _uppers(self, row: LayerRow) -> Generator[Mapping[str, int]]:
        with open_uppers(self.upper_of.get(row.id) or Layer(row.id, self.home / "layers" / row.id, row.started)) as uppers:
            yield uppers


def keeping_process(root: Path, address: str, workspace_id: str, home: Path, layer_id: str) -> ForkServerProcess:
    """A process that takes the workspace over and keeps a pending layer, unless it is killed before."""
    return _PROCESSES.Process(target=_keep_alone, args=(root, address, workspace_id, home, layer_id))


def _keep_alone(root: Path, address: str, workspace_id: str, home: Path, layer_id: str) -> None:
    async def run(mount: Mount) -> None:
        database = await open_database(address)
        lease = await taken_over(database, workspace_id)
        bench = Workbench(shelved(mount, database, lease, home / "content"), home)
        await bench.keep_held(layer_id)
        await database.close()

    with mounted(root) as mount:
        asyncio.run(run(mount))


def everything(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """All that is in a folder: what each entry is, its mode, and its bytes or where it leads."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for above, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = Path(above, name)
            about = path.lstat()
            mode = stat.S_IMODE(about.st_mode)
            if path.is_symlink():
                told = ("link", 0, os.fsencode(os.readlink(path)))
            elif path.is_dir():
                told = ("folder", mode, b"")
            else:
                told = ("file", mode, path.read_bytes())
            found[str(path.relative_to(root))] = told
    return found
