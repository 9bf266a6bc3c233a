"""glob and find"""

from typing import Any

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused

ENTRY = {"path", "name", "synced", "file_type", "is_virtual", "size", "updated_at"}
FILES = ["main.rs", "test_a", "test_dir/x.txt", "src/lib.rs", "src/deep/er.rs", "src/file.txt", "docs/file.txt", ".hidden/h.rs"]


@pytest.fixture
def project(desk: Desk) -> Desk:
    for path in FILES:
        desk.write(path, path)
    return desk


def paths(said: Any) -> list[str]:
    return [match["path"] for match in said["matches"]]


@carries("WS-GLOB-1", "WS-SYNC-1", "WS-SYNC-2")
async def test_glob_tells_of_each_match(desk: Desk) -> None:
    await done(desk, "write", path="/src/a.rs", content="12345")
    desk.write("src/b.rs", "123")
    await done(desk, "write", path="/src/gone.rs", content="1234567")
    (desk.root / "src/gone.rs").unlink()

    said = await done(desk, "glob", pattern="*.rs", path="/src")

    assert (said["pattern"], said["base_path"]) == ("*.rs", "/src")
    assert all(match.keys() == ENTRY for match in said["matches"])
    assert [(match["path"], match["synced"], match["size"]) for match in said["matches"]] == [
        ("/src/a.rs", True, 5),
        ("/src/b.rs", False, 3),
        ("/src/gone.rs", True, 7),
    ]


@carries("WS-GLOB-2", "WS-GLOB-5")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.rs", ["/main.rs"]),
        ("**/*.rs", ["/.hidden/h.rs", "/main.rs", "/src/deep/er.rs", "/src/lib.rs"]),
        ("/src/**/*.rs", ["/src/deep/er.rs", "/src/lib.rs"]),
        ("test_*", ["/test_a", "/test_dir"]),
        ("*/file.txt", ["/docs/file.txt", "/src/file.txt"]),
        ("test_?", ["/test_a"]),
        ("src/*", ["/src/deep", "/src/file.txt", "/src/lib.rs"]),
        ("**/deep", ["/src/deep"]),
        ("*.nothing", []),
    ],
)
async def test_a_star_stays_in_its_folder_and_two_go_deeper(project: Desk, pattern: str, found: list[str]) -> None:
    assert paths(await done(project, "glob", pattern=pattern)) == found


@carries("WS-GLOB-2")
async def test_folders_match_and_have_no_size(project: Desk) -> None:
    [match] = (await done(project, "glob", pattern="docs"))["matches"]

    assert (match["file_type"], match["size"], match["synced"]) == ("folder", None, False)


@carries("WS-GLOB-3")
async def test_several_patterns_are_a_union_and_the_first_is_echoed(project: Desk) -> None:
    several = await done(project, "glob", patterns=["*.rs", "*/file.txt", "main.*"])
    both = await done(project, "glob", pattern="test_a", patterns=["*.rs"])

    assert (several["pattern"], paths(several)) == ("*.rs", ["/docs/file.txt", "/main.rs", "/src/file.txt"])
    assert (both["pattern"], paths(both)) == ("test_a", ["/main.rs", "/test_a"])


@carries("WS-GLOB-3")
@pytest.mark.parametrize("arguments", [{}, {"patterns": []}, {"pattern": ""}, {"pattern": None}])
async def test_no_pattern_is_a_bad_request(project: Desk, arguments: dict[str, Any]) -> None:
    await refused(project, 400, "glob", **arguments)


@carries("WS-GLOB-4", "WS-PATH-2")
@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": "../*"},
        {"pattern": "src/../../*"},
        {"pattern": "**/.."},
        {"pattern": "*", "path": "/.."},
        {"pattern": "*", "path": "../x"},
    ],
)
async def test_dots_that_lead_up_are_a_bad_request(project: Desk, arguments: dict[str, str]) -> None:
    await refused(project, 400, "glob", **arguments)


@carries("WS-GLOB-6")
@pytest.mark.parametrize("pattern", ["*.rs", "/src/*.rs", "./*.rs"])
async def test_a_pattern_counts_from_the_folder_or_names_it_whole(project: Desk, pattern: str) -> None:
    said = await done(project, "glob", pattern=pattern, path="/src/deep/..")

    assert (said["base_path"], paths(said)) == ("/src", ["/src/lib.rs"])


@carries("WS-GLOB-5")
async def test_what_git_ignores_is_found(desk: Desk) -> None:
    desk.write(".gitignore", "*.log")
    desk.write("a.log", "x")

    assert paths(await done(desk, "glob", pattern="*")) == ["/.gitignore", "/a.log"]


async def test_a_folder_to_start_from_must_be_one(project: Desk) -> None:
    await refused(project, 400, "glob", pattern="*", path="/main.rs")
    await refused(project, 404, "glob", pattern="*", path="/missing")
    await refused(project, 400, "find", path="/main.rs")
    await refused(project, 404, "find", path="/missing")


@carries("WS-FIND-1")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"name": "*.txt"}, ["/docs/file.txt", "/src/file.txt", "/test_dir/x.txt"]),
        ({"name": "test_*"}, ["/test_a", "/test_dir"]),
        ({"name": "[lm]*.rs"}, ["/main.rs", "/src/lib.rs"]),
        ({"name": "??.rs"}, ["/src/deep/er.rs"]),
        ({"name": "*.rs", "path": "/src"}, ["/src/deep/er.rs", "/src/lib.rs"]),
        ({"name": "*.rs", "recursive": False}, ["/main.rs"]),
        ({"file_type": "folder"}, ["/.hidden", "/docs", "/src", "/src/deep", "/test_dir"]),
        ({"file_type": "folder", "recursive": False, "path": "/src"}, ["/src/deep"]),
        ({"file_type": "document", "path": "/docs"}, ["/docs/file.txt"]),
        ({"file_type": "canvas"}, []),
    ],
)
async def test_find_judges_by_name_type_and_place(project: Desk, arguments: dict[str, Any], found: list[str]) -> None:
    assert paths(await done(project, "find", **arguments)) == found


@carries("WS-FIND-1", "WS-SYNC-2")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"min_size": 10}, ["/ten", "/twenty"]),
        ({"max_size": 10}, ["/five", "/ten"]),
        ({"min_size": 10, "max_size": 10}, ["/ten"]),
        ({"min_size": 11, "max_size": 19}, []),
        ({"min_size": 0}, ["/five", "/ten", "/twenty"]),
        ({"min_size": 20, "max_size": 5}, []),
    ],
)
async def test_sizes_are_inclusive_on_disk_and_in_the_database(desk: Desk, arguments: dict[str, int], found: list[str]) -> None:
    desk.write("five", "x" * 5)
    await done(desk, "write", path="/ten", content="x" * 10)
    await done(desk, "write", path="/twenty", content="x" * 20)
    (desk.root / "twenty").unlink()
    (desk.root / "folder").mkdir()

    assert paths(await done(desk, "find", **arguments)) == found


@carries("WS-FIND-1")
@pytest.mark.parametrize("arguments", [{"file_type": "Document"}, {"file_type": "file"}, {"min_size": -1}, {"name": ""}])
async def test_what_find_cannot_look_for_is_a_bad_request(desk: Desk, arguments: dict[str, Any]) -> None:
    await refused(desk, 400, "find", **arguments)


@carries("WS-FIND-2", "WS-SYNC-1")
async def test_find_tells_of_each_match(desk: Desk) -> None:
    await done(desk, "write", path="/a.canvas", content={}, file_type="canvas")
    (desk.root / "folder").mkdir()

    said = await done(desk, "find")

    assert all(match.keys() == ENTRY for match in said["matches"])
    assert [(match["path"], match["file_type"], match["size"], match["synced"]) for match in said["matches"]] == [
        ("/a.canvas", "canvas", 2, True),
        ("/folder", "folder", None, False),
    ]


@carries("WS-FIND-3")
@pytest.mark.parametrize(("arguments", "count"), [({}, 50), ({"limit": 3}, 3), ({"limit": 0}, 60)])
async def test_finds_limit_is_50_and_0_means_all(desk: Desk, arguments: dict[str, int], count: int) -> None:
    for number in range(60):
        desk.write(f"{number:02}.txt", "x")

    said = await done(desk, "find", **arguments)

    assert (len(said["matches"]), said["truncated"]) == (count, count < 60)
