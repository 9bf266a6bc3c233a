"""file_write"""

import os
import stat
from pathlib import Path

import pytest

from holdfast.tool import Category, Danger
from tests.desk import Desk, open_desk
from tests.powers import without_the_powers_of_root
from tests.promises import carries


@carries("CORE-WRITE-1", "CORE-WRITE-4")
async def test_it_makes_the_file_and_says_how_many_bytes_went_where(desk: Desk) -> None:
    said = await desk.call("file_write", path="new.txt", content="\N{SNOWMAN}\n")

    assert (said["output"], said["is_error"]) == ("wrote 4 bytes to new.txt", False)
    assert desk.text("new.txt") == "\N{SNOWMAN}\n"


@carries("CORE-WRITE-1")
async def test_it_replaces_what_was_there_whole(desk: Desk) -> None:
    desk.write("old.txt", "a longer text than the new one\n")

    await desk.call("file_write", path="old.txt", content="new\n")

    assert desk.text("old.txt") == "new\n"


@carries("CORE-WRITE-2")
async def test_it_makes_the_parent_folders(desk: Desk) -> None:
    said = await desk.call("file_write", path="new/dir/file.txt", content="data")

    assert (said["is_error"], desk.text("new/dir/file.txt")) == (False, "data")


@carries("CORE-WRITE-3")
async def test_empty_content_makes_an_empty_file(desk: Desk) -> None:
    said = await desk.call("file_write", path="empty.txt", content="")

    assert (said["output"], desk.text("empty.txt")) == ("wrote 0 bytes to empty.txt", "")


@carries("CORE-WRITE-5")
async def test_a_new_file_has_mode_0644(desk: Desk) -> None:
    before = os.umask(0o022)
    try:
        await desk.call("file_write", path="new.txt", content="x")
    finally:
        os.umask(before)

    assert stat.S_IMODE((desk.root / "new.txt").stat().st_mode) == 0o644


@carries("CORE-WRITE-6")
async def test_permission_denied_is_an_error_result(tmp_path: Path) -> None:
    with without_the_powers_of_root():
        async with open_desk(tmp_path) as desk:
            (desk.root / "locked").mkdir(mode=0o555)
            desk.write("fixed.txt", "kept\n").chmod(0o444)

            new = await desk.call("file_write", path="locked/new.txt", content="x")
            old = await desk.call("file_write", path="fixed.txt", content="x")

    assert (new["is_error"], old["is_error"]) == (True, True)
    assert "permission denied" in new["output"].lower()
    assert desk.text("fixed.txt") == "kept\n"


@carries("CORE-WRITE-7", "ROAD-8")
async def test_it_is_a_dangerous_file_tool_that_requires_path_and_content(desk: Desk) -> None:
    tool = desk.holdfast.road.registry.get("file_write")

    assert tool is not None
    assert (tool.category, tool.danger) == (Category.FILE, Danger.DANGEROUS)
    assert tool.schema["required"] == ["path", "content"]
    said = await desk.call("file_write", path="new.txt")
    assert (said["is_error"], desk.last_code, "'content'" in said["output"]) == (True, "invalid_arguments", True)


@carries("CORE-PATH-2", "CORE-PATH-6", "MOUNT-2")
async def test_project_and_central_folder_can_both_be_written(desk: Desk) -> None:
    central = desk.holdfast.road.surroundings.mounts["central"].root

    first = await desk.call("file_write", path=f"{desk.root}/in project.txt", content="p")
    second = await desk.call("file_write", path=f"{central}/sub/plan.md", content="c")

    assert (first["is_error"], second["is_error"]) == (False, False)
    assert (desk.text("in project.txt"), (central / "sub/plan.md").read_text()) == ("p", "c")


@carries("MOUNT-2")
async def test_central_lives_below_holdfasts_home_and_elsewhere_when_it_is_mounted(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "artifacts"
    other.mkdir()
    (tmp_path / "second").mkdir()
    async with open_desk(tmp_path / "second", mounts={"central": str(other)}) as mounted:
        await mounted.call("file_write", path=f"{other}/plan.md", content="here\n")

    assert desk.holdfast.road.surroundings.mounts["central"].root.is_relative_to(tmp_path / "home")
    assert (other / "plan.md").read_text() == "here\n"


@carries("CORE-PATH-3", "CORE-PATH-4", "ROAD-6")
@pytest.mark.parametrize(
    "path", ["../outside.txt", "{outside}/new.txt", "{outside}/there.txt", "link", "folder/new.txt", "folder/a/b.txt", "../new/x"]
)
async def test_nothing_outside_is_made_or_changed(desk: Desk, tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.txt").write_text("theirs\n")
    (desk.root / "link").symlink_to(outside / "there.txt")
    (desk.root / "folder").symlink_to("../outside")

    said = await desk.call("file_write", path=path.format(outside=outside), content="mine\n")

    assert (said["is_error"], desk.last_code) == (True, "outside")
    assert [entry.name for entry in outside.iterdir()] == ["there.txt"]
    assert (outside / "there.txt").read_text() == "theirs\n"
    assert sorted(os.listdir(tmp_path)) == ["home", "outside", "project"]


@carries("PROT-1", "PROT-2", "PROT-3", "PROT-5")
@pytest.mark.parametrize(
    "path", [".env", ".env.local", "sub/.ENV", ".git/config", ".git/hooks/pre-commit", "credentials", "a-secret-plan.md", "id_rsa", "x.pem"]
)
async def test_a_protected_path_is_neither_made_nor_changed(desk: Desk, path: str) -> None:
    new = await desk.call("file_write", path=path, content="x")
    made = (desk.root / path).exists()
    desk.write(path, "kept\n")
    old = await desk.call("file_write", path=path, content="x")

    assert (new["is_error"], made, desk.last_code, old["is_error"]) == (True, False, "protected", True)
    assert desk.text(path) == "kept\n"


@carries("PROT-1")
async def test_an_example_of_an_environment_file_is_written(desk: Desk) -> None:
    said = await desk.call("file_write", path=".env.example", content="KEY=\n")

    assert (said["is_error"], desk.text(".env.example")) == (False, "KEY=\n")


@carries("PROT-7")
async def test_holdfasts_own_state_inside_the_project_is_not_written(tmp_path: Path) -> None:
    from holdfast import Holdfast

    async with Holdfast.open(tmp_path, home=tmp_path / ".data") as holdfast:
        desk = Desk(holdfast, tmp_path)
        await desk.call("file_write", path="fine.txt", content="x")
        log = next((tmp_path / ".data").rglob("execution.jsonl"))
        paths = [log.relative_to(tmp_path), Path(".data/new.txt"), Path(".data/workspaces/x/state/default/flow.md")]

        for path in paths:
            said = await desk.call("file_write", path=str(path), content="forged\n")

            assert (said["is_error"], desk.last_code) == (True, "protected")
        assert not (tmp_path / ".data/new.txt").exists()


@carries("PROT-7")
async def test_the_log_of_a_state_that_is_mounted_inside_the_project_is_not_written(tmp_path: Path) -> None:
    state = tmp_path / "project" / "run"
    state.mkdir(parents=True)
    async with open_desk(tmp_path, mounts={"state": str(state)}) as desk:
        await desk.call("file_write", path="fine.txt", content="x")

        for path in ("run/logs/execution.jsonl", "run/logs/new.txt", f"{state}/logs/execution.jsonl"):
            said = await desk.call("file_write", path=path, content="forged\n")

            assert (said["is_error"], desk.last_code) == (True, "protected")
        assert len(desk.audit()) == 4
        assert os.listdir(state / "logs") == ["execution.jsonl"]
