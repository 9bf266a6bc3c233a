"""rm"""

import shutil

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256


@carries("WS-RM-1", "WS-VERSION-1")
async def test_a_removed_file_is_off_the_disk_and_its_versions_stay(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/docs/a.md", content="a")

    said = await done(desk, "rm", path="/docs/a.md")

    assert said == {"path": "/docs/a.md", "file_id": wrote["file_id"]}
    assert not (desk.root / "docs/a.md").exists()
    await refused(desk, 404, "read", path="/docs/a.md")
    versions = (await done(desk, "history", file_id=wrote["file_id"]))["versions"]
    assert [one["kind"] for one in versions] == ["remove", "write"]


@carries("WS-RM-2")
async def test_a_file_that_is_only_on_the_disk_has_no_id_and_can_be_undeleted(desk: Desk) -> None:
    desk.write("a.md", "precious")

    said = await done(desk, "rm", path="/a.md")
    [deleted] = (await done(desk, "list_deleted"))["files"]
    await done(desk, "undelete", file_id=deleted["id"])

    assert said == {"path": "/a.md", "file_id": None}
    assert deleted["path"] == "/a.md"
    assert desk.text("a.md") == "precious"


@carries("WS-RM-1", "WS-SYNC-6")
async def test_what_changed_behind_our_back_is_kept_before_it_goes(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/a.md", content="ours")
    desk.write("a.md", "theirs")

    await done(desk, "rm", path="/a.md")
    await done(desk, "undelete", file_id=wrote["file_id"])

    assert desk.text("a.md") == "theirs"


@carries("WS-RM-3")
@pytest.mark.parametrize("where", ["disk", "database", "deeper"])
async def test_a_folder_with_anything_in_it_stays(desk: Desk, where: str) -> None:
    await done(desk, "mkdir", path="/docs")
    if where == "disk":
        desk.write("docs/a.md", "a")
    else:
        path = "/docs/a.md" if where == "database" else "/docs/deep/er/a.md"
        await done(desk, "write", path=path, content="a")
        shutil.rmtree(desk.root / "docs")
        (desk.root / "docs").mkdir()

    await refused(desk, 409, "rm", path="/docs")

    assert (desk.root / "docs").is_dir()


@carries("WS-RM-3")
async def test_an_empty_folder_goes(desk: Desk) -> None:
    made = await done(desk, "mkdir", path="/docs")
    (desk.root / "disk").mkdir()

    said = [await done(desk, "rm", path="/docs"), await done(desk, "rm", path="/disk")]

    assert said == [{"path": "/docs", "file_id": made["file_id"]}, {"path": "/disk", "file_id": None}]
    assert (await done(desk, "ls"))["entries"] == []


@carries("WS-RM-4")
async def test_nothing_is_not_found_and_the_root_stays(desk: Desk) -> None:
    await refused(desk, 404, "rm", path="/missing.md")
    await refused(desk, 400, "rm", path="/")
    await refused(desk, 400, "rm", path="/..")

    assert desk.root.is_dir()


@carries("WS-RM-5")
async def test_a_path_that_is_used_again_is_another_file(desk: Desk) -> None:
    first = await done(desk, "write", path="/a.md", content="first")
    await done(desk, "rm", path="/a.md")

    second = await done(desk, "write", path="/a.md", content="second")

    assert second["file_id"] != first["file_id"]
    assert [one["hash"] for one in (await done(desk, "history", file_id=second["file_id"]))["versions"]] == [sha256("second")]


async def test_a_link_is_removed_itself(desk: Desk) -> None:
    desk.write("a.md", "kept")
    (desk.root / "link").symlink_to("a.md")

    await done(desk, "rm", path="/link")

    assert not (desk.root / "link").is_symlink()
    assert desk.text("a.md") == "kept"
