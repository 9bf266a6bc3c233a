"""A keep that was promised is finished by whoever comes next, and one that was not has not begun, whenever the process dies."""

import asyncio
import os
import random
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from holdfast.sandbox import discard
from holdfast.sandbox.layer import Layer
from holdfast.store import layers
from holdfast.store.database import Database
from holdfast.store.layers import LayerRow
from holdfast.store.opening import open_database
from holdfast.workspace import changes, keep_apply
from holdfast.workspace.keep import Keeper
from holdfast.workspace.keep_apply import Apply
from holdfast.workspace.keep_steps import Step
from holdfast.workspace.mount import Mount
from tests.sandbox.layers import looked_at, run_in_layer
from tests.store.scene import new_workspace
from tests.workspace.dying import Killed
from tests.workspace.keeping import Workbench, everything, keeping_process
from tests.workspace.shelf import Shelf, shelved, taken_over
from tests.workspace.writing import leftovers

SCRIPT = """
for n in $(seq 40); do echo new $n >changed$n; mv moved$n into$n; rm gone$n; mkdir -p new/$n; echo n >new/$n/n; chmod 751 mode$n; done
rm -r d; echo file >d; rm file; mkdir file; echo f >file/f; ln -sfn d link; chmod 700 kept
rm -r ignored/whole; echo new >ignored/changed; rm ignored/gone; mkdir ignored/new; echo a >ignored/new/a; mv ignored/moved ignored/into
"""


def fill(root: Path) -> None:
    for number in range(1, 41):
        for name in ("changed", "moved", "gone", "mode"):
            (root / f"{name}{number}").write_text(f"{name} {number}\n")
    (root / "d/deep").mkdir(parents=True)
    (root / "d/deep/x").write_text("x\n")
    (root / "kept").mkdir()
    (root / "file").write_text("a file\n")
    (root / "link").symlink_to("file")
    (root / ".gitignore").write_text("ignored\n")
    (root / "ignored/whole/deep").mkdir(parents=True)
    for name in ("whole/deep/x", "changed", "gone", "moved"):
        (root / "ignored" / name).write_text(f"{name}\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
async def bench(shelf: Shelf, home: Path) -> Workbench:
    fill(shelf.root)
    return Workbench(shelf, home)


def plainly(root: Path, home: Path, script: str = SCRIPT) -> dict[str, tuple[str, int, bytes]]:
    """What the folder is after the script was run in it, without any layer."""
    twin = home / "twin"
    shutil.copytree(root, twin, symlinks=True)
    subprocess.run(["sh", "-c", script], cwd=twin, check=True)
    return everything(twin)


_CALLS = ("rename", "mkdir", "unlink", "link", "symlink", "rmdir", "chmod")


class _Stops:
    """Dies at the nth moment that matters: right before or right after something changes on the disk."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed

    def instead(self, _: Iterable[Step]) -> None:
        self()

    def around(self, call: Callable[..., None]) -> Callable[..., None]:
        def called(*arguments: object, **named: object) -> None:
            self()
            call(*arguments, **named)
            self()

        return called


def _fill_little(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    (root / "d/deep").mkdir(parents=True)
    (root / "i/whole").mkdir(parents=True)
    (root / ".gitignore").write_text("i\n")
    for name in ("changed", "moved", "gone", "mode", "file", "d/deep/x", "i/whole/x", "i/changed", "i/other", "i/gone", "i/moved"):
        (root / name).write_text(f"{name}\n")
    (root / "link").symlink_to("file")


LITTLE = """
echo new >changed; mv moved into; rm gone; chmod 711 mode; mkdir -p n/n; echo n >n/n/n; chmod 700 n; rm -r d; echo file >d; rm file
mkdir file; echo f >file/f; ln -sfn d link; rm -r i/whole; echo new >i/other; rm i/gone; mv i/moved i/into; rm i/changed; mkdir i/changed
echo a >i/changed/a
"""


async def test_a_keep_that_dies_at_some_moment_is_finished(
    database: Database, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _die_and_finish(database, home, root, monkeypatch, every=5 if database.embedded else 17)


@pytest.mark.long
async def test_a_keep_that_dies_at_any_moment_is_finished(
    database: Database, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _die_and_finish(database, home, root, monkeypatch, every=1)


async def _die_and_finish(database: Database, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch, *, every: int) -> None:
    _fill_little(root)
    layer = await asyncio.to_thread(run_in_layer, home, root, LITTLE)
    effects = await asyncio.to_thread(looked_at, layer, root)
    expected, moment, is_over = plainly(root, home, LITTLE), 0, False
    while not is_over:
        moment += every
        _fill_little(root)
        mount = Mount("project", root)
        held = await taken_over(database, await new_workspace(database))
        bench = Workbench(shelved(mount, database, held, home / "content"), home)
        later = Layer(str(moment), layer.folder, {"project": 1 << 62})
        stops = _Stops(moment)
        with monkeypatch.context() as patch:
            patch.setattr(keep_apply, "rename_new", stops.around(keep_apply.rename_new))
            for name in _CALLS:
                patch.setattr(os, name, stops.around(getattr(os, name)))
            try:
                await bench.keep(later, effects)
                is_over = True
            except Killed:
                pass
        bench.upper_of[later.id] = layer

        again, report = await bench.crash_and_recover()

        assert everything(root) == expected, f"moment {moment}"
        assert report.layers is not None
        assert (report.layers.finished, report.layers.failed) == (int(not is_over), 0)
        kinds = {path: await _kinds(again, path) for path in ("into", "changed", "d", "file", "file/f", "link", "mode")}
        assert kinds == {
            "into": ["baseline", "move"],
            "changed": ["baseline", "command"],
            "d": ["command"],
            "file": ["mkdir"],
            "file/f": ["command"],
            "link": ["baseline", "command"],
            "mode": ["baseline", "mode"],
        }
        mount.close()
    assert moment > 50


async def _kinds(bench: Workbench, path: str) -> list[str]:
    item = await bench.shelf.files.item(bench.shelf.at(path, follow=False))
    return await bench.shelf.kinds(item.file_id or "")


async def test_what_somebody_did_after_the_crash_is_kept_and_becomes_known(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    stops = _Stops(1)
    monkeypatch.setattr(Apply, "all", stops.instead)
    with pytest.raises(Killed):
        await bench.do("echo new >changed1; echo new >changed2; rm gone1; echo new >added")
    monkeypatch.undo()
    for name in ("changed1", "gone1", "added"):
        (bench.root / name).write_text("theirs\n")

    again, report = await bench.crash_and_recover()

    told = {name: (bench.root / name).read_text() for name in ("changed1", "changed2", "gone1", "added")}
    assert told == {"changed1": "theirs\n", "changed2": "new\n", "gone1": "theirs\n", "added": "theirs\n"}
    assert (await again.shelf.files.view(again.shelf.at("added"))).content == "theirs\n"
    item = await again.shelf.files.item(again.shelf.at("changed1"))
    assert await again.shelf.kinds(item.file_id or "") == ["baseline", "command", "external"]
    assert report.layers is not None
    assert report.layers.finished == 1


async def test_a_promised_keep_whose_upper_is_gone_comes_from_the_store(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    stops = _Stops(1)
    monkeypatch.setattr(Apply, "all", stops.instead)
    layer, effects = await bench.ran("echo new >changed1; echo new >added; ln -s x l; mv moved1 m; rm gone1")
    with pytest.raises(Killed):
        await bench.keep(layer, effects)
    monkeypatch.undo()
    (layer.upper("project") / "changed1").write_bytes(b"\0\0\0\0")
    (layer.upper("project") / "added").unlink()

    again, _ = await bench.crash_and_recover()

    assert {name: (again.root / name).read_text() for name in ("changed1", "added", "m")} == {
        "changed1": "new\n",
        "added": "new\n",
        "m": "moved 1\n",
    }
    assert not (again.root / "gone1").exists()


async def test_a_promised_keep_whose_layer_is_gone_comes_from_the_store(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Apply, "all", _Stops(1).instead)
    layer, effects = await bench.ran("echo new >changed1; mkdir n; echo new >n/added; echo ignored >ignored/new")
    with pytest.raises(Killed):
        await bench.keep(layer, effects)
    monkeypatch.undo()
    discard.remove(layer.folder)

    again, report = await bench.crash_and_recover()

    assert (again.shelf.text("changed1"), again.shelf.text("n/added")) == ("new\n", "new\n")
    assert not (again.root / "ignored/new").exists()
    assert report.layers is not None
    assert (report.layers.finished, report.layers.failed) == (1, 0)


async def test_a_keep_that_was_not_promised_has_not_begun(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    layer, effects = await bench.ran(SCRIPT)
    records = bench.shelf.records
    new = layers.NewLayer(id=layer.id, session_id="s1", call_id="c1", started=layer.started)
    await layers.hold(records.database, records.lease, new, effects)
    running = layers.NewLayer(id="other", started={})
    await layers.add(records.database, records.lease, running)
    before = everything(bench.root)

    async def dies(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(Keeper, "_commit", dies)
    monkeypatch.setattr(layers, "move", _only_forward(layers.move))
    with pytest.raises(Killed):
        await bench.keep(layer, effects)
    monkeypatch.undo()
    assert await bench.shelf.rows("SELECT state FROM layers ORDER BY state") == [("keeping",), ("running",)]

    again, report = await bench.crash_and_recover()

    assert everything(again.root) == before
    assert report.layers is not None
    assert (report.layers.finished, report.layers.pending) == (0, frozenset({layer.id}))
    kept = await again.keep_held(layer.id)
    assert (kept.conflicts, len(kept.kept)) == ((), len(effects))
    assert await again.shelf.rows("SELECT state FROM layers ORDER BY state") == [("dropped",), ("settled",)]


async def test_other_calls_wait_for_a_keep_and_find_its_files(bench: Workbench) -> None:
    layer, effects = await bench.ran(SCRIPT)

    keeping = asyncio.create_task(bench.keep(layer, effects))
    await _until(bench.shelf.database, "SELECT 1 FROM layers")
    saved = await bench.shelf.files.replace_saved(bench.shelf.at("changed40"), "new 40", "edited")
    await keeping

    assert (bench.root / "changed40").read_text() == "edited\n"
    assert await bench.shelf.kinds(saved.file_id) == ["baseline", "command", "edit"]


async def test_a_keep_whose_caller_leaves_is_done_or_not_begun(bench: Workbench, home: Path) -> None:
    before, expected = everything(bench.root), plainly(bench.root, home)
    layer, effects = await bench.ran(SCRIPT)

    keeping = asyncio.create_task(bench.keep(layer, effects))
    await asyncio.sleep(0.02)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    await bench.shelf.files.changes.finish()

    assert everything(bench.root) in (before, expected)


async def test_a_keep_whose_caller_leaves_after_the_promise_is_done(bench: Workbench, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plainly(bench.root, home)
    layer, effects = await bench.ran(SCRIPT)
    # Whoever leaves closes the uppers at once.
    monkeypatch.setattr(changes, "_WAIT_AFTER_CANCEL_SECONDS", 0.0)

    keeping = asyncio.create_task(bench.keep(layer, effects))
    await _until(bench.shelf.database, "SELECT 1 FROM layers WHERE state = 'committed'")
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    await bench.shelf.files.changes.finish()

    assert everything(bench.root) == expected
    assert await bench.shelf.rows("SELECT state FROM layers") == [("settled",)]


async def test_a_killed_process_leaves_all_or_nothing(mount: Mount, sqlite_url: str, home: Path) -> None:
    await _kill_keepers(mount, sqlite_url, home, times=1, seed=3)


@pytest.mark.long
async def test_a_process_killed_hundreds_of_times_leaves_all_or_nothing(mount: Mount, address: str, home: Path) -> None:
    assert await _kill_keepers(mount, address, home, times=150, seed=4) > 10


async def _kill_keepers(mount: Mount, address: str, home: Path, *, times: int, seed: int) -> int:
    """How often the recovery had something to finish."""
    randomly, finished = random.Random(seed), 0
    database = await open_database(address)
    for number in range(times):
        _fill_anew(mount.root, home)
        expected = plainly(mount.root, home)
        workspace_id = await new_workspace(database)
        lease = await taken_over(database, workspace_id)
        layer = await asyncio.to_thread(run_in_layer, home, mount.root, SCRIPT)
        effects = await asyncio.to_thread(looked_at, layer, mount.root)
        new = layers.NewLayer(id=layer.id, call_id="c1", started=layer.started)
        await layers.hold(database, lease, new, effects)

        process = keeping_process(mount.root, address, workspace_id, home, layer.id)
        process.start()
        # Half of them before the promise, half of them after it.
        states = "'keeping', 'committed', 'settled'" if number % 2 else "'committed', 'settled'"
        await _until(database, f"SELECT 1 FROM layers WHERE id = '{layer.id}' AND state IN ({states})")
        await asyncio.sleep(randomly.uniform(0.0, 0.05))
        await asyncio.to_thread(_kill, process)
        bench = Workbench(shelved(mount, database, await taken_over(database, workspace_id), home / "content"), home)
        again, report = await bench.crash_and_recover()

        assert report.layers is not None
        assert report.layers.failed == 0
        finished += report.layers.finished
        if report.layers.pending:
            kept = await again.keep_held(layer.id)
            assert kept.conflicts == (), f"round {number} had begun before it was promised"
        assert everything(mount.root) == expected
        assert leftovers(mount.root) == []
    await database.close()
    return finished


def _fill_anew(root: Path, home: Path) -> None:
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    discard.remove(home)
    home.mkdir()
    fill(root)


def _kill(process: ForkServerProcess) -> None:
    process.kill()
    process.join()
    process.close()


async def _until(database: Database, sql: str) -> None:
    """Wait until there is such a row."""
    async with asyncio.timeout(60):
        while not await database.scan(sql):  # noqa: ASYNC110 - nobody in this process would tell
            await asyncio.sleep(0.001)


def _only_forward(move: Callable[..., Awaitable[LayerRow]]) -> Callable[..., Awaitable[LayerRow | None]]:
    async def only_forward(*arguments: object, to: str, only_from: object) -> LayerRow | None:
        # A process that is gone does not put anything back.
        return await move(*arguments, to=to, only_from=only_from) if to == "keeping" else None

    return only_forward
