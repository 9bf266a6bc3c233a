"""Any history of changes, crashes and other people's doings ends with disk and store agreeing."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import HoldfastError
from holdfast.workspace.files import Files
from tests.workspace.dying import Killed, dying
from tests.workspace.shelf import Shelf
from tests.workspace.writing import leftovers, sha256

_PATHS = ("a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a")
_STEPS = 60


@pytest.mark.parametrize("seed", [3, 83, 379])
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with others"])
async def test_disk_and_store_agree_after_every_recovery(shelf: Shelf, seed: int, *, alone: bool) -> None:
    chance = random.Random(seed)
    for _ in range(_STEPS):
        if not alone and chance.random() < 0.15:
            _interfere(shelf.root, chance)
        try:
            with suppress(HoldfastError):
                await _change(dying(shelf) if chance.random() < 0.15 else shelf.files, shelf, chance)
        except Killed:
            if not alone and chance.random() < 0.3:
                _interfere(shelf.root, chance)
            shelf, report = await shelf.crash_and_recover()
            assert report.failed == 0
            await _check(shelf, alone=alone)
        if chance.random() < 0.1:
            await shelf.ledger.flush()

    await shelf.ledger.close()

    await _check(shelf, alone=alone)
    assert await shelf.rows("SELECT count(*) FROM versions WHERE state = 'pending'") == [(0,)]


async def _change(files: Files, shelf: Shelf, chance: random.Random) -> None:
    place, text = shelf.at(chance.choice(_PATHS)), f"{chance.random()}\n" * chance.randrange(100)
    match chance.randrange(9):
        case 0:
            await files.save(place, text, overwrite=True)
        case 1:
            await files.save(place, {"value": text}, overwrite=chance.random() < 0.5)
        case 2:
            await files.insert_saved(place, 0, text)
        case 3:
            await files.discard(place)
        case 4:
            await files.relocate(place, shelf.at(chance.choice(_PATHS)))
        case 5:
            await files.touch_item(place)
        case 6:
            await files.make_folder(place)
        case 7:
            for item in (await files.deleted_items())[:1]:
                await files.undelete(item.file_id or "")
        case _:
            item = await files.item(place)
            for version in (await files.history(item.file_id or ""))[-1:]:
                await files.restore(version.file_id, version.version_id)


def _interfere(root: Path, chance: random.Random) -> None:
    path = root / chance.choice(_PATHS)
    with suppress(OSError):
        match chance.randrange(4):
            case 0:
                path.write_text(f"theirs {chance.random()}")
            case 1:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            case 2:
                path.mkdir()
            case _:
                path.rename(root / chance.choice(_PATHS))


async def _check(shelf: Shelf, *, alone: bool) -> None:
    assert leftovers(shelf.root) == []
    for count, newest in await shelf.rows("SELECT count(*), max(number) FROM versions GROUP BY file_id"):
        assert count == newest, "a gap in the versions"
    if not alone:
        return
    sql = "SELECT f.path, h.hash FROM files f LEFT JOIN heads h ON h.file_id = f.id WHERE f.deleted_at IS NULL"
    disk = {str(path.relative_to(shelf.root)): sha256(path.read_bytes()) if path.is_file() else None for path in shelf.root.rglob("*")}
    assert dict(await shelf.rows(sql)) == disk
