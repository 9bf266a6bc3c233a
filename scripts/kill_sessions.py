"""Kill -9 a real server in the middle of a scripted session, again and again, and look whether the session goes on.

One conversation after the other: words in pieces, reads, writes, an edit,
a command with effects, an approval and a question. The server is killed
at random moments and started again until the conversation is over. Then:
each conversation has one start and one end, its events are numbered
without gaps, no call was begun twice, each call has one result, and what
is said to be done is there, once.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from running_server import Client, Server, database, start
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

WRITES = 3
QUESTION = {
    "name": "colour",
    "question": "Which?",
    "schema": {"type": "string"},
    "buttons": [{"label": "Blue", "value": "blue"}],
}


def call(tool: str, **arguments: object) -> dict[str, object]:
    """A call of the script."""
    return {"call": tool, "with": arguments}


def answers(name: str) -> list[list[object]]:
    """What the model says in the conversation of that name: every call leaves something that can be counted."""
    words: list[object] = [{"say": f"word{number} "} for number in range(20)]
    slowly: list[object] = [step for word in words for step in (word, {"delay": 0.01})]
    return [
        [*slowly, call("read", path="/seen.md"), call("ls", path="/")],
        *[_written(name, each) for each in range(WRITES)],
        [call("edit", path=f"/{name}/w0.txt", old_string="0\n", new_string="0\nedited\n")],
        [call("bash", command=f"echo ran >> {name}/bash.txt; sleep 0.1")],
        [call("ask_user", questions=[QUESTION])],
        [call("read", path=f"/{name}/w0.txt"), call("read", path=f"/{name}/w1.txt"), call("grep", pattern="edited")],
        [call("bash", command=f"echo more >> {name}/bash.txt")],
        [*slowly, {"say": "Done."}],
    ]


def _written(name: str, each: int) -> list[object]:
    return [{"say": "I write. "}, {"delay": 0.05}, call("write", path=f"/{name}/w{each}.txt", content=f"{each}\n")]


@dataclass
class Run:
    """Everything that is counted."""

    seed: int
    stops: float = 0.0
    kills: int = 0
    fruitless: bool = False
    counts: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])


@dataclass
class Life:
    """What is heard of a conversation while a server lives: the newest number, and how it ends."""

    newest: int = 0
    moved: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def hear(self, seq: int | None, known: int) -> None:
        """Take note of a number; `known` is the newest that an earlier server told."""
        self.newest = max(self.newest, seq or 0)
        if self.newest > known:
            self.moved.set()


def watch(server: Server, name: str, life: Life, known: int) -> None:
    """Watch a conversation until it or the server is at its end; on a busy machine that may take more than one connection."""
    while server.process.poll() is None and not life.over.is_set():
        talk(server, name, life, known)


def talk(server: Server, name: str, life: Life, known: int) -> None:
    """Watch a conversation, say yes and answer, until it or the connection is at its end."""
    address = f"ws://127.0.0.1:{server.port}/ws/chat?workspace={server.workspace_id}"
    try:
        with connect(address, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None, open_timeout=30) as line:

            def say(kind: str, **payload: object) -> None:
                line.send(json.dumps({"type": kind, "payload": payload}))

            # A message that the server was killed before it had taken is sent again; there may be a session all the same.
            if _has_events(server, name):
                say("chat:resume", conversationId=name)
            else:
                say("chat:send", conversationId=name, content=f"go {name}")
            while True:
                frame = json.loads(line.recv())
                told: dict[str, Any] = frame["payload"]
                life.hear(frame.get("seq"), known)
                match frame["type"]:
                    case "chat:tool-confirm":
                        more = {"effectsHash": told["effectsHash"]} if "effectsHash" in told else {}
                        say("chat:tool-approve", approvalId=told["approvalId"], approved=True, **more)
                    case "chat:question":
                        say("chat:answer", questionId=told["questionId"], answers={"colour": "blue"})
                    case "chat:stream-end":
                        life.over.set()
                        return
                    case _:
                        pass
    except (OSError, HTTPException, ConnectionClosed, WebSocketException, TimeoutError):
        return


def _has_events(server: Server, name: str) -> bool:
    status, found = Client(server).ask("GET", f"{_session(server, name)}/events?limit=1")
    return status == 200 and bool(found)


def live(server: Server, name: str, run: Run, chance: random.Random | None, known: int) -> tuple[bool, int]:
    """One life of the server, to the end of the conversation, or to a random moment; tells whether it is over, and the newest number.

    When the last life brought nothing new, this one lasts until something
    is: three such in a row would leave the conversation to a person.
    """
    life = Life()
    watching = threading.Thread(target=watch, args=(server, name, life, known))
    watching.start()
    if run.fruitless and chance is not None:
        life.moved.wait(30)
    is_over = life.over.wait(120 if chance is None else chance.uniform(0.0, 1.2))
    if not is_over:
        if chance is not None and chance.random() < run.stops:
            server.stop()
        else:
            server.kill()
        run.kills += 1
        if chance is None:
            run.problems.append(f"{name} did not come to its end")
    watching.join()
    run.fruitless = not life.moved.is_set()
    return is_over, max(known, life.newest)


def check(server: Server, project: Path, name: str, run: Run) -> None:
    """Compare the log, the audit's rows and the files."""
    client = Client(server)
    events = _events(client, _session(server, name))
    kinds = Counter(event["type"] for event in events)
    seqs = [event["seq"] for event in events]
    _expect(run, seqs == list(range(1, len(seqs) + 1)), f"{name}: events are not numbered once each: {seqs}")
    _expect(run, kinds["chat:stream-start"] == kinds["chat:stream-end"], f"{name}: {kinds}")
    results = Counter(event["payload"]["toolId"] for event in events if event["type"] == "chat:tool-result")
    started = Counter(event["payload"]["toolId"] for event in events if event["type"] == "chat:tool-start")
    for what, counted in (("results", results), ("starts", started)):
        _expect(run, all(count == 1 for count in counted.values()), f"{name}: {what} more than once: {counted}")
    said = {event["payload"]["toolId"]: event["payload"] for event in events if event["type"] == "chat:tool-result"}
    blocks = [block for event in events if event["type"] == "message" for block in event["payload"].get("blocks", [])]
    names = {block["id"]: block for block in blocks if block["type"] == "call"}
    _expect(run, set(names) == set(said), f"{name}: calls and results differ: {set(names) ^ set(said)}")
    run.counts["calls"] += len(names)
    run.counts["told what happened"] += sum("program ended" in told["result"] for told in said.values())
    bash = project / name / "bash.txt"
    ran = [told for call_id, told in said.items() if names[call_id]["name"] == "bash"]
    done = sum(told["status"] == "success" for told in ran)
    lines = bash.read_text().splitlines() if bash.exists() else []
    is_right = len(lines) == len(set(lines)) == done
    _expect(run, is_right, f"{name}: bash left {lines}, and was said to be done {done} times: {ran}")
    for each in range(WRITES):
        _check_write(client, project, name, each, said, names, run)
    for kind, counted in _audit(server, project, name).items():
        _expect(run, counted == 1, f"{name}: {kind} is {counted} times in the audit")


def _session(server: Server, name: str) -> str:
    return f"/api/v1/workspaces/{server.workspace_id}/sessions/{name}"


def _events(client: Client, base: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while page := client.ask("GET", f"{base}/events?after={found[-1]['seq'] if found else 0}")[1]:
        found += page
    return found


def _check_write(client: Client, project: Path, name: str, each: int, said: dict[str, Any], names: dict[str, Any], run: Run) -> None:
    path = f"/{name}/w{each}.txt"
    of_file = [call_id for call_id, block in names.items() if block["name"] in ("write", "edit") and path in block["arguments"]]
    done = [call_id for call_id in of_file if said[call_id]["status"] == "success"]
    status, answer = client.call("history", path=path)
    versions: list[Any] = answer["result"]["versions"] if status == 200 else []
    _expect(run, len(versions) == len(done), f"{path} has {len(versions)} versions, and was changed {len(done)} times: {versions}")
    expected = "".join(
        {"write": f"{each}\n", "edit": "edited\n"}[kind] for kind in ("write", "edit") if any(names[one]["name"] == kind for one in done)
    )
    file = project / path.lstrip("/")
    _expect(run, (file.read_text() if file.exists() else "") == expected, f"{path} is not what was written: {expected!r}")


def _audit(server: Server, project: Path, name: str) -> Counter[str]:
    """How often each call stands in the audit, but for those that were refused, or left waiting by a server that was stopped."""
    import sqlite3

    found: Counter[str] = Counter()
    home = project.parent / "home" / "holdfast.db"
    if home.exists():
        with sqlite3.connect(f"file:{home}?mode=ro", uri=True) as rows:
            query = "SELECT call_id FROM audit WHERE workspace_id = ? AND session_id = ? AND outcome <> 'refused' AND code <> 'busy'"
            found.update(row[0] for row in rows.execute(query, (server.workspace_id, name)))
    return found


def _expect(run: Run, holds: bool, problem: str) -> None:
    if not holds:
        run.problems.append(problem)


def run_kills(folder: Path, kills: int, seed: int, stops: float, url: str | None = None, progress: Callable[[str], None] = print) -> Run:
    """Kill so often, or with that chance stop, and check every conversation at its end."""
    project, home = folder / "project", folder / "home"
    for each in (project, home / "scripts"):
        each.mkdir(parents=True)
    (project / "seen.md").write_text("seen\n")
    names = [f"talk{number:03d}" for number in range(kills + 1)]
    turns = [{"when": {"user": f"go {name}"}, "answers": answers(name)} for name in names]
    (home / "scripts" / "kill.yaml").write_text(json.dumps({"turns": turns}))
    (home / "config.toml").write_text('model = "scripted/kill"\ntrust = "guided"\n')
    run, chance = Run(seed, stops), random.Random(seed)
    server = start(project, home, url)
    for number, name in enumerate(names):
        is_over, known = False, 0
        while not is_over:
            is_over, known = live(server, name, run, chance if run.kills < kills else None, known)
            if run.problems:
                return run
            if not is_over:
                server = start(project, home, url)
        check(server, project, name, run)
        run.counts["conversations"] += 1
        if number % 5 == 4:
            progress(f"{run.kills} kills, {dict(run.counts)}, {len(run.problems)} problems")
        if run.kills >= kills:
            break
    server.stop()
    return run


def main() -> int:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stops", type=float, default=0.0, help="which share of them is a SIGTERM")
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, database(given.database) as url:
        run = run_kills(Path(folder), given.kills, given.seed, given.stops, url, lambda line: print(line, flush=True))
    for problem in run.problems:
        print(problem)
    print(f"{given.database}: {run.kills} kills in {time.monotonic() - began:.0f} s, {dict(run.counts)}")
    print("FAILED" if run.problems else "every conversation went on, no call ran twice, and nothing was lost")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
