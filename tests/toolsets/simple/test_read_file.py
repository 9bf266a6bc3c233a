"""read_file"""

from pathlib import Path

import pytest

from tests.desk import Desk
from tests.promises import carries

MIB = 1024 * 1024


@carries("SIMPLE-1")
async def test_it_gives_the_whole_text_at_the_root_or_deeper_without_is_error(desk: Desk) -> None:
    desk.write("hello.txt", "Hello, world!")
    desk.write("sub/nested.txt", "nested content")

    assert await desk.call("read_file", path="hello.txt") == {"output": "Hello, world!"}
    assert await desk.call("read_file", path="sub/nested.txt") == {"output": "nested content"}


@carries("SIMPLE-2", "SIMPLE-13", "ROAD-7")
@pytest.mark.parametrize("path", ["nope.txt", "no/pe.txt"])
async def test_a_missing_file_is_an_error_that_says_file_not_found_and_names_the_path(desk: Desk, path: str) -> None:
    said = await desk.call("read_file", path=path)

    assert said["isError"] is True
    assert said["output"].startswith(f"Error: file not found: {path}")


@carries("SIMPLE-3", "SIMPLE-13", "ROAD-6", "ROAD-7")
@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "..", "a/../../x", "link", "folder/passwd", "chain"])
async def test_a_path_that_leads_out_is_an_error_that_says_outside(desk: Desk, path: str) -> None:
    (desk.root / "link").symlink_to("/etc/passwd")
    (desk.root / "folder").symlink_to("/etc")
    (desk.root / "chain").symlink_to("link")

    said = await desk.call("read_file", path=path)

    assert (said["isError"], desk.last_code, "root:" in said["output"]) == (True, "outside", False)
    assert said["output"].startswith("Error: ")
    assert "outside" in said["output"]


@carries("SIMPLE-4", "SIMPLE-13")
@pytest.mark.parametrize("arguments", ["{}", '{"path": ""}', '{"path": null}', '{"path": 3}', '{"path": ["a"]}', "", "[]"])
async def test_a_missing_or_empty_path_is_an_error_that_names_path(desk: Desk, arguments: str) -> None:
    said = await desk.take("read_file", arguments)

    assert said["isError"] is True
    assert said["output"].startswith("Error: ")
    assert "path" in said["output"] or arguments == "[]"


@carries("SIMPLE-5", "SIMPLE-13")
async def test_a_folder_is_an_error_that_points_to_list_directory(desk: Desk) -> None:
    (desk.root / "folder").mkdir()

    said = await desk.call("read_file", path="folder")

    assert said["output"] == "Error: 'folder' is a directory, not a file. Use list_directory instead."
    assert said["isError"] is True


@carries("SIMPLE-6")
async def test_exactly_1_mib_comes_whole_and_one_byte_more_is_cut_and_says_so(desk: Desk) -> None:
    desk.write("whole.txt", "x" * MIB)
    desk.write("over.txt", "x" * (MIB + 1))

    whole = await desk.call("read_file", path="whole.txt")
    over = await desk.call("read_file", path="over.txt")

    assert whole["output"] == "x" * MIB
    assert over["output"].startswith("x" * MIB + "\n[truncated")
    assert "isError" not in over


@carries("SIMPLE-12", "ROAD-8")
async def test_it_is_a_safe_tool_that_requires_a_path_relative_to_the_project(desk: Desk) -> None:
    tool = desk.holdfast.road.registry.get("read_file")

    assert tool is not None
    assert (tool.danger.value, tool.schema["required"]) == ("safe", ["path"])
    assert "relative to the project root" in tool.description
    assert "additionalProperties" not in tool.schema


@carries("PROT-6")
async def test_a_protected_file_is_refused(desk: Desk) -> None:
    desk.write(".env", "KEY=canary\n")

    said = await desk.call("read_file", path=".env")

    assert (said["isError"], desk.last_code, "canary" in said["output"]) == (True, "protected", False)


@carries("ROAD-9")
async def test_no_error_shows_a_stack_trace_or_a_path_of_the_host(desk: Desk, tmp_path: Path) -> None:
    (desk.root / "out").symlink_to(tmp_path)
    desk.write("file", "x")

    for path in ("nope", "out", "out/x", "file/x", "", "a\0b", "x" * 300, "../x", ".env", "@state/x", "@project/file", "\ud800"):
        said = await desk.call("read_file", path=path)

        assert said["isError"] is True
        assert str(tmp_path) not in str(said)
        assert "Traceback" not in str(said)
