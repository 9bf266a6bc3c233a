"""fs.read"""

import hashlib
import json
from typing import Any

import pytest

from holdfast import ToolHost
from holdfast.vocabulary.limits import FsLimits, Limits
from holdfast.vocabulary.profile import Profile
from tests.desk import Desk
from tests.promises import carries

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@carries("FS-READ-1", "FS-READ-2")
async def test_without_a_window_the_whole_file_comes_with_its_size_and_hash(desk: Desk) -> None:
    text = "first\r\nsecond \N{SNOWMAN}\n\nlast without an end"
    desk.write("notes.md", text)

    said = await desk.call("fs.read", path="@project/notes.md")

    assert (said["content"], said["bytes"], said["sha256"]) == (text, len(text.encode()), sha256(text))
    assert "truncated" not in said


@carries("FS-READ-3", "FS-READ-2")
@pytest.mark.parametrize(
    ("start", "end", "lines"), [(1, 1, [1]), (2, 4, [2, 3, 4]), (10, 10, [10]), (9, 99, [9, 10]), (1, 10, list(range(1, 11)))]
)
async def test_a_window_counts_from_one_and_includes_both_ends(desk: Desk, start: int, end: int, lines: list[int]) -> None:
    desk.write("ten.txt", TEN)

    said = await desk.call("fs.read", path="@project/ten.txt", startLine=start, endLine=end)

    assert said["content"] == "".join(f"line {number}\n" for number in lines)
    assert (said["bytes"], said["sha256"]) == (len(TEN), sha256(TEN))


@carries("FS-READ-4")
async def test_either_end_of_a_window_may_be_left_out(desk: Desk) -> None:
    desk.write("ten.txt", TEN)

    head = await desk.call("fs.read", path="@project/ten.txt", endLine=2)
    tail = await desk.call("fs.read", path="@project/ten.txt", startLine=9)

    assert (head["content"], tail["content"]) == ("line 1\nline 2\n", "line 9\nline 10\n")


async def test_a_window_behind_the_end_is_empty(desk: Desk) -> None:
    desk.write("ten.txt", TEN)

    said = await desk.call("fs.read", path="@project/ten.txt", startLine=11)

    assert (said["ok"], said["content"], said["totalLines"]) == (True, "", 10)


@carries("FS-READ-5")
async def test_an_end_before_the_start_is_an_internal_error_as_the_document_says(desk: Desk) -> None:
    desk.write("ten.txt", TEN)

    said = await desk.call("fs.read", path="@project/ten.txt", startLine=5, endLine=4)

    assert (said["ok"], said["error"]["code"], desk.last_code) == (False, "E_INTERNAL", "invalid_range")


@carries("FS-READ-6", "FS-READ-2")
async def test_over_the_limit_a_preview_comes_with_the_whole_files_size_and_hash_and_a_hint_that_can_be_followed(desk: Desk) -> None:
    text = "".join(f"line {number:04}\n" for number in range(1, 5502))
    desk.write("long.txt", text)

    said = await desk.call("fs.read", path="@project/long.txt")

    assert said["truncated"] is True
    assert "content" not in said
    assert text.startswith(said["contentPreview"])
    assert 49_990 <= len(said["contentPreview"]) <= 50_000
    assert (said["bytes"], said["sha256"]) == (len(text), sha256(text))
    assert all(word in said["hint"] for word in ("startLine", "endLine", "fs.search"))
    shown = said["contentPreview"].count("\n")
    rest = await desk.call("fs.read", path="@project/long.txt", startLine=shown + 1)
    assert f"startLine={shown + 1}" in said["hint"]
    assert said["contentPreview"] + rest["content"] == text


@carries("FS-READ-7")
async def test_exactly_50_000_bytes_come_whole_and_one_more_is_cut(desk: Desk) -> None:
    desk.write("edge.txt", "x\n" * 25_000)

    whole = await desk.call("fs.read", path="@project/edge.txt")
    desk.write("edge.txt", "x\n" * 25_000 + "x")
    cut = await desk.call("fs.read", path="@project/edge.txt")

    assert (whole["bytes"], len(whole["content"]), "truncated" in whole) == (50_000, 50_000, False)
    assert (cut["bytes"], cut["truncated"], len(cut["contentPreview"])) == (50_001, True, 50_000)


@carries("FS-READ-7")
async def test_the_limit_counts_bytes_and_not_characters(desk: Desk) -> None:
    desk.write("snow.txt", ("\N{SNOWMAN}" * 10 + "\n") * 1_613)  # 31 bytes a line, 50,003 in all

    said = await desk.call("fs.read", path="@project/snow.txt")

    assert (said["truncated"], len(said["contentPreview"].encode())) == (True, 1_612 * 31)


@carries("FS-READ-7")
async def test_a_window_within_the_limit_comes_whole_from_a_file_over_it(desk: Desk) -> None:
    desk.write("long.txt", "x" * 99 + "\n" + ("y" * 99 + "\n") * 2_000)

    said = await desk.call("fs.read", path="@project/long.txt", startLine=1, endLine=500)

    assert (len(said["content"]), "truncated" in said) == (50_000, False)


@carries("FS-READ-7", "FS-HOST-4")
async def test_an_agents_own_limit_holds_instead_of_the_default(desk: Desk) -> None:
    desk.write("ten.txt", TEN)
    small = Profile("small", ("fs",), limits=Limits(fs=FsLimits(max_read_bytes=14, max_write_bytes=3)))
    host = ToolHost(desk.holdfast, {"sm": small})

    read: Any = await host.execute("1", "fs_read", json.dumps({"path": "@project/ten.txt"}), {"agentId": "sm"})
    wrote: Any = await host.execute("2", "fs_write", json.dumps({"path": "@project/new.txt", "content": "1234"}), {"agentId": "sm"})
    others: Any = await host.execute("3", "fs_read", json.dumps({"path": "@project/ten.txt"}), {"agentId": "other"})

    assert (read["contentPreview"], read["truncated"]) == ("line 1\nline 2\n", True)
    assert (wrote["error"]["code"], (desk.root / "new.txt").exists()) == ("E_WRITE_LIMIT", False)
    assert others["content"] == TEN


@carries("FS-READ-8")
async def test_one_line_over_the_limit_is_a_read_limit_error_and_a_line_of_the_limit_is_not(desk: Desk) -> None:
    desk.write("fits.txt", "x" * 50_000)
    desk.write("over.txt", "x" * 50_001)
    desk.write("second.txt", "short\n" + "x" * 50_001)

    fits = await desk.call("fs.read", path="@project/fits.txt")
    over = await desk.call("fs.read", path="@project/over.txt")
    second = await desk.call("fs.read", path="@project/second.txt")
    window = await desk.call("fs.read", path="@project/second.txt", startLine=2, endLine=2)

    assert len(fits["content"]) == 50_000
    assert (over["error"]["code"], window["error"]["code"]) == ("E_READ_LIMIT", "E_READ_LIMIT")
    assert (second["truncated"], second["contentPreview"]) == (True, "short\n")


@carries("FS-READ-9", "FS-HOST-3")
@pytest.mark.parametrize(
    "data",
    [
        b"caf\xe9\n",
        bytes(range(256)),
        b"\xff\xfe\x00\xd8x\x00",
        b"\xff\xfe" + "wide \N{SNOWMAN}\n".encode("utf-16-le"),
        b"\xed\xa0\x80 half a pair\n",
        b"\xf0\x9f\x98",
        b"\0" * 1000,
    ],
)
async def test_bytes_that_are_not_utf_8_are_read_and_stay_as_they_are_and_the_answer_is_json(desk: Desk, data: bytes) -> None:
    file = desk.write("odd.bin", data)

    said: Any = await ToolHost(desk.holdfast).execute("1", "fs.read", '{"path": "@project/odd.bin"}')

    assert (said["ok"], said["bytes"], said["sha256"]) == (True, len(data), sha256(data))
    assert json.dumps(said, ensure_ascii=False).encode()
    assert file.read_bytes() == data


@carries("FS-READ-1")
async def test_an_empty_file_is_empty_text(desk: Desk) -> None:
    desk.write("empty.md", "")

    said = await desk.call("fs.read", path="@project/empty.md")

    assert (said["content"], said["bytes"], said["sha256"]) == ("", 0, sha256(""))


async def test_a_folder_is_an_error_that_says_so(desk: Desk) -> None:
    (desk.root / "folder").mkdir()

    said = await desk.call("fs.read", path="@project/folder")

    assert (said["error"]["code"], desk.last_code) == ("E_INTERNAL", "is_directory")
