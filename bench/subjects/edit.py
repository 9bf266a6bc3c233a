"""Changing one line of a small file, so that it outlasts a power cut."""

import os
from collections.abc import AsyncGenerator, Callable
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.bench import Bench, Opened, require
from bench.engine import mounted
from bench.row import Row
from bench.server_filesystem import NotHere, Server, server_filesystem
from holdfast.workspace.changes import Changes
from holdfast.workspace.edit import replace
from holdfast.workspace.place import Place

_BODY = "".join(f"line {number}: what is written here does not matter\n" for number in range(80))


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """An edit beside the peer's, then beside the least that lasts."""
    folder = bench.folder / "edit"
    folder.mkdir(exist_ok=True)
    with server_filesystem(bench, folder) as server, mounted(folder) as place:
        async with bench.opened(folder) as opened:
            ours, engine, theirs, bare, written = (_file(folder, f"{name}.txt") for name in ("ours", "engine", "theirs", "bare", "written"))
            edit, bare_edit, engine_edit = _edits(opened, ours), _bare_edits(bare), _engine_edits(place(engine.name))
            await edit()
            bare_edit()
            require(ours.read_text() == bare.read_text() != _BODY, "what an edit leaves")
            yield await bench.row(
                "edit: one line of 4 KB, beside a peer",
                ours=edit,
                floor=("npm server-filesystem, not durable", None if isinstance(server, NotHere) else _their_edits(server, theirs)),
                goal=2,
                parts={"engine alone, two fsyncs": engine_edit},
                times=20,
                note=server.reason if isinstance(server, NotHere) else "",
            )
            yield await bench.row(
                "edit: one line of 4 KB, beside the bare steps",
                ours=edit,
                floor=("write, fsync, rename, fsync", bare_edit),
                parts={"whole file by fs.write": lambda: opened.call("fs.write", path=f"@project/{written.name}", content=_BODY)},
                times=20,
            )


def _file(folder: Path, name: str) -> Path:
    file = folder / name
    file.write_text(_BODY)
    return file


def _edits(opened: Opened, file: Path) -> Callable[[], Any]:
    turns = _turns()

    async def edit() -> object:
        old, new = next(turns)
        return await opened.call("edit", path=f"/{file.name}", old_string=old, new_string=new)

    return edit


def _engine_edits(place: Place) -> Callable[[], Any]:
    changes, turns = Changes(), _turns()
    return lambda: replace(changes, place, *next(turns))


def _their_edits(server: Server, file: Path) -> Callable[[], Any]:
    turns = _turns()

    def edit() -> object:
        old, new = next(turns)
        return server.call("edit_file", path=str(file), edits=[{"oldText": old, "newText": new}])

    return edit


def _bare_edits(file: Path) -> Callable[[], None]:
    turns, temporary = _turns(), file.with_suffix(".new")

    def edit() -> None:
        changed = file.read_text().replace(*next(turns))
        with temporary.open("w") as staged:
            staged.write(changed)
            staged.flush()
            os.fsync(staged.fileno())
        temporary.rename(file)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)

    return edit


def _turns() -> "cycle[tuple[str, str]]":
    """There and back again, so that every edit changes something."""
    return cycle((("line 40:", "line forty:"), ("line forty:", "line 40:")))
