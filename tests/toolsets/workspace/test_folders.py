"""mkdir and touch"""

import os

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256


@carries("WS-MKDIR-1", "WS-VERSION-1")
async def test_mkdir_makes_every_missing_folder(desk: Desk) -> None:
    said = await done(desk, "mkdir", path="/docs/v1/api")

    assert (said.keys(), said["path"]) == ({"path", "file_id"}, "/docs/v1/api")
    assert (desk.root / "docs/v1/api").is_dir()
    for path in ("/docs", "/docs/v1", "/docs/v1/api"):
        info = await done(desk, "file_info", path=path)
        assert (info["synced"], info["file_type"]) == (True, "folder")
    assert [one["kind"] for one in (await done(desk, "history", file_id=said["file_id"]))["versions"]] == ["mkdir"]


@carries("WS-MKDIR-2")
async def test_mkdir_of_an_existing_folder_gives_its_id(desk: Desk) -> None:
    first = await done(desk, "mkdir", path="/docs")

    second = await done(desk, "mkdir", path="/docs/")

    assert second == first


@carries("WS-MKDIR-2", "WS-SYNC-5")
async def test_mkdir_imports_a_folder_that_is_only_on_the_disk(desk: Desk) -> None:
    desk.write("docs/a.md", "a")

    said = await done(desk, "mkdir", path="/docs")

    info = await done(desk, "file_info", path="/docs")
    assert (said["file_id"] is not None, info["synced"]) == (True, True)
    assert desk.text("docs/a.md") == "a"


@carries("WS-MKDIR-3")
@pytest.mark.parametrize("path", ["/file.txt", "/file.txt/sub", "/file.txt/sub/deeper"])
@pytest.mark.parametrize("is_synced", [True, False])
async def test_mkdir_over_or_through_a_file_is_a_conflict(desk: Desk, path: str, is_synced: bool) -> None:
    if is_synced:
        await done(desk, "write", path="/file.txt", content="kept")
    else:
        desk.write("file.txt", "kept")

    await refused(desk, 409, "mkdir", path=path)

    assert desk.text("file.txt") == "kept"


async def test_mkdir_of_the_root_changes_nothing(desk: Desk) -> None:
    assert (await done(desk, "mkdir", path="/"))["path"] == "/"


@carries("WS-TOUCH-1")
async def test_touch_makes_an_empty_document_and_its_folders(desk: Desk) -> None:
    said = await done(desk, "touch", path="/documents/new/placeholder.txt")

    info = await done(desk, "file_info", path="/documents/new/placeholder.txt")
    assert (said.keys(), said["path"]) == ({"path", "file_id"}, "/documents/new/placeholder.txt")
    assert (info["file_type"], info["size"], info["synced"], info["hash"]) == ("document", 0, True, sha256(""))
    assert desk.text("documents/new/placeholder.txt") == ""


@carries("WS-TOUCH-2")
async def test_touch_of_a_file_changes_its_time_alone(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/a.txt", content="kept")
    os.utime(desk.root / "a.txt", (1, 1))
    before = await done(desk, "file_info", path="/a.txt")

    said = await done(desk, "touch", path="/a.txt")

    after = await done(desk, "file_info", path="/a.txt")
    assert said["file_id"] == wrote["file_id"]
    assert after["updated_at"] > before["updated_at"]
    assert (desk.root / "a.txt").stat().st_mtime > 1
    assert desk.text("a.txt") == "kept"
    assert len((await done(desk, "history", file_id=wrote["file_id"]))["versions"]) == 1


@carries("WS-SYNC-5")
async def test_touch_imports_a_file_that_is_only_on_the_disk(desk: Desk) -> None:
    desk.write("a.txt", "kept")

    said = await done(desk, "touch", path="/a.txt")

    assert said["file_id"] is not None
    assert (await done(desk, "file_info", path="/a.txt"))["synced"] is True
    assert desk.text("a.txt") == "kept"


@carries("WS-TOUCH-2")
@pytest.mark.parametrize("path", ["/docs", "/"])
async def test_touch_of_a_folder_is_a_bad_request(desk: Desk, path: str) -> None:
    await done(desk, "mkdir", path="/docs")

    await refused(desk, 400, "touch", path=path)
