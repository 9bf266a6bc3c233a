"""list_directory"""

import pytest

from tests.desk import Desk
from tests.promises import carries


@carries("SIMPLE-7")
async def test_it_gives_one_name_a_line_and_folders_with_a_slash_at_the_end(desk: Desk) -> None:
    desk.write("file-b.txt", "b")
    desk.write("file-a.txt", "a")
    desk.write("subdir/child.txt", "c")
    (desk.root / "link").symlink_to("subdir")

    root = await desk.call("list_directory", path=".")
    below = await desk.call("list_directory", path="subdir")

    assert root == {"output": "file-a.txt\nfile-b.txt\nlink\nsubdir/"}
    assert below == {"output": "child.txt"}


@carries("SIMPLE-8")
@pytest.mark.parametrize("arguments", ["{}", '{"path": ""}', '{"path": "."}', '{"path": null}', '{"path": "./"}', ""])
async def test_without_a_path_with_an_empty_one_and_with_a_dot_it_lists_the_project(desk: Desk, arguments: str) -> None:
    desk.write("file-a.txt", "a")

    said = await desk.take("list_directory", arguments)

    assert said == {"output": "file-a.txt"}


@carries("SIMPLE-9", "SIMPLE-13")
async def test_a_missing_folder_is_an_error_that_names_the_path(desk: Desk) -> None:
    said = await desk.call("list_directory", path="nope")

    assert said["isError"] is True
    assert said["output"].startswith("Error: directory not found: nope")


@carries("SIMPLE-10", "SIMPLE-13", "ROAD-7")
async def test_a_file_is_an_error_that_says_not_a_directory(desk: Desk) -> None:
    desk.write("file.txt", "x")

    said = await desk.call("list_directory", path="file.txt")

    assert said["isError"] is True
    assert said["output"].startswith("Error: 'file.txt' is not a directory")
    assert "read_file" in said["output"]


@carries("SIMPLE-11", "SIMPLE-13")
@pytest.mark.parametrize("path", ["../../", "..", "/", "/etc", "link", "link/sub", "chain", "sub/../.."])
async def test_a_path_that_leads_out_is_an_error_that_says_outside(desk: Desk, path: str) -> None:
    (desk.root / "link").symlink_to("/etc")
    (desk.root / "chain").symlink_to("link")

    said = await desk.call("list_directory", path=path)

    assert (said["isError"], desk.last_code, "passwd" in said["output"]) == (True, "outside", False)
    assert "outside" in said["output"]


@carries("SIMPLE-12", "ROAD-8")
async def test_it_is_a_safe_tool_that_requires_nothing_and_tells_how_paths_are_meant(desk: Desk) -> None:
    tool = desk.holdfast.road.registry.get("list_directory")

    assert tool is not None
    assert (tool.danger.value, tool.schema["required"]) == ("safe", [])
    assert "project root" in str(tool.parameters[0].schema["description"])


async def test_an_empty_folder_is_empty_text(desk: Desk) -> None:
    assert await desk.call("list_directory") == {"output": ""}
