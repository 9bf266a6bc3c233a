"""Files by their paths and versions by their numbers, as people name them"""

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256


@carries("PEOPLE-5", "PERSON-1", "PERSON-2", "PERSON-3", "PERSON-4")
async def test_a_path_names_the_file_as_its_id_does(desk: Desk) -> None:
    made = await done(desk, "write", path="/a.md", content="one\n")
    await done(desk, "write", path="/a.md", content="two\n", overwrite=True)
    file_id = made["file_id"]

    assert await done(desk, "history", path="/a.md") == await done(desk, "history", file_id=file_id)
    assert await done(desk, "diff", path="/a.md") == await done(desk, "diff", file_id=file_id)
    restored = await done(desk, "restore", path="/a.md", version_id="1")
    await done(desk, "rm", path="/a.md")
    back = await done(desk, "undelete", path="/a.md")

    assert (restored["file_id"], restored["hash"], restored["restored_number"]) == (file_id, sha256("one\n"), 1)
    assert restored["restored_version_id"] == made["version_id"]
    assert (back["file_id"], desk.text("a.md")) == (file_id, "one\n")


@carries("PEOPLE-5")
async def test_the_file_that_is_there_goes_before_one_that_was(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="old\n")
    await done(desk, "rm", path="/a.md")
    deleted = await done(desk, "history", path="/a.md")
    made = await done(desk, "write", path="/a.md", content="new\n")

    assert deleted["synced"] is False
    assert (await done(desk, "history", path="/a.md"))["file_id"] == made["file_id"] != deleted["file_id"]


@carries("PEOPLE-5")
@pytest.mark.parametrize("tool", ["history", "diff", "restore", "undelete"])
async def test_neither_path_nor_id_and_both_are_400_and_a_file_without_versions_is_404(desk: Desk, tool: str) -> None:
    desk.write("unsynced.md", "x")

    await refused(desk, 400, tool)
    await refused(desk, 400, tool, file_id="x", path="/a.md")
    await refused(desk, 404, tool, path="/unsynced.md")
    await refused(desk, 404, tool, path="/nowhere/at/all.md")


@carries("PEOPLE-3")
async def test_a_version_that_there_is_not_is_404_and_without_one_an_id_is_not_enough(desk: Desk) -> None:
    made = await done(desk, "write", path="/a.md", content="one\n")

    for number in ("0", "2", "99999999999999999999"):
        await refused(desk, 404, "restore", path="/a.md", version_id=number)
        await refused(desk, 404, "diff", path="/a.md", to_version=number)
    await refused(desk, 400, "restore", file_id=made["file_id"])
    await refused(desk, 409, "restore", path="/a.md")


@carries("PEOPLE-4")
async def test_only_what_was_at_the_path_comes_back(desk: Desk) -> None:
    for name in ("a", "b", "a.md"):
        await done(desk, "write", path=f"/{name}", content=name)
        await done(desk, "rm", path=f"/{name}")

    await done(desk, "undelete", path="/a")
    await refused(desk, 404, "undelete", path="/c")

    assert [entry.name for entry in desk.root.iterdir()] == ["a"]
    assert desk.text("a") == "a"


@carries("PEOPLE-4")
async def test_undelete_of_what_is_not_deleted_is_409_and_of_a_taken_path_too(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="one\n")
    await refused(desk, 409, "undelete", path="/a.md")
    await done(desk, "rm", path="/a.md")
    desk.write("a.md", "theirs\n")

    await refused(desk, 409, "undelete", path="/a.md")

    assert desk.text("a.md") == "theirs\n"
