"""fs.list"""

import pytest

from tests.desk import Desk
from tests.promises import carries


@carries("FS-LIST-1")
async def test_it_lists_the_direct_children_and_nothing_deeper(desk: Desk) -> None:
    desk.write("src/main.py", "")
    desk.write("src/deep/er.py", "")
    desk.write("README.md", "")

    said = await desk.call("fs.list", path="@project/src")

    assert [entry["name"] for entry in said["entries"]] == ["deep", "main.py"]


@carries("FS-LIST-2")
async def test_hidden_entries_and_links_are_left_out(desk: Desk) -> None:
    desk.write("seen.md", "")
    desk.write(".hidden", "")
    desk.write(".folder/x", "")
    (desk.root / "link.md").symlink_to("seen.md")
    (desk.root / "dangling").symlink_to("nowhere")

    said = await desk.call("fs.list", path="@project")

    assert [entry["name"] for entry in said["entries"]] == ["seen.md"]


@carries("FS-LIST-3")
async def test_an_entry_is_its_name_type_and_size(desk: Desk) -> None:
    desk.write("five.txt", "12345")
    desk.write("empty.txt", "")
    (desk.root / "folder").mkdir()

    said = await desk.call("fs.list", path="@project")

    assert [entry.keys() for entry in said["entries"]] == [{"name", "type", "size"}] * 3
    told = {entry["name"]: (entry["type"], entry["size"]) for entry in said["entries"]}
    assert (told["five.txt"], told["empty.txt"], told["folder"][0]) == (("file", 5), ("file", 0), "directory")


@carries("FS-LIST-4")
@pytest.mark.parametrize("hidden", [0, 5])
async def test_200_entries_come_whole_and_of_201_there_is_a_preview(desk: Desk, hidden: int) -> None:
    for number in range(200):
        desk.write(f"{number:03}.txt", "")
    for number in range(hidden):
        desk.write(f".hidden{number}", "")

    whole = await desk.call("fs.list", path="@project")
    desk.write("200.txt", "")
    preview = await desk.call("fs.list", path="@project")

    assert len(whole["entries"]) == 200
    assert "truncated" not in whole
    assert preview.keys() == {"ok", "path", "entriesPreview", "truncated", "hint"}
    assert (len(preview["entriesPreview"]), preview["truncated"]) == (200, True)
    assert preview["hint"]


@carries("FS-LIST-5", "ROAD-7")
async def test_a_file_or_nothing_at_the_path_is_an_error(desk: Desk) -> None:
    desk.write("file.md", "")

    file = await desk.call("fs.list", path="@project/file.md")
    nothing = await desk.call("fs.list", path="@project/nothing")

    assert (file["error"]["code"], nothing["error"]["code"]) == ("E_INTERNAL", "ENOENT")
    assert "not a directory" in file["error"]["message"]


async def test_an_empty_folder_has_no_entries(desk: Desk) -> None:
    (desk.root / "empty").mkdir()

    assert (await desk.call("fs.list", path="@project/empty"))["entries"] == []


async def test_names_that_are_not_utf_8_are_listed_and_can_be_sent(desk: Desk) -> None:
    (desk.root / b"caf\xe9.txt".decode(errors="surrogateescape")).write_text("")

    said = await desk.call("fs.list", path="@project")

    assert [entry["name"] for entry in said["entries"]] == ["caf\N{REPLACEMENT CHARACTER}.txt"]
    assert desk.last_text.encode()
