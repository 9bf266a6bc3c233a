"""What a subject is given: a folder for its data, a Holdfast on it, and a way to a row."""

import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast import Holdfast
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done

from .measure import Clock, Work, interleaved
from .row import Row

_ROUNDS = 7


class WrongAnswer(Exception):
    """Something was quick but not right, so its time is worth nothing."""


@dataclass(frozen=True)
class Bench:
    """One run of the benchmarks."""

    folder: Path
    quick: bool
    clock: Clock = time.perf_counter

    def say(self, text: str) -> None:
        """Tell a waiting person what is going on."""
        print(text, file=sys.stderr, flush=True)

    async def row(
        self,
        what: str,
        *,
        ours: Work,
        floor: tuple[str, Work | None],
        goal: float | None = None,
        peers: Mapping[str, Work] | None = None,
        parts: Mapping[str, Work] | None = None,
        rounds: int = _ROUNDS,
        times: int = 1,
        note: str = "",
    ) -> Row:
        """Measure ours, the floor and the others in turns, `times` times each turn. A floor that cannot be had is None."""
        self.say(f"  {what}")
        peers, parts = peers or {}, parts or {}
        floor_name, floor_work = floor
        everybody = {"ours": ours} if floor_work is None else {"ours": ours, "floor": floor_work}
        everybody.update({f"peer {name}": work for name, work in peers.items()})
        everybody.update({f"part {name}": work for name, work in parts.items()})
        seconds = await interleaved(everybody, rounds=rounds, times=times, clock=self.clock)
        return Row(
            what,
            seconds["ours"],
            floor_name,
            seconds.get("floor"),
            goal,
            {name: seconds[f"peer {name}"] for name in peers},
            {name: seconds[f"part {name}"] for name in parts},
            note,
        )

    @asynccontextmanager
    async def opened(self, project: Path) -> AsyncGenerator["Opened"]:
        """A Holdfast on a project, as any Python program would open it."""
        async with Holdfast.open(project, home=self.folder / "home") as holdfast:
            yield Opened(holdfast)


@dataclass(frozen=True)
class Opened:
    """A Holdfast whose calls must succeed."""

    holdfast: Holdfast

    async def call(self, name: str, /, **arguments: Json) -> Json:
        """Call a tool along the whole road, and give its answer's body."""
        outcome = await self.holdfast.call(name, **arguments)
        if not isinstance(outcome, Done):
            raise WrongAnswer(f"{name}: {outcome.error}")
        return outcome.answer.body


def run(command: Sequence[str | Path], *, folder: Path | None = None, fine: tuple[int, ...] = (0,)) -> bytes:
    """What a program prints, run to its end."""
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode not in fine:
        raise WrongAnswer(f"{command[0]} left with {done.returncode}")
    return done.stdout


def require(claim: bool, what: str) -> None:
    """Stop when an answer is not the right one."""
    if not claim:
        raise WrongAnswer(what)
