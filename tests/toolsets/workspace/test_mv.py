"""mv"""

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256


@carries("WS-MV-1", "WS-VERSION-1")
async def test_a_renamed_file_keeps_its_id_and_its_versions(desk: Desk) -> None:
    wrote = await done(desk, "write", path="/documents/old-name.md", content="a")

    said = await done(desk, "mv", source="/documents/old-name.md", destination="/documents/new-name.md")

    assert said == {"from_path": "/documents/old-name.md", "to_path": "/documents/new-name.md"}
    assert (desk.text("documents/new-name.md"), (desk.root / "documents/old-name.md").exists()) == ("a", False)
    versions = (await done(desk, "history", file_id=wrote["file_id"]))["versions"]
    assert [(one["kind"], one["path"]) for one in versions] == [
        ("move", "/documents/new-name.md"),
        ("write", "/documents/old-name.md"),
    ]
    await refused(desk, 404, "read", path="/documents/old-name.md")


@carries("WS-MV-2")
@pytest.mark.parametrize("destination", ["/archive/", "/archive", "archive", "/archive/."])
async def test_a_folder_receives_the_source_under_its_own_name(desk: Desk, destination: str) -> None:
    await done(desk, "write", path="/file.txt", content="a")
    (desk.root / "archive").mkdir()

    said = await done(desk, "mv", source="/file.txt", destination=destination)

    assert said["to_path"] == "/archive/file.txt"
    assert desk.text("archive/file.txt") == "a"


@carries("WS-MV-2")
async def test_the_root_receives_too(desk: Desk) -> None:
    await done(desk, "write", path="/docs/a.md", content="a")

    assert (await done(desk, "mv", source="/docs/a.md", destination="/"))["to_path"] == "/a.md"


@carries("WS-MV-3")
@pytest.mark.parametrize("destination", ["/missing/", "/missing/b.md", "/missing/deeper/b.md"])
async def test_a_folder_that_is_missing_is_not_found(desk: Desk, destination: str) -> None:
    await done(desk, "write", path="/a.md", content="a")

    await refused(desk, 404, "mv", source="/a.md", destination=destination)

    assert desk.text("a.md") == "a"
    assert not (desk.root / "missing").exists()


@carries("WS-MV-3")
async def test_a_source_that_is_missing_is_not_found(desk: Desk) -> None:
    await refused(desk, 404, "mv", source="/missing.md", destination="/b.md")


@carries("WS-MV-4")
@pytest.mark.parametrize("destination", ["/b.md", "/folder/", "/folder", "/a.md"])
@pytest.mark.parametrize("is_synced", [True, False])
async def test_nothing_is_overwritten(desk: Desk, destination: str, is_synced: bool) -> None:
    await done(desk, "write", path="/a.md", content="a")
    for path in ("b.md", "folder/a.md"):
        if is_synced:
            await done(desk, "write", path=f"/{path}", content="taken")
        else:
            desk.write(path, "taken")

    await refused(desk, 409, "mv", source="/a.md", destination=destination)

    assert (desk.text("a.md"), desk.text("b.md"), desk.text("folder/a.md")) == ("a", "taken", "taken")


@carries("WS-MV-4")
async def test_a_folder_in_the_place_of_the_name_is_not_entered(desk: Desk) -> None:
    await done(desk, "write", path="/a", content="a")
    await done(desk, "mkdir", path="/folder/a")

    await refused(desk, 409, "mv", source="/a", destination="/folder/")

    assert desk.text("a") == "a"


@carries("WS-MV-5", "WS-SYNC-4")
async def test_a_folder_moves_with_all_that_is_in_it(desk: Desk) -> None:
    known = await done(desk, "write", path="/docs/deep/known.md", content="known")
    desk.write("docs/disk.md", "disk")

    await done(desk, "mv", source="/docs", destination="/moved")

    paths = {entry["path"] for entry in (await done(desk, "ls", recursive=True))["entries"]}
    assert paths == {"/moved", "/moved/deep", "/moved/deep/known.md", "/moved/disk.md"}
    assert (await done(desk, "describe_file", file_id=known["file_id"]))["path"] == "/moved/deep/known.md"
    assert (desk.text("moved/deep/known.md"), desk.text("moved/disk.md")) == ("known", "disk")


@carries("WS-SYNC-4")
async def test_a_file_that_is_only_on_the_disk_is_imported(desk: Desk) -> None:
    desk.write("disk.md", "disk")

    await done(desk, "mv", source="/disk.md", destination="/moved.md")

    info = await done(desk, "file_info", path="/moved.md")
    assert (info["synced"], info["hash"]) == (True, sha256("disk"))


@carries("WS-MV-6")
@pytest.mark.parametrize(("source", "destination"), [("/docs", "/docs/deep/x"), ("/docs", "/docs/"), ("/docs", "/docs"), ("/", "/docs")])
async def test_nothing_goes_into_itself_and_the_root_stays(desk: Desk, source: str, destination: str) -> None:
    await done(desk, "mkdir", path="/docs/deep")

    await refused(desk, 400, "mv", source=source, destination=destination)

    assert (desk.root / "docs/deep").is_dir()


@carries("WS-MV-7")
@pytest.mark.parametrize(
    ("source", "destination"),
    [
        ("/config", "/.git/"),
        ("/config", "/.git"),
        ("/a.md", "/.env"),
        ("/.env.local", "/a.txt"),
        ("/with-secret-inside", "/moved"),
        ("/repository", "/.git2/"),
        ("/fake", "/.hidden"),
    ],
)
async def test_nothing_gets_to_or_from_a_protected_path(desk: Desk, source: str, destination: str) -> None:
    for path in ("config", "a.md", ".env.local", "with-secret-inside/deep/.env", "repository/.git/hooks/pre-commit", "fake/x/id_rsa"):
        desk.write(path, "kept")
    for path in (".git", ".git2"):
        (desk.root / path).mkdir()
    before = sorted(str(path) for path in desk.root.rglob("*"))

    await refused(desk, 403, "mv", source=source, destination=destination)

    assert sorted(str(path) for path in desk.root.rglob("*")) == before


@carries("WS-MV-7")
async def test_a_folder_does_not_become_a_protected_one_by_its_name(desk: Desk) -> None:
    desk.write("innocent/hooks/pre-commit", "forged")

    await refused(desk, 403, "mv", source="/innocent", destination="/.git")

    assert not (desk.root / ".git").exists()
