"""write, and the versions that it makes"""

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import Conversation, done, refused, sha256

KINDS = ["document", "canvas", "chat", "whiteboard", "agent", "skill", "plan"]


@carries("WS-WRITE-1", "WS-VERSION-3")
async def test_a_new_file_gets_its_folders_and_is_synced(desk: Desk) -> None:
    said = await done(desk, "write", path="/documents/deep/notes.md", content="# My Notes\n")

    assert said.keys() == {"path", "file_id", "version_id", "hash"}
    assert (said["path"], said["hash"]) == ("/documents/deep/notes.md", sha256("# My Notes\n"))
    assert desk.text("documents/deep/notes.md") == "# My Notes\n"
    assert (await done(desk, "file_info", path="/documents/deep/notes.md"))["synced"] is True
    assert (await done(desk, "file_info", path="/documents/deep"))["synced"] is True


@carries("WS-WRITE-2", "WS-VERSION-2")
@pytest.mark.parametrize("is_synced", [True, False])
async def test_an_existing_file_stays_as_it_is_without_overwrite(desk: Desk, is_synced: bool) -> None:
    if is_synced:
        await done(desk, "write", path="/documents/notes.md", content="first")
    else:
        desk.write("documents/notes.md", "first")

    said = await refused(desk, 400, "write", path="/documents/notes.md", content="second")

    assert said["fields"]["path"] == (
        "File already exists: /documents/notes.md. To overwrite, set overwrite=true. "
        "However, for modifying existing files, the 'edit' tool is recommended instead of overwriting."
    )
    assert desk.text("documents/notes.md") == "first"


@carries("WS-WRITE-2")
async def test_a_file_that_only_the_database_has_exists_too(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="first")
    (desk.root / "a.md").unlink()

    await refused(desk, 400, "write", path="/a.md", content="second")


@carries("WS-WRITE-3", "WS-VERSION-1")
async def test_overwriting_is_a_new_version_of_the_same_file(desk: Desk) -> None:
    first = await done(desk, "write", path="/a.md", content="first")

    second = await done(desk, "write", path="/a.md", content="second", overwrite=True)

    assert (second["file_id"], second["version_id"] != first["version_id"]) == (first["file_id"], True)
    versions = (await done(desk, "history", file_id=first["file_id"]))["versions"]
    assert [(one["version_id"], one["hash"]) for one in versions] == [
        (second["version_id"], sha256("second")),
        (first["version_id"], sha256("first")),
    ]


@carries("WS-SYNC-6", "WS-WRITE-3")
async def test_what_somebody_else_wrote_in_between_is_kept_as_a_version_of_its_own(desk: Desk) -> None:
    first = await done(desk, "write", path="/a.md", content="first")
    desk.write("a.md", "theirs")

    await done(desk, "write", path="/a.md", content="third", overwrite=True)

    versions = (await done(desk, "history", file_id=first["file_id"]))["versions"]
    assert [(one["kind"], one["hash"]) for one in versions] == [
        ("write", sha256("third")),
        ("external", sha256("theirs")),
        ("write", sha256("first")),
    ]


@carries("WS-WRITE-5")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_is_of_the_type_that_it_was_written_as(desk: Desk, kind: str) -> None:
    await done(desk, "write", path="/a.x", content="x", file_type=kind)

    assert (await done(desk, "file_info", path="/a.x"))["file_type"] == kind


@carries("WS-WRITE-5")
async def test_without_a_type_a_new_file_is_a_document_and_an_old_one_keeps_its_type(desk: Desk) -> None:
    await done(desk, "write", path="/new.x", content="x")
    await done(desk, "write", path="/old.x", content="x", file_type="canvas")
    await done(desk, "write", path="/old.x", content="y", overwrite=True)

    types = [(await done(desk, "file_info", path=path))["file_type"] for path in ("/new.x", "/old.x")]

    assert types == ["document", "canvas"]


@carries("WS-WRITE-5")
@pytest.mark.parametrize("kind", ["Document", "PLAN", "pdf", "", 7])
async def test_another_type_is_a_bad_request(desk: Desk, kind: str | int) -> None:
    said = await refused(desk, 400, "write", path="/a.x", content="x", file_type=kind)

    assert said["fields"].keys() == {"file_type"}
    assert not (desk.root / "a.x").exists()


@carries("WS-WRITE-5")
async def test_a_folder_is_not_written_but_made(desk: Desk) -> None:
    said = await refused(desk, 400, "write", path="/folder", content="", file_type="folder")

    assert "mkdir" in said["error"]
    assert not (desk.root / "folder").exists()


@carries("WS-WRITE-6")
@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("path", ["/docs", "/"])
async def test_a_folder_is_not_written_over(desk: Desk, path: str, overwrite: bool) -> None:
    await done(desk, "mkdir", path="/docs")

    await refused(desk, 400, "write", path=path, content="x", overwrite=overwrite)

    assert (desk.root / "docs").is_dir()


@carries("WS-WRITE-8")
async def test_a_chat_that_no_session_made_is_an_ordinary_file(desk: Desk) -> None:
    await done(desk, "write", path="/notes/talk.chat", content="hello", file_type="chat")

    await done(desk, "edit", path="/notes/talk.chat", old_string="hello", new_string="goodbye")

    assert (await done(desk, "file_info", path="/notes/talk.chat"))["is_virtual"] is False
    assert desk.text("notes/talk.chat") == "goodbye"


@carries("WS-WRITE-4")
@pytest.mark.parametrize("content", ["half \ud800", {"a": "\udc00"}, {"\ud800": 1}])
async def test_what_utf_8_cannot_say_is_a_bad_request(desk: Desk, content: object) -> None:
    said = await refused(desk, 400, "write", path="/a.x", content=content)

    assert said["fields"].keys() == {"content"}


@carries("WS-VERSION-1")
async def test_a_version_knows_who_made_it_in_which_session_and_call(desk: Desk) -> None:
    talk = await Conversation.begun(desk, mode="build")

    body = await talk.call("write", path="/a.md", content="x")

    [version] = (await done(desk, "history", file_id=body["result"]["file_id"]))["versions"]
    assert (version["author"], version["session_id"], version["kind"]) == ("coder", talk.id, "write")
    assert version["call_id"].startswith("call-")
