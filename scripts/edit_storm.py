"""Sixteen clients edit one file with `last_read_hash`: no update may be lost, and no version may be missing."""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from running_server import HOLDFAST, Client, Server, database, environment, running

FILE = "/count.txt"


def edit_until_done(server: Server, left: list[int], lock: threading.Lock, counts: "Counter[str]") -> None:
    """Count up in the file, each time from what was read, until enough was counted."""
    client = Client(server)
    while True:
        with lock:
            if left[0] <= 0:
                return
            left[0] -= 1
        while True:
            _, read = client.call("read", path=FILE)
            number = int(read["result"]["content"])
            status, _ = client.call(
                "edit", path=FILE, old_string=f"{number}", new_string=f"{number + 1}", last_read_hash=read["result"]["hash"]
            )
            counts[str(status)] += 1
            if status == 200:
                break


def disturb(project: Path, home: Path, url: str | None, stop: threading.Event, counts: "Counter[str]") -> None:
    """Other processes on the same folder, all the while: their calls are passed on."""
    words = [*HOLDFAST, "call", "read", f"path={FILE}", "--project", str(project)]
    while not stop.is_set():
        done = subprocess.run(words, env=environment(home, url), capture_output=True, check=False)
        counts[f"second process: exit {done.returncode}"] += 1


def main() -> int:
    """Run the storm, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    counts, stop, began = Counter[str](), threading.Event(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, database(given.database) as url:
        project, home = Path(folder) / "project", Path(folder) / "home"
        project.mkdir()
        with running(project, home, url) as server:
            client = Client(server)
            _, made = client.call("write", path=FILE, content="0")
            left, lock = [given.edits], threading.Lock()
            threads = [threading.Thread(target=edit_until_done, args=(server, left, lock, counts)) for _ in range(given.clients)]
            other = threading.Thread(target=disturb, args=(project, home, url, stop, counts))
            for thread in (*threads, other):
                thread.start()
            for thread in threads:
                thread.join()
            stop.set()
            other.join()
            counted = int((project / FILE.strip("/")).read_text())
            history = f"/api/v1/workspaces/{server.workspace_id}/files/{made['result']['file_id']}/versions"
            _, found = Client(server).ask("GET", history)
            numbers = [each["number"] for each in found["versions"]]
    whole = sorted(numbers) == list(range(1, given.edits + 2))
    print(f"{given.database}: {given.clients} clients, {given.edits} edits in {time.monotonic() - began:.0f} s, answers {dict(counts)}")
    print(f"the file counts {counted}; {len(numbers)} versions, {'without a gap' if whole else 'WITH GAPS'}")
    return 0 if counted == given.edits and whole else 1


if __name__ == "__main__":
    sys.exit(main())
