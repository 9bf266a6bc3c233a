"""Searching a large tree and fifty files, for a text and for a regular expression, with few finds and with none."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, NamedTuple, cast

from bench.bench import Bench, Opened, require, run
from bench.data import FILES_WITH_NEEDLE, NEEDLE, make_tree, tree_paths
from bench.engine import mounted
from bench.row import Row
from holdfast.workspace.match import Query
from holdfast.workspace.place import Place
from holdfast.workspace.program import find_ripgrep
from holdfast.workspace.search import search
from holdfast.workspace.sight import Sight


class _Search(NamedTuple):
    """What is searched for, and in how many lines it is."""

    what: str
    pattern: str
    regex: bool
    finds: int


_TEXT = _Search("text", NEEDLE, regex=False, finds=FILES_WITH_NEEDLE)
_NO_TEXT = _Search("text without finds", "zanzibar_lantern", regex=False, finds=0)
_REGEX = _Search("regex", r"quince_(harbour|meadow) = \d+", regex=True, finds=FILES_WITH_NEEDLE)
_NO_REGEX = _Search("regex without finds", r"zanz[a-f]bar_\w+ = \d+", regex=True, finds=0)

# What fs.search asks of ripgrep: nothing is ignored, hidden folders and two names are left out.
_SKIPPED = (".git", "node_modules")
_FLAGS = ("--no-config", "--no-messages", "--no-ignore", "--hidden", "--case-sensitive", "--line-number")
_GLOBS = ("--glob=!.git/", "--glob=!node_modules/", "--glob=!.*/")


async def rows(bench: Bench) -> AsyncGenerator[Row]:
    """The large tree first, then fifty files."""
    files = 4_000 if bench.quick else 81_000
    bench.say(f"  making a tree of {files} files")
    tree = make_tree(bench.folder / "tree", files)
    few = make_tree(bench.folder / "few", 50)
    async with bench.opened(tree) as opened:
        for wanted in (_TEXT, _NO_TEXT, _REGEX, _NO_REGEX):
            yield await _large(bench, opened, tree, files, wanted)
    with mounted(few) as place:
        async with bench.opened(few) as opened:
            for wanted in (_TEXT, _NO_TEXT, _REGEX):
                yield await _small(bench, opened, place(""), few, wanted)


async def _large(bench: Bench, opened: Opened, tree: Path, files: int, wanted: _Search) -> Row:
    await _check(opened, tree, wanted)
    return await bench.row(
        f"grep: {wanted.what}, {files:,} files",
        ours=lambda: _search(opened, wanted),
        floor=("rg", lambda: _ripgrep(tree, wanted)),
        goal=1.1,
        peers={"Python re": lambda: _python_re(tree, files, wanted)} if wanted is _REGEX else {},
    )


async def _small(bench: Bench, opened: Opened, root: Place, few: Path, wanted: _Search) -> Row:
    """The search itself beside a spawn of ripgrep, which judges and records nothing either; and what it costs as a tool, which does."""
    query = Query(wanted.pattern, regex=wanted.regex, max_matches=50, skip_directories=_SKIPPED, skip_hidden_directories=True)
    await _check(opened, few, wanted)
    return await bench.row(
        f"grep: {wanted.what}, 50 files",
        ours=lambda: search(root, query, Sight()),
        floor=("a spawn of rg", lambda: _ripgrep(few, wanted)),
        goal=1.0 if wanted.regex else 0.3,
        parts={"as a tool, judged and recorded": lambda: _search(opened, wanted)},
        rounds=9,
        times=10,
    )


async def _search(opened: Opened, wanted: _Search) -> list[object]:
    pattern = f"/{wanted.pattern}/" if wanted.regex else wanted.pattern
    answer = cast("dict[str, Any]", await opened.call("fs.search", path="@project", pattern=pattern, before=0, after=0))
    return answer["matches"]


async def _check(opened: Opened, tree: Path, wanted: _Search) -> None:
    ours, theirs = len(await _search(opened, wanted)), len(_ripgrep(tree, wanted).splitlines())
    require(ours == theirs == wanted.finds, f"{wanted.what}: {ours} finds of ours and {theirs} of rg, instead of {wanted.finds}")


def _ripgrep(tree: Path, wanted: _Search) -> bytes:
    literally = [] if wanted.regex else ["--fixed-strings"]
    return run([find_ripgrep(), *_FLAGS, *_GLOBS, *literally, "-e", wanted.pattern, "./"], folder=tree, fine=(0, 1))


def _python_re(tree: Path, files: int, wanted: _Search) -> list[Path]:
    pattern = re.compile(wanted.pattern.encode())
    return [path for path in tree_paths(tree, files) if pattern.search(path.read_bytes())]
