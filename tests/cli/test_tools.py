"""holdfast tools"""

import json

import pytest

from tests.cli.terminal import Terminal
from tests.promises import carries

FS = ["fs.apply_patch", "fs.list", "fs.read", "fs.search", "fs.write"]


@carries("CLI-1")
def test_it_lists_every_tool_with_its_danger_its_arguments_and_what_it_does(terminal: Terminal) -> None:
    ended = terminal.run("tools")

    lines = ended.out.splitlines()
    assert ended.code == 0
    assert any(line.split() == ["fs.read", "safe", "path", "[startLine]", "[endLine]"] for line in lines)
    assert any(line.split() == ["file_write", "dangerous", "path", "content"] for line in lines)
    assert "Read the contents of a file." in ended.out


@carries("CLI-1", "SCOPE-5")
@pytest.mark.parametrize(("profile", "names"), [("fs", FS), ("simple", ["list_directory", "read_file"])])
def test_it_lists_a_profiles_tools_alone(terminal: Terminal, profile: str, names: list[str]) -> None:
    text = terminal.run("tools", "--profile", profile)
    listed = json.loads(terminal.run("tools", "--profile", profile, "--json").out)

    assert [tool["name"] for tool in listed] == names
    assert [line.split()[0] for line in text.out.splitlines() if not line.startswith(" ")] == names


@carries("CLI-1", "TYPE-3")
def test_as_json_there_are_definitions_with_their_schemas(terminal: Terminal) -> None:
    listed = json.loads(terminal.run("tools", "--json").out)

    tool = next(tool for tool in listed if tool["name"] == "fs.list")
    assert {"name", "description", "inputSchema", "toolset", "category", "danger"} <= tool.keys()
    assert tool["inputSchema"]["required"] == ["path"]
    assert (tool["toolset"], tool["category"], tool["danger"]) == ("fs", "file", "safe")


@carries("CLI-1")
def test_an_unknown_profile_is_a_usage_error_that_names_the_profiles(terminal: Terminal) -> None:
    ended = terminal.run("tools", "--profile", "nobody")

    assert (ended.code, ended.out) == (64, "")
    assert all(name in ended.err for name in ("'nobody'", "coder", "core", "fs", "simple", "planner"))
