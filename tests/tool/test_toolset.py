"""Toolsets are found by looking: a file in a folder is a tool, and nothing has to be registered."""

import importlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from holdfast.tool.registry import Registry
from holdfast.tool.toolset import Toolset, find_toolsets, load_toolset
from tests.promises import carries

DIALECT = """
from dataclasses import replace
from tests.tool.plain import PLAIN
DIALECT = replace(PLAIN, prefix={prefix!r})
"""
TOOL = """
from holdfast.tool import Context, tool

@tool
async def {name}(ctx: Context, word: str) -> str:
    '''Say {name}.'''
    return word
"""


class Folder:
    """A package of toolsets in a temporary folder, to which files can be added."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("__init__.py", "")

    @property
    def name(self) -> str:
        return self.root.name

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        importlib.invalidate_caches()

    def toolset(self, name: str, *tools: str, prefix: str = "") -> None:
        self.write(f"{name}/__init__.py", DIALECT.format(prefix=prefix))
        for each in tools:
            self.write(f"{name}/{each}.py", TOOL.format(name=each))

    def registry(self) -> Registry:
        return Registry(find_toolsets(self.name))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Folder]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield Folder(tmp_path / "toolsets_of_a_test")
    for name in [name for name in sys.modules if name.split(".")[0] == "toolsets_of_a_test"]:
        del sys.modules[name]


@carries("REG-9")
def test_a_file_that_is_added_to_a_toolset_s_folder_is_a_tool(folder: Folder) -> None:
    folder.toolset("birds", "sing")
    before = folder.registry().names()

    folder.write("birds/fly.py", TOOL.format(name="fly"))

    registry = folder.registry()
    tool = registry.get("fly")
    assert before == ["sing"]
    assert registry.names() == ["fly", "sing"]
    assert tool is not None
    assert (tool.name, tool.toolset, tool.description) == ("fly", "birds", "Say fly.")
    assert tool.schema["required"] == ["word"]


@carries("REG-9")
def test_a_folder_that_is_added_is_a_toolset(folder: Folder) -> None:
    folder.toolset("birds", "sing")
    folder.toolset("fish", "swim")

    assert [toolset.name for toolset in find_toolsets(folder.name)] == ["birds", "fish"]


def test_files_and_folders_that_begin_with_an_underscore_are_not_for_callers(folder: Folder) -> None:
    folder.toolset("birds", "sing")
    folder.write("birds/_shapes.py", "raise AssertionError('nobody imports this')")
    folder.write("_drafts/__init__.py", "raise AssertionError('nobody imports this')")
    folder.write("notes.py", "raise AssertionError('a file is no toolset')")

    assert folder.registry().names() == ["sing"]


def test_a_prefix_is_part_of_the_tool_s_name_and_not_of_its_file(folder: Folder) -> None:
    folder.toolset("birds", "sing", prefix="birds.")

    registry = folder.registry()

    assert registry.names() == ["birds.sing"]
    assert registry.get("birds.sing") is not None
    assert registry.get("sing") is None
    assert registry.get("birds.birds.sing") is None


def test_a_tool_s_file_is_imported_only_when_the_tool_is_asked_for(folder: Folder) -> None:
    folder.toolset("birds", "sing", "fly")

    registry = folder.registry()
    registry.names()
    registry.get("fly")

    assert f"{folder.name}.birds.fly" in sys.modules
    assert f"{folder.name}.birds.sing" not in sys.modules


@pytest.mark.parametrize("text", ["", "sing = 3", "async def sing(ctx): ...", TOOL.format(name="chirp")])
def test_a_file_without_a_declared_function_of_its_name_is_a_type_error_that_says_so(folder: Folder, text: str) -> None:
    folder.toolset("birds")
    folder.write("birds/sing.py", text)

    with pytest.raises(TypeError, match=r"birds\.sing must hold a function sing"):
        folder.registry().get("sing")


@pytest.mark.parametrize("text", ["", "DIALECT = 'plain'"])
def test_a_folder_that_does_not_say_its_dialect_is_a_type_error(folder: Folder, text: str) -> None:
    folder.write("birds/__init__.py", text)

    with pytest.raises(TypeError, match="DIALECT"):
        load_toolset(f"{folder.name}.birds")


@carries("REG-2")
def test_two_toolsets_with_a_tool_of_one_name_are_refused(folder: Folder) -> None:
    folder.toolset("birds", "sing")
    folder.toolset("people", "sing")

    asking: list[Callable[[Registry], object]] = [
        Registry.names,
        lambda registry: registry.get("sing"),
        lambda registry: registry.get("other"),
    ]

    for ask in asking:
        with pytest.raises(TypeError, match="sing: birds and people"):
            ask(folder.registry())


def test_the_same_name_behind_different_prefixes_is_two_tools(folder: Folder) -> None:
    folder.toolset("birds", "sing", prefix="birds.")
    folder.toolset("people", "sing")

    assert folder.registry().names() == ["birds.sing", "sing"]


def test_a_toolset_does_not_load_what_is_not_in_its_folder(folder: Folder) -> None:
    folder.toolset("birds", "sing", prefix="birds.")
    toolset: Toolset = find_toolsets(folder.name)[0]

    wrong = ("", "os", "sing", "birds.", "birds.os", "birds._dialect", "birds.__init__", "birds.sing.py", "birds...people.sing")
    assert [toolset.load(name) for name in wrong] == [None] * len(wrong)
    assert toolset.load("birds.sing") is not None
