"""The long race: links to the outside are swapped in and out while files are read, listed, written and searched; nothing may escape.

.venv/bin/python scripts/race.py --tries 1000000

Shows what came of the tries of each kind, and leaves with 1 if anything
escaped or went wrong. `--careless` runs the same race with a program
that checks a path before it opens it, which shows that the race is one.
"""

import argparse
import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.vocabulary.errors import HoldfastError
from holdfast.workspace.changes import Changes
from holdfast.workspace.listing import list_directory
from holdfast.workspace.match import Query
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.read import read
from holdfast.workspace.resolve import resolve
from holdfast.workspace.search import search
from holdfast.workspace.sight import Sight
from holdfast.workspace.write import write

# In a thousand tries. Starting ripgrep takes longer than a hundred of the others together.
MIX = {"read": 500, "list": 250, "write": 150, "grep": 98, "ripgrep": 2}
INSIDE, OUTSIDE = b"needle of the inside\n", b"needle of the outside\n"
FILES = ("file.txt", "folder/file.txt", "deep/a/b/file.txt")
FOLDERS = ("folder", "deep/a", "deep/a/b")
# What is swapped, the link in its place, and where that leads.
SWAPS = (("file.txt", "../outside/file.txt"), ("folder", "../outside/folder"), ("deep/a", "{outside}/a"))

_SWAPPER = """
import ctypes, os, sys
renameat2 = ctypes.CDLL(None).renameat2
pairs = [(os.fsencode(one), os.fsencode(one + ".link")) for one in sys.argv[1:]]
targets = [os.readlink(other) for _, other in pairs]
print("ready", flush=True)
turns = 0
while os.getppid() != 1:
    for one, other in pairs:
        renameat2(-100, one, -100, other, 2)
    turns += 1
    if turns % 200 == 0:
        # A write may have come in just when the link was there, and then it is gone.
        for (one, other), target in zip(pairs, targets):
            if not os.path.islink(one) and not os.path.islink(other) and os.path.isfile(other):
                os.unlink(other)
                os.symlink(target, other)
"""


@dataclass
class Tally:
    """What came of the tries of one kind."""

    tries: int = 0
    done: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    escapes: int = 0
    faults: list[str] = field(default_factory=list[str])

    def add(self, other: "Tally") -> None:
        """Count another's tries with these."""
        self.tries += other.tries
        self.done += other.done
        self.refused += other.refused
        self.escapes += other.escapes
        self.faults += other.faults


def main(words: list[str]) -> int:
    """Run the race and show what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tries", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--careless", action="store_true", help="race with a program that is known to lose")
    given = parser.parse_args(words)
    began = time.monotonic()
    tallies = run(given.tries, processes=given.processes, careless=given.careless)
    seconds = time.monotonic() - began
    print(f"{'kind':<10}{'tries':>10}{'done':>10}{'refused':>10}{'escapes':>10}")
    for kind, tally in [*tallies.items(), ("all", _sum(tallies))]:
        print(f"{kind:<10}{tally.tries:>10,}{tally.done:>10,}{tally.refused.total():>10,}{tally.escapes:>10,}")
    whole = _sum(tallies)
    print(f"refused as: {', '.join(f'{code} {count:,}' for code, count in whole.refused.most_common())}")
    print(f"{whole.tries:,} tries, {whole.escapes:,} escapes, {len(whole.faults)} faults, {seconds:.0f} s")
    for fault in whole.faults[:10]:
        print(f"fault: {fault}")
    return 1 if whole.escapes or whole.faults else 0


def run(tries: int, *, processes: int = 1, careless: bool = False) -> dict[str, Tally]:
    """Race so many times, and give what came of each kind."""
    tallies = {kind: Tally() for kind in ("read",) if careless} or {kind: Tally() for kind in MIX}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as room:
        lay_out(Path(room))
        before = look(Path(room) / "outside")
        shares = [(room, tries // processes + (number < tries % processes), careless) for number in range(processes)]
        with swapping(Path(room) / "root", [path for path, _ in SWAPS]):
            if processes == 1:
                results = [_race(*shares[0])]
            else:
                with multiprocessing.get_context("spawn").Pool(processes) as pool:
                    results = pool.starmap(_race, shares)
        for result in results:
            for kind, tally in result.items():
                tallies[kind].add(tally)
        if look(Path(room) / "outside") != before:
            tallies["read" if careless else "write"].escapes += 1
    return tallies


def lay_out(room: Path) -> None:
    """A root with files and folders, links beside them that lead out, and the outside."""
    for top, text in (("root", INSIDE), ("outside", OUTSIDE)):
        for path in (*FILES, "a/b/file.txt"):
            file = room / top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
        (room / top / "folder" / f"{top}.txt").write_bytes(text)
    for path, target in SWAPS:
        (room / "root" / f"{path}.link").symlink_to(target.format(outside=room / "outside"))


def look(folder: Path) -> list[tuple[str, int, bytes]]:
    """All that is in a folder: names, times and bytes."""
    found = sorted(folder.rglob("*"))
    return [(str(path), path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in found]


@contextmanager
def swapping(root: Path, paths: list[str]) -> Generator[None]:
    """Have another process exchange each path with the link beside it, over and over."""
    command = [sys.executable, "-S", "-c", _SWAPPER, *(str(root / path) for path in paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        try:
            yield
        finally:
            swapper.kill()


def _race(room: str, tries: int, careless: bool) -> dict[str, Tally]:
    """One process's share of the tries."""
    if careless:
        return {"read": asyncio.run(_tried(lambda: _read_carelessly(Path(room) / "root"), tries))}
    return asyncio.run(_race_all(Path(room), tries))


async def _race_all(room: Path, tries: int) -> dict[str, Tally]:
    mount = Mount("project", room / "root")
    players = _Players(mount)
    kinds: dict[str, Callable[[], Awaitable[bytes]]] = {
        "read": players.read,
        "list": players.list,
        "write": players.write,
        "grep": lambda: players.search(Query("needle", regex=False)),
        "ripgrep": lambda: players.search(Query("n[e]edle")),
    }
    tallies = {kind: Tally() for kind in kinds}
    left = {kind: tries * MIX[kind] // 1000 for kind in kinds}
    left["read"] += tries - sum(left.values())
    try:
        while any(left.values()):
            # In turns and not one kind after the other, so that writes come between reads.
            for kind, play in kinds.items():
                some = min(left[kind], MIX[kind])
                tallies[kind].add(await _tried(play, some))
                left[kind] -= some
        return tallies
    finally:
        mount.close()


async def _tried(play: Callable[[], Awaitable[bytes]], times: int) -> Tally:
    tally = Tally(times)
    for _ in range(times):
        try:
            seen = await play()
        except HoldfastError as error:
            tally.refused[error.code] += 1
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is what we look for
            tally.faults.append(repr(error))
        else:
            tally.done += 1
            tally.escapes += b"outside" in seen
    return tally


@dataclass(frozen=True)
class _Players:
    """The engine's operations on paths that somebody swaps for links; each gives what it saw."""

    mount: Mount
    changes: Changes = field(default_factory=Changes)

    async def read(self) -> bytes:
        return (await read(await self._place(FILES), max_bytes=1_000, surveyed=False)).data

    async def list(self) -> bytes:
        return b"\n".join(entry.name.encode() for entry in await list_directory(await self._place(FOLDERS), Sight()))

    async def write(self) -> bytes:
        await write(self.changes, await self._place(FILES), INSIDE)
        return b""

    async def search(self, query: Query) -> bytes:
        found = await search(await self._place(FOLDERS), query, Sight())
        return b"\n".join(match.text.encode() for match in found.matches)

    async def _place(self, paths: tuple[str, ...]) -> Place:
        path = random.choice(paths)
        return await resolve(self.mount, path, written=path)


async def _read_carelessly(root: Path) -> bytes:
    """As a program does that asks where a path leads before it opens it."""
    return _looked_at_then_opened(str(root / random.choice(FILES)), f"{root}/")


def _looked_at_then_opened(path: str, root: str) -> bytes:
    try:
        return Path(path).read_bytes() if os.path.realpath(path).startswith(root) else b""
    except OSError:
        return b""


def _sum(tallies: dict[str, Tally]) -> Tally:
    whole = Tally()
    for tally in tallies.values():
        whole.add(tally)
    return whole


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
