"""Kill -9 a real server with writers at work, again and again, and look whether anything acknowledged was lost.

Every file has one writer, who numbers what he writes. After each start
the file must hold the last number that was acknowledged, or a later one
that was sent; whole, and equal to its newest version. Nothing of ours
may lie about.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from running_server import Client, Server, database, start

FILES_PER_WRITER = 5
PADDING = 3000


@dataclass
class Memory:
    """What a writer knows of one file: the last number that was acknowledged, and the last that was sent."""

    acknowledged: int = -1
    sent: int = -1


@dataclass
class Run:
    """Everything that is counted."""

    seed: int
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    counts: Counter[str] = field(default_factory=Counter[str])
    ready: list[float] = field(default_factory=list[float])


def content(path: str, number: int) -> str:
    """What a writer writes: recognisable, and long enough to be torn."""
    return f"{path} {number}\n" + f"{number:08d} " * (PADDING // 9) + "\nend\n"


def write_until_it_ends(server: Server, paths: list[str], run: Run, seed: int) -> None:
    """Write to these files, until the server is gone."""
    chance, client = random.Random(seed), Client(server)
    try:
        while True:
            path = chance.choice(paths)
            memory = run.memories[path]
            memory.sent += 1
            status, _ = client.call("file_write", path=path, content=content(path, memory.sent))
            if status == 200:
                memory.acknowledged = memory.sent
                run.counts["acknowledged"] += 1
            else:
                run.counts["refused"] += 1
    except (OSError, ValueError, json.JSONDecodeError):
        return
    except Exception as error:  # noqa: BLE001 - http.client raises many kinds when a server dies in the middle
        run.counts[f"ended by {type(error).__name__}"] += 1


def check(server: Server, project: Path, run: Run) -> None:
    """Compare disk, versions and what was acknowledged."""
    client = Client(server)
    for path, memory in run.memories.items():
        file = project / path
        text = file.read_text() if file.exists() else None
        if text is None:
            run.counts["lost"] += memory.acknowledged >= 0
            continue
        number = int(text.split("\n", 1)[0].rpartition(" ")[2])
        run.counts["torn"] += text != content(path, number)
        run.counts["lost"] += not memory.acknowledged <= number <= memory.sent
        memory.acknowledged = memory.sent = number
        status, answer = client.call("read", path=f"/{path}", limit=0)
        said: dict[str, object] = answer["result"] if status == 200 else {}
        run.counts["disk is not the newest version"] += said.get("content") != text or not said.get("synced")
    run.counts["leftovers"] += sum(1 for found in project.rglob(".holdfast-*") if found.is_file())


def cycle(project: Path, home: Path, url: str | None, run: Run, number: int, writers: int) -> None:
    """One life of the server."""
    server = start(project, home, url)
    run.ready.append(server.seconds_to_ready)
    check(server, project, run)
    paths = list(run.memories)
    shares = [paths[each::writers] for each in range(writers)]
    threads = [
        threading.Thread(target=write_until_it_ends, args=(server, share, run, run.seed * 1_000_000 + number * 100 + each))
        for each, share in enumerate(shares)
    ]
    for thread in threads:
        thread.start()
    time.sleep(random.Random(run.seed + number).uniform(0.02, 0.6))
    server.kill()
    for thread in threads:
        thread.join()


def main() -> int:
    """Run the cycles, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=500)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    run = Run(given.seed)
    run.memories = {f"w{writer}/f{each}.txt": Memory() for writer in range(given.writers) for each in range(FILES_PER_WRITER)}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, database(given.database) as url:
        project, home = Path(folder) / "project", Path(folder) / "home"
        project.mkdir()
        for number in range(given.cycles):
            cycle(project, home, url, run, number, given.writers)
            if (number + 1) % 25 == 0:
                print(f"{number + 1} cycles, {dict(run.counts)}", flush=True)
        server = start(project, home, url)
        check(server, project, run)
        server.stop()
    ready = sorted(run.ready)
    late = sum(1 for seconds in ready if seconds > 2)
    print(f"{given.database}: {given.cycles} cycles in {time.monotonic() - began:.0f} s, {dict(run.counts)}")
    print(f"ready after: median {ready[len(ready) // 2]:.2f} s, longest {ready[-1]:.2f} s, over 2 s: {late}")
    bad = sum(run.counts[what] for what in ("lost", "torn", "leftovers", "disk is not the newest version"))
    print("FAILED" if bad else "nothing was lost, torn or left lying about")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
