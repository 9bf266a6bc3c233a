"""`python -m bench`: measure, and print one table."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from holdfast.app.memory import collect_less_often

from . import subjects
from .bench import Bench
from .measure import processor_seconds
from .row import Row
from .table import as_json, machine, table


def main() -> None:
    """Read the arguments, run, print."""
    given = _parser().parse_args()
    clock = processor_seconds if given.cpu else time.perf_counter
    with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        rows = asyncio.run(_measured(Bench(Path(folder), given.quick, clock), given.only))
    print(as_json(rows, quick=given.quick) if given.json else _report(rows, quick=given.quick))


async def _measured(bench: Bench, only: Sequence[str]) -> list[Row]:
    bench.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    # As in a server of ours: floors and peers are measured in the same process, and have the good of it too.
    collect_less_often()
    for name in only or _names():
        bench.say(name)
        rows += [row async for row in import_module(f"{subjects.__name__}.{name}").rows(bench)]
    return rows


def _report(rows: Sequence[Row], *, quick: bool) -> str:
    judged = [row.met for row in rows if row.met is not None]
    said = f"{sum(judged)} of {len(judged)} goals met. {machine()}. Times are medians, ratios are ours to the floor."
    return f"\n{table(rows)}\n\n{said}" + (" A quick run: the data is small, and goals are set for the large." if quick else "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Our figures beside the floors and the peers, in one table.")
    parser.add_argument("--only", action="append", choices=_names(), default=[], help="measure this subject; can be given again")
    parser.add_argument("--quick", action="store_true", help="small data: to see that it works, not to judge")
    parser.add_argument("--cpu", action="store_true", help="count processor time, not the clock: a second look on a busy machine")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--folder", type=Path, help="keep the data here for the next run, instead of a temporary folder")
    return parser


def _names() -> list[str]:
    return sorted(module.name for module in iter_modules(subjects.__path__))


if __name__ == "__main__":
    main()
