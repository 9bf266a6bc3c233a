"""A small file, read along the whole road."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from bench.bench import Bench, Opened, require
from bench.data import make_tree, tree_paths
from bench.engine import mounted
from bench.measure import Work
from bench.row import Row
from bench.server_filesystem import NotHere, Server, server_filesystem
from holdfast.workspace.place import Place
from holdfast.workspace.read import read


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """Beside a plain read, and beside a server that does the same over a pipe."""
    few = make_tree(bench.folder / "few", 50)
    with server_filesystem(bench, few) as server, mounted(few) as place:
        async with bench.opened(few) as opened:
            yield await _row(bench, opened, place, few, server)


async def _row(bench: Bench, opened: Opened, place: Callable[[str], Place], few: Path, server: Server | NotHere) -> Row:
    file = next(tree_paths(few, 50))
    path = str(file.relative_to(few))
    require(await opened.call("read_file", path=path) == {"output": file.read_text()}, "what read_file reads")
    peers: dict[str, Work] = {}
    if not isinstance(server, NotHere):
        require(server.call("read_text_file", path=str(file)) == file.read_text(), "what server-filesystem reads")
        peers["npm server-filesystem"] = lambda: server.call("read_text_file", path=str(file))
    return await bench.row(
        "read: a file of 4 KB, read_file",
        ours=lambda: opened.call("read_file", path=path),
        floor=("Path.read_text", file.read_text),
        peers=peers,
        parts={
            "engine": lambda: read(place(path), max_bytes=100_000, surveyed=False),
            "with hash, fs.read": lambda: opened.call("fs.read", path=f"@project/{path}"),
        },
        times=100,
        note=server.reason if isinstance(server, NotHere) else "",
    )
