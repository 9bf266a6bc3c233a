"""How `fs` spells paths, what its mounts allow, and what it answers when neither is respected."""

from pathlib import Path

import pytest

from holdfast.vocabulary.json import Json
from tests.desk import Desk, open_desk
from tests.promises import carries

# A good call of every tool of fs, but for its path.
CALLS: dict[str, dict[str, Json]] = {
    "fs.list": {},
    "fs.read": {},
    "fs.search": {"pattern": "inside"},
    "fs.write": {"content": "new\n"},
    "fs.apply_patch": {"patch": {"operation": "updateFrontmatter", "update": {"currentNodeId": {"set": "b"}}}},
}
FLOW = "---\ncurrentNodeId: a\n---\ninside\n"


async def refused_code(desk: Desk, tool: str, path: str) -> str:
    """The code that a call of the tool with this path is answered with."""
    said = await desk.take(tool, {**CALLS[tool], "path": path})
    assert said["ok"] is False, said
    return said["error"]["code"]


@carries("FS-PATH-1")
async def test_a_path_is_its_mount_and_the_rest_and_the_mount_alone_is_the_root(desk: Desk) -> None:
    desk.write("src/main.py", "print()\n")

    read = await desk.call("fs.read", path="@project/src/main.py")
    root = await desk.call("fs.list", path="@project")

    assert read["content"] == "print()\n"
    assert (root["path"], [entry["name"] for entry in root["entries"]]) == ("@project", ["src"])


@carries("FS-PATH-2")
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("path", ["notes.md", "@nowhere/notes.md", "@/notes.md", "@", "@pkg/notes.md", "@PROJECT/notes.md", "@project2"])
async def test_no_mount_or_an_unknown_one_is_a_sandbox_violation(desk: Desk, tool: str, path: str) -> None:
    desk.write("notes.md", FLOW)

    assert await refused_code(desk, tool, path) == "E_SANDBOX_VIOLATION"


@carries("FS-PATH-2")
async def test_an_unknown_mount_is_answered_with_the_mounts_that_there_are(desk: Desk) -> None:
    said = await desk.call("fs.read", path="@home/notes.md")

    assert all(mount in said["error"]["message"] for mount in ("@project", "@central", "@state"))


@carries("FS-PATH-3")
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("path", ["/etc/passwd", "/", "//etc/passwd", "C:\\Windows\\win.ini", "C:/Windows", "\\\\server\\share\\x"])
async def test_an_absolute_path_is_a_sandbox_violation(desk: Desk, tool: str, path: str) -> None:
    assert await refused_code(desk, tool, path) == "E_SANDBOX_VIOLATION"


@carries("FS-PATH-4")
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize(
    "path",
    [
        "@project/../outside.txt",
        "@project/a/../notes.md",
        "@project\\..\\outside.txt",
        "@project/a\\..\\..\\x",
        "../@project/notes.md",
        "@project/..",
    ],
)
async def test_two_dots_are_a_sandbox_violation_even_where_they_would_stay_inside(desk: Desk, tool: str, path: str) -> None:
    desk.write("a/b.md", FLOW)
    desk.write("notes.md", FLOW)

    assert await refused_code(desk, tool, path) == "E_SANDBOX_VIOLATION"


@carries("FS-PATH-4")
async def test_a_backslash_counts_as_a_slash(desk: Desk) -> None:
    desk.write("src/main.py", "print()\n")

    read = await desk.call("fs.read", path="@project\\src\\main.py")

    assert (read["content"], read["path"]) == ("print()\n", "@project/src/main.py")


@carries("FS-PATH-4")
async def test_dots_that_are_only_part_of_a_name_are_no_violation(desk: Desk) -> None:
    desk.write("a..b/...md", "dots\n")

    assert (await desk.call("fs.read", path="@project/a..b/...md"))["content"] == "dots\n"


@carries("FS-PATH-5")
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("path", ["@project/notes.md\0", "@project/\0notes.md", "@pro\0ject/notes.md", "@project/notes.md\0.txt"])
async def test_a_nul_byte_is_a_sandbox_violation(desk: Desk, tool: str, path: str) -> None:
    desk.write("notes.md", FLOW)

    assert await refused_code(desk, tool, path) == "E_SANDBOX_VIOLATION"


@carries("FS-PATH-6")
@pytest.mark.parametrize("mount", ["project", "state"])
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("path", ["link", "folder/outside.md", "chain", "folder", "back"])
async def test_a_link_that_leads_out_is_a_sandbox_violation_and_nothing_changes_there(
    desk: Desk, tmp_path: Path, mount: str, tool: str, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "outside.md").write_text(FLOW)
    root = desk.root if mount == "project" else desk.state
    (root / "link").symlink_to(outside / "outside.md")
    (root / "folder").symlink_to(outside)
    (root / "chain").symlink_to("link")
    (root / "back").symlink_to("../outside/outside.md")

    assert await refused_code(desk, tool, f"@{mount}/{path}") == "E_SANDBOX_VIOLATION"
    assert (outside / "outside.md").read_text() == FLOW
    assert [entry.name for entry in outside.iterdir()] == ["outside.md"]


@carries("FS-PATH-6")
async def test_a_link_that_stays_inside_is_followed_and_the_answer_names_where_it_led(desk: Desk) -> None:
    desk.write("docs/true.md", "true\n")
    (desk.root / "link.md").symlink_to("docs/true.md")

    read = await desk.call("fs.read", path="@project/link.md")
    await desk.call("fs.write", path="@project/link.md", content="written\n")

    assert (read["content"], read["path"]) == ("true\n", "@project/docs/true.md")
    assert (desk.root / "link.md").is_symlink()
    assert desk.text("docs/true.md") == "written\n"


@carries("FS-PATH-7")
@pytest.mark.parametrize(
    "path",
    ["./@project/a/b.md", "/@project/a/b.md", ".//@project//a///b.md", "@project/./a/b.md", "@project/a/b.md/", " @project/a/b.md\n"],
)
async def test_dots_slashes_and_blanks_that_say_nothing_change_nothing(desk: Desk, path: str) -> None:
    desk.write("a/b.md", "here\n")

    read = await desk.call("fs.read", path=path)

    assert (read["content"], read["path"]) == ("here\n", "@project/a/b.md")


@carries("FS-MOUNT-1", "MOUNT-1")
@pytest.mark.parametrize("mount", ["project", "state", "central"])
async def test_project_and_state_can_be_read_and_written(desk: Desk, mount: str) -> None:
    written = await desk.call("fs.write", path=f"@{mount}/new.md", content="new\n")
    read = await desk.call("fs.read", path=f"@{mount}/new.md")

    root = desk.holdfast.road.surroundings.mounts[mount].root
    assert (written["ok"], read["content"], (root / "new.md").read_text()) == (True, "new\n", "new\n")
    assert desk.holdfast.road.surroundings.mounts["project"].root == desk.root


@carries("FS-MOUNT-2", "MOUNT-4")
async def test_a_package_can_be_read_and_a_write_or_patch_there_is_a_sandbox_violation(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "agent.md").write_text(FLOW)
    async with open_desk(tmp_path, mounts={"pkg": str(package)}) as desk:
        read = await desk.call("fs.read", path="@pkg/agent.md")

        codes = [
            await refused_code(desk, tool, f"@pkg/{name}") for tool in ("fs.write", "fs.apply_patch") for name in ("agent.md", "new.md")
        ]

    assert read["content"] == FLOW
    assert codes == ["E_SANDBOX_VIOLATION"] * 4
    assert (package / "agent.md").read_text() == FLOW
    assert [entry.name for entry in package.iterdir()] == ["agent.md"]


@carries("FS-MOUNT-3", "MOUNT-3")
async def test_two_runs_of_one_project_have_a_state_each_and_do_not_see_the_others(tmp_path: Path) -> None:
    async with open_desk(tmp_path, run="one") as first, open_desk(tmp_path, run="two") as second:
        await first.call("fs.write", path="@state/mine.md", content="first\n")

        seen = await second.call("fs.read", path="@state/mine.md")
        await second.call("fs.write", path="@state/mine.md", content="second\n")

        assert seen["error"]["code"] == "ENOENT"
        assert (await first.call("fs.read", path="@state/mine.md"))["content"] == "first\n"


@carries("FS-RESULT-1", "FS-RESULT-2")
@pytest.mark.parametrize("tool", ["fs.list", "fs.read", "fs.search", "fs.apply_patch"])
async def test_what_is_not_there_is_enoent(desk: Desk, tool: str) -> None:
    mount = "@state" if tool == "fs.apply_patch" else "@project"

    assert await refused_code(desk, tool, f"{mount}/no/where.md") == "ENOENT"


@carries("FS-RESULT-1")
@pytest.mark.parametrize("tool", CALLS)
async def test_success_has_ok_true_and_an_error_has_only_ok_false_and_a_code_with_its_message(desk: Desk, tool: str) -> None:
    (desk.state / "flow.md").write_text(FLOW)
    path = "@state" if tool in ("fs.list", "fs.search") else "@state/flow.md"

    good = await desk.take(tool, {**CALLS[tool], "path": path})
    bad = await desk.take(tool, {**CALLS[tool], "path": "@state/../x"})

    assert good["ok"] is True
    assert "error" not in good
    assert bad.keys() == {"ok", "error"}
    assert bad["ok"] is False
    assert {"code", "message"} <= bad["error"].keys() <= {"code", "message", "details"}


@carries("FS-RESULT-3")
async def test_an_answer_names_mount_paths_and_never_one_of_the_host(desk: Desk, tmp_path: Path) -> None:
    desk.write("docs/notes.md", "needle\n")
    (desk.root / "out").symlink_to(tmp_path)
    (desk.state / "flow.md").write_text(FLOW)
    good = {"fs.list": "@project/docs", "fs.read": "@project/docs/notes.md", "fs.search": "@project", "fs.write": "@project/docs/notes.md"}
    calls = [*good.items(), ("fs.apply_patch", "@state/flow.md"), *((tool, "@project/missing/x") for tool in CALLS)]
    calls += [(tool, "@project/out/x") for tool in CALLS] + [(tool, "@project/docs/notes.md/x") for tool in CALLS]

    for tool, path in calls:
        said = await desk.take(tool, {**CALLS[tool], "path": path})

        assert str(tmp_path) not in f"{said} {desk.last_text}"
        assert not said["ok"] or said["path"] == path
