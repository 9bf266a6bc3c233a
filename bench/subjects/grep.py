"""Searching a large tree and fifty files, for a text and for a regular expression, with few finds and with none."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

from bench.bench import Bench, Opened, require, run
from bench.data import FILES_WITH_NEEDLE, NEEDLE, make_tree, tree_paths
from bench.row import Row
from holdfast.workspace.program import find_ripgrep

# As a tool's pattern, as ripgrep's arguments, and how many lines match.
_LITERAL = (NEEDLE, ("--fixed-strings", NEEDLE), FILES_WITH_NEEDLE)
_NO_LITERAL = ("zanzibar_lantern", ("--fixed-strings", "zanzibar_lantern"), 0)
_REGEX = (r"/quince_(harbour|meadow) = \d+/", (r"quince_(harbour|meadow) = \d+",), FILES_WITH_NEEDLE)
_NO_REGEX = (r"/zanz[a-f]bar_\w+ = \d+/", (r"zanz[a-f]bar_\w+ = \d+",), 0)
# What fs.search asks of ripgrep: nothing is ignored, hidden folders and two names are left out.
_FLAGS = ("--no-config", "--no-messages", "--no-ignore", "--hidden", "--case-sensitive", "--line-number")
_GLOBS = ("--glob=!.git/", "--glob=!node_modules/", "--glob=!.*/")


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """The large tree first, then fifty files."""
    files = 4_000 if bench.quick else 81_000
    bench.say(f"  making a tree of {files} files")
    tree = make_tree(bench.folder / "tree", files)
    few = make_tree(bench.folder / "few", 50)
    async with bench.opened(tree) as opened:
        async for row in _large(bench, opened, tree, files):
            yield row
    async with bench.opened(few) as opened:
        for what, goal, pattern in (("text", 0.3, _LITERAL), ("text without finds", 0.3, _NO_LITERAL), ("regex", 1.0, _REGEX)):
            await _check(opened, few, pattern)
            yield await bench.row(
                f"grep: {what}, 50 files",
                ours=lambda pattern=pattern: _search(opened, pattern[0]),
                floor=("a spawn of rg", lambda pattern=pattern: _ripgrep(few, pattern[1])),
                goal=goal,
                rounds=9,
                times=10,
            )


async def _large(bench: Bench, opened: Opened, tree: Path, files: int) -> AsyncGenerator[Row]:
    named = (("text", _LITERAL), ("text without finds", _NO_LITERAL), ("regex", _REGEX), ("regex without finds", _NO_REGEX))
    for what, pattern in named:
        await _check(opened, tree, pattern)
        yield await bench.row(
            f"grep: {what}, {files:,} files",
            ours=lambda pattern=pattern: _search(opened, pattern[0]),
            floor=("rg", lambda pattern=pattern: _ripgrep(tree, pattern[1])),
            goal=1.1,
            peers={"Python re": lambda: _python_re(tree, files)} if pattern is _REGEX else {},
        )


async def _search(opened: Opened, pattern: str) -> dict[str, Any]:
    return cast("dict[str, Any]", await opened.call("fs.search", path="@project", pattern=pattern, before=0, after=0))


async def _check(opened: Opened, tree: Path, pattern: tuple[str, tuple[str, ...], int]) -> None:
    as_argument, for_ripgrep, wanted = pattern
    found = await _search(opened, as_argument)
    require(len(found["matches"]) == wanted, f"{as_argument}: {len(found['matches'])} finds instead of {wanted}")
    require(len(_ripgrep(tree, for_ripgrep).splitlines()) == wanted, f"rg's finds of {as_argument}")


def _ripgrep(tree: Path, pattern: tuple[str, ...]) -> bytes:
    return run([find_ripgrep(), *_FLAGS, *_GLOBS, *pattern, "./"], folder=tree, fine=(0, 1))


def _python_re(tree: Path, files: int) -> list[str]:
    wanted = re.compile(_REGEX[1][0].encode())
    return [str(path) for path in tree_paths(tree, files) if wanted.search(path.read_bytes())]
