"""read"""

import base64
import json

import pytest

from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused, sha256

LINES = "".join(f"line {number}\n" for number in range(1000))


@carries("WS-READ-1", "WS-READ-2", "WS-READ-4", "WS-VERSION-3")
async def test_the_first_500_lines_come_with_the_hash_of_the_whole(desk: Desk) -> None:
    desk.write("long.txt", LINES)

    said = await done(desk, "read", path="/long.txt")

    assert said == {
        "path": "/long.txt",
        "content": "".join(f"line {number}\n" for number in range(500)),
        "hash": sha256(LINES),
        "synced": False,
        "total_lines": 1000,
        "truncated": True,
        "offset": 0,
        "limit": 500,
    }


@carries("WS-READ-2", "WS-READ-3", "WS-READ-4")
@pytest.mark.parametrize(
    ("arguments", "numbers", "truncated"),
    [
        ({"limit": 0}, range(1000), False),
        ({"offset": 100, "limit": 50}, range(100, 150), True),
        ({"offset": -100}, range(900, 1000), False),
        ({"offset": -1000, "limit": 50}, range(50), True),
        ({"offset": -5000, "limit": 2}, range(2), True),
        ({"offset": 990}, range(990, 1000), False),
        ({"offset": 1000}, range(0), False),
        ({"offset": 10**30}, range(0), False),
    ],
)
async def test_a_window_counts_from_either_end(desk: Desk, arguments: dict[str, int], numbers: range, truncated: bool) -> None:
    desk.write("long.txt", LINES)

    said = await done(desk, "read", path="/long.txt", **arguments)

    assert said["content"] == "".join(f"line {number}\n" for number in numbers)
    assert (said["truncated"], said["total_lines"], said["hash"]) == (truncated, 1000, sha256(LINES))
    assert (said["offset"], said["limit"]) == (arguments.get("offset", 0), arguments.get("limit", 500))


@carries("WS-READ-5", "WS-READ-6")
@pytest.mark.parametrize(("text", "total"), [("", 0), ("\n", 1), ("one", 1), ("one\n", 1), ("one\ntwo", 2), ("one\r\n\r\ntwo \t\r\n", 3)])
async def test_text_comes_as_it_is_stored_and_its_lines_are_counted(desk: Desk, text: str, total: int) -> None:
    await done(desk, "write", path="/a.txt", content=text)

    said = await done(desk, "read", path="/a.txt")

    assert (said["content"], said["total_lines"], said["hash"]) == (text, total, sha256(text))
    assert (desk.root / "a.txt").read_bytes() == text.encode()


@carries("WS-READ-7")
@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_folder_is_a_bad_request(desk: Desk, path: str) -> None:
    (desk.root / "docs").mkdir()

    await refused(desk, 400, "read", path=path)


@carries("WS-READ-8", "WS-WRITE-4")
@pytest.mark.parametrize("value", [{"elements": [], "version": 1, "sn\u00f6w": None}, [1, 2.5, "three"], 7, True, None, {"big": 2**80}])
async def test_json_comes_back_as_the_value_that_was_written(desk: Desk, value: object) -> None:
    wrote = await done(desk, "write", path="/main.canvas", content=value, file_type="canvas")

    said = await done(desk, "read", path="/main.canvas", limit=1)

    stored = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert (desk.root / "main.canvas").read_bytes() == stored
    assert (said["content"], said["hash"], wrote["hash"]) == (value, sha256(stored), sha256(stored))
    assert [said[name] for name in ("total_lines", "truncated", "offset", "limit")] == [None] * 4


@carries("WS-READ-9")
async def test_a_json_file_from_the_disk_is_text(desk: Desk) -> None:
    desk.write("a.json", '{\n  "a": 1\n}\n')

    said = await done(desk, "read", path="/a.json")

    assert (said["content"], said["total_lines"], "encoding" in said) == ('{\n  "a": 1\n}\n', 3, False)


@carries("WS-READ-9")
async def test_binary_comes_as_base64_and_says_so(desk: Desk) -> None:
    data = bytes(range(256)) * 3
    desk.write("a.bin", data)

    said = await done(desk, "read", path="/a.bin")

    assert (base64.b64decode(said["content"]), said["encoding"], said["hash"]) == (data, "base64", sha256(data))
    assert (said["total_lines"], said["truncated"]) == (None, None)


@carries("WS-SYNC-3")
async def test_what_only_the_database_has_is_read_from_there(desk: Desk) -> None:
    await done(desk, "write", path="/docs/a.md", content="kept\n")
    (desk.root / "docs/a.md").unlink()

    said = await done(desk, "read", path="/docs/a.md")

    assert (said["content"], said["synced"]) == ("kept\n", True)


@carries("WS-SYNC-6")
async def test_bytes_that_changed_behind_our_back_are_what_is_read(desk: Desk) -> None:
    await done(desk, "write", path="/a.md", content="ours\n")
    desk.write("a.md", "theirs\n")

    said = await done(desk, "read", path="/a.md")

    assert (said["content"], said["hash"], said["synced"]) == ("theirs\n", sha256("theirs\n"), True)
