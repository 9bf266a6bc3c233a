"""Arguments made from every tool's schema, right ones and wrong ones: nothing crashes, and no file changes that was not named."""

import asyncio
import json
import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.tool.registry import Registry
from holdfast.tool.schema import Parameter
from holdfast.tool.tool import Category, Tool
from holdfast.tool.toolset import find_toolsets
from holdfast.vocabulary.access import Want
from holdfast.vocabulary.errors import HoldfastError
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Done
from tests.desk import Desk, open_desk
from tests.internet.site import unused_port
from tests.promises import carries

REGISTRY = Registry(find_toolsets("holdfast.toolsets"))
TOOLS = [tool for name in REGISTRY.names() if (tool := REGISTRY.get(name)) is not None]
SHORT, LONG = 15, 100_000 // len(TOOLS)
Arguments: TypeAlias = dict[str, Json]

MOUNTED = {
    "notes.md": b"---\ncurrentNodeId: a\nstepsCompleted: [x]\n---\nneedle\n",
    "sub/main.py": b"def needle():\n    return 1\n",
    "sub/deep/data.bin": bytes(range(256)),
    "empty": b"",
    ".env": b"KEY=needle\n",
    "workflow.md": b"---\ncurrentNodeId: a\n---\n",
    "long.txt": b"needle in a long line " * 20_000,
}
LINKS = {"link.md": "notes.md", "out": "{outside}"}
NAMES = [
    *MOUNTED,
    "sub",
    "sub/deep",
    "new.md",
    "new/file.md",
    "link.md",
    "out",
    "out/canary",
    ".",
    "..",
    "",
    "logs",
    "logs/execution.jsonl",
]
PREFIXES = ["", "@project/", "@state/", "@central/", "@pkg/", "/", "./", "@project\\", "../"]


def anything(depth: int = 2) -> st.SearchStrategy[Json]:
    """Whatever JSON can say, and some of what it should not."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", 10**400, "\0", "x" * 5_000])
    if not depth:
        return cast("st.SearchStrategy[Json]", plain)
    inner = anything(depth - 1)
    return cast("st.SearchStrategy[Json]", plain | st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3))


def paths() -> st.SearchStrategy[str]:
    """Paths of what is there, of what is not, and of what should not be."""
    there = st.builds(str.__add__, st.sampled_from(PREFIXES), st.sampled_from(NAMES))
    pieces = st.lists(st.sampled_from([*NAMES, "...", "~", "\0", "a" * 256, "\N{SNOWMAN}", " "]) | st.text(max_size=3), max_size=4)
    made = st.builds(str.__add__, st.sampled_from(PREFIXES), pieces.map("/".join))
    return there | made | st.text()


def fitting(name: str, schema: Any) -> st.SearchStrategy[Json]:
    """Values that a schema allows, as far as we know what it says."""
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "string" if name == "pattern":
            return st.sampled_from(["needle", "/n.e+dle/i", "/(/", "def", "//", "/x*/", ""]) | st.text(max_size=20)
        case "string":
            return st.text(max_size=50) | st.sampled_from(["", "---\ncurrentNodeId: b\n---\n", "0" * 64, "x" * 100_001])
        case "integer":
            return st.integers(min_value=schema.get("minimum"), max_value=schema.get("maximum")) | st.integers(1, 50)
        case "number":
            return st.floats(min_value=schema.get("minimum"), max_value=schema.get("maximum"), allow_nan=False)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(name, schema["items"]), max_size=4)
        case "object" if schema.get("properties"):
            required = schema.get("required", [])
            inner = {key: fitting(key, below) for key, below in schema["properties"].items()}
            return st.fixed_dictionaries(
                {key: inner[key] for key in required}, optional={key: inner[key] for key in inner if key not in required}
            )
        case "object":
            return updates()
        case _:
            return anything()


def updates() -> st.SearchStrategy[Json]:
    """What changes front matter, nested and dotted, right and wrong."""
    texts = st.text(max_size=8)
    known: dict[str, st.SearchStrategy[Json]] = {
        "stepsCompleted": st.fixed_dictionaries({"append": st.lists(texts, max_size=3)}),
        "variables": st.fixed_dictionaries({"set": st.dictionaries(texts, anything(1), max_size=3)}),
        "decisionLog": st.fixed_dictionaries({"append": st.lists(st.dictionaries(texts, anything(1), max_size=2), max_size=2)}),
        "currentNodeId": st.fixed_dictionaries({"set": texts}),
        "updatedAt.set": texts,
        "artifacts.append": st.lists(texts, max_size=3),
    }
    return st.fixed_dictionaries({}, optional=known) | st.dictionaries(texts, anything(1), max_size=3)


def arguments_of(tool: Tool) -> st.SearchStrategy[Arguments]:
    """Arguments that fit, with a wrong value, a missing key or one too many now and then."""

    def value(parameter: Parameter) -> st.SearchStrategy[Json]:
        if parameter.asks is None:
            good = fitting(parameter.wire_name, parameter.schema)
        else:
            good = st.lists(paths(), max_size=4) if parameter.is_list else paths()
        return st.integers(0, 9).flatmap(lambda dice: anything() if dice == 0 else good)

    given = st.fixed_dictionaries({}, optional={each.wire_name: value(each) for each in tool.parameters if not each.required})
    needed = st.fixed_dictionaries({each.wire_name: value(each) for each in tool.parameters if each.required})
    extra = st.just(cast("Arguments", {})) | st.dictionaries(st.text(max_size=6), anything(1), max_size=2)
    dropped = st.integers(0, 19)
    return st.builds(_put_together, needed, given, extra, dropped)


def _put_together(needed: Arguments, given: Arguments, extra: Arguments, dropped: int) -> Arguments:
    whole = {**extra, **given, **needed}
    return {key: value for number, (key, value) in enumerate(whole.items()) if number != dropped}


class Room:
    """A desk, all whose files are known and are put back when a call was allowed to change one."""

    def __init__(self, runner: asyncio.Runner, desk: Desk, outside: Path) -> None:
        self._runner = runner
        self._desk = desk
        self._mounts = desk.holdfast.road.surroundings.mounts
        self._roots = [*(mount.root for mount in self._mounts.values()), outside]
        for root in self._roots:
            self._fill(root)
        self._known = self._files()

    def call(self, tool: Tool, arguments: Arguments | str, named: Arguments) -> None:
        """Call the tool, and see that it answered and changed nothing else than it was told to."""
        self._runner.run(self._desk.take(tool.name, arguments))
        outcome = self._desk.last
        assert outcome is not None
        json.dumps(outcome.answer.body, ensure_ascii=False, allow_nan=False).encode()
        outcome.answer.text.encode()  # what cannot be sent raises
        if not isinstance(outcome, Done):
            assert outcome.error.code not in ("internal", "unjudgeable"), outcome
        now = self._files()
        changed = {path for path in now.keys() | self._known.keys() if now.get(path) != self._known.get(path)}
        named_paths, may_choose = self._named(tool, named) if isinstance(outcome, Done) else (set[str](), False)
        for path in changed:
            within = any(path == each or path.startswith(f"{each}/") for each in named_paths)
            is_new, is_gone = path not in self._known, path not in now
            is_fine = path in named_paths or (within and (is_new or is_gone)) or (may_choose and is_new)
            # A command names what it changes in a language of its own, and stays in the project.
            is_fine = is_fine or (tool.category is Category.EXEC and path.startswith(f"{self._desk.root}/"))
            what = "made" if is_new else "removed" if is_gone else "changed"
            assert is_fine, f"{what} without being named: {path}"
            self._put_back(path)
        if changed:
            self._known = self._files()

    def _named(self, tool: Tool, arguments: Arguments) -> tuple[set[str], bool]:
        """What the call may change: the paths that it names where the tool asks to write; and whether the tool may choose a new one."""
        named: set[str] = set()
        may_choose = False
        for parameter in tool.parameters:
            text = arguments.get(parameter.wire_name)
            if parameter.asks is None or parameter.asks.want is not Want.WRITE:
                continue
            may_choose |= text in (None, "") and not parameter.required
            with suppress(HoldfastError):
                spot = tool.dialect.locate(text, self._mounts) if isinstance(text, str) else None
                path = spot.mount.root / spot.path if spot is not None else None
                if path is not None:
                    named |= {os.path.realpath(path), os.path.join(os.path.realpath(path.parent), path.name)}
        return named, may_choose

    def _files(self) -> dict[str, tuple[int, ...]]:
        """What would not be the same if somebody had written into a file, or put another in its place."""
        found: dict[str, tuple[int, ...]] = {}
        for root in self._roots:
            for folder, below, names in os.walk(root):
                if "logs" in below and folder == str(self._desk.state):
                    below.remove("logs")
                for name in names:
                    about = os.lstat(os.path.join(folder, name))
                    found[os.path.join(folder, name)] = (about.st_ino, about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        return found

    def _put_back(self, path: str) -> None:
        root = next(root for root in self._roots if Path(path).is_relative_to(root))
        name = str(Path(path).relative_to(root))
        if path in self._known:
            self._fill(root, [name])
            return
        os.unlink(path)
        parent = Path(path).parent
        while parent != root and not os.listdir(parent):
            parent.rmdir()
            parent = parent.parent

    def _fill(self, root: Path, names: Sequence[str] = (*MOUNTED, *LINKS)) -> None:
        for name in names:
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if name in MOUNTED:
                file.write_bytes(MOUNTED[name])
            else:
                file.symlink_to(LINKS[name].format(outside=self._roots[-1]))


@contextmanager
def room(folder: Path) -> Generator[Room]:
    outside = folder / "outside"
    outside.mkdir()
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as monkeypatch:
        # Whatever runs on this machine is not asked a thousand odd questions.
        monkeypatch.setenv("HOLDFAST_SEARXNG_URL", f"http://127.0.0.1:{unused_port()}")
        open_things = AsyncExitStack()
        desk = runner.run(open_things.enter_async_context(open_desk(folder)))
        try:
            yield Room(runner, desk, outside)
        finally:
            runner.run(open_things.aclose())
            shutil.rmtree(folder / "home")


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.long)])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: cast("Tool", tool).name)
@carries("PROPERTY-1", "ROAD-2")
def test_no_arguments_crash_a_tool_or_change_a_file_that_they_do_not_name(tmp_path: Path, tool: Tool, examples: int) -> None:
    with room(tmp_path) as scene:

        @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
        @given(arguments_of(tool), st.booleans())
        def calls(arguments: Arguments, as_text: bool) -> None:
            scene.call(tool, json.dumps(arguments) if as_text else arguments, arguments)

        calls()


@carries("PROPERTY-1")
def test_no_text_in_the_place_of_arguments_crashes_a_tool(tmp_path: Path) -> None:
    with room(tmp_path) as scene:

        @settings(max_examples=SHORT)
        @given(
            st.sampled_from(TOOLS), st.text() | st.sampled_from(["{", "[]", "null", '{"path": ' * 500, "[" * 100_000, "1e999", "\ud800"])
        )
        def calls(tool: Tool, text: str) -> None:
            scene.call(tool, text, {})

        calls()
