"""The paths of a large tree that match a pattern."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import wcmatch.glob

from bench.bench import Bench, Opened, require, run
from bench.data import make_tree
from bench.engine import mounted
from bench.row import Row
from holdfast.workspace.glob import glob
from holdfast.workspace.program import find_ripgrep
from holdfast.workspace.sight import Sight


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """A tenth of the files, a third, everything; again and again, and for the first time."""
    files = 4_000 if bench.quick else 81_000
    bench.say(f"  making a tree of {files} files")
    tree = make_tree(bench.folder / "tree", files)
    with mounted(tree) as place:
        async with bench.opened(tree) as opened:
            for pattern, wanted in (("**/*.md", files // 10), ("**/*.py", files // 10 * 3), ("**/*", files)):
                found = len(await _glob(opened, pattern))
                require(found >= wanted, f"{pattern}: {found} finds, fewer than {wanted}")
                # The engine tells size and time of each find, which floor and peers do not; the tool is judged and recorded besides.
                yield await bench.row(
                    f"glob: {pattern}, {files:,} files",
                    ours=lambda pattern=pattern: glob(place(""), [pattern], Sight()),
                    floor=("rg --files", lambda: _ripgrep(tree)),
                    goal=1.5,
                    peers={
                        "pathlib": lambda pattern=pattern: list(tree.glob(pattern)),
                        "wcmatch": lambda pattern=pattern: _wcmatch(tree, pattern),
                    },
                    parts={
                        "for the first time": lambda pattern=pattern: _first(tree, pattern),
                        "as a tool": lambda pattern=pattern: _glob(opened, pattern),
                    },
                    rounds=5,
                )


async def _glob(opened: Opened, pattern: str) -> list[object]:
    answer = cast("dict[str, Any]", await opened.call("glob", pattern=pattern))
    return answer["result"]["matches"]


async def _first(tree: Path, pattern: str) -> None:
    with mounted(tree) as place:
        await glob(place(""), [pattern], Sight())


def _ripgrep(tree: Path) -> list[bytes]:
    return run([find_ripgrep(), "--no-config", "--no-ignore", "--hidden", "--files", "./"], folder=tree).splitlines()


def _wcmatch(tree: Path, pattern: str) -> list[str]:
    return wcmatch.glob.glob(pattern, root_dir=str(tree), flags=wcmatch.glob.GLOBSTAR | wcmatch.glob.DOTGLOB)
