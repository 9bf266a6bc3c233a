"""cat"""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.toolsets.workspace._cat import Style  # pyright: ignore[reportPrivateUsage] - every style at once, without files
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import done, refused

ENTRY = {"path", "content", "line_count", "synced", "offset", "limit", "total_lines", "error"}


@carries("WS-CAT-1")
async def test_files_come_one_after_the_other(desk: Desk) -> None:
    desk.write("a.txt", "one\ntwo")
    await done(desk, "write", path="/b.txt", content="three\n")

    said = await done(desk, "cat", paths=["/a.txt", "/b.txt"])

    assert said["content"] == "one\ntwothree\n"
    assert all(file.keys() == ENTRY for file in said["files"])
    assert [(file["path"], file["content"], file["line_count"], file["total_lines"], file["synced"]) for file in said["files"]] == [
        ("/a.txt", "one\ntwo", 2, 2, False),
        ("/b.txt", "three\n", 1, 1, True),
    ]
    assert [(file["offset"], file["limit"], file["error"]) for file in said["files"]] == [(0, None, None)] * 2


@carries("WS-CAT-2")
@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ("show_ends", "one $\n\ttwo$\n$\n$\n$\nlast$"),
        ("show_tabs", "one \n^Itwo\n\n\n\nlast"),
        ("squeeze_blank", "one \n\ttwo\n\nlast"),
        ("number_lines", "     1\tone \n     2\t\ttwo\n     3\t\n     4\t\n     5\t\n     6\tlast"),
    ],
)
async def test_what_is_invisible_is_shown(desk: Desk, option: str, shown: str) -> None:
    desk.write("a.txt", "one \n\ttwo\n\n\n\nlast")

    said = await done(desk, "cat", paths=["/a.txt"], **{option: True})

    assert (said["content"], said["files"][0]["content"]) == (shown, shown)


@carries("WS-CAT-2")
@given(
    st.text(alphabet="a\t \n", max_size=40),
    st.fixed_dictionaries({"show_ends": st.booleans(), "show_tabs": st.booleans(), "squeeze_blank": st.booleans()}),
)
def test_it_shows_what_cat_shows(text: str, options: dict[str, bool]) -> None:
    text = text if text.endswith("\n") or not text else text + "\n"
    flags = [flag for flag, name in (("-E", "show_ends"), ("-T", "show_tabs"), ("-s", "squeeze_blank")) if options[name]]

    shown = Style(**options).applied(text, first_line=0)

    assert shown.text == subprocess.run(["cat", *flags], input=text, capture_output=True, text=True, check=True).stdout
    assert shown.lines == shown.text.count("\n")


@carries("WS-CAT-3", "WS-CAT-5")
@pytest.mark.parametrize(
    ("arguments", "shown", "count"),
    [
        ({"offset": 100, "limit": 2}, "   101\tline 100\n   102\tline 101\n", 2),
        ({"offset": -2}, "   149\tline 148\n   150\tline 149\n", 2),
        ({"offset": -1000, "limit": 1}, "     1\tline 0\n", 1),
        ({"limit": 1}, "     1\tline 0\n", 1),
        ({"offset": 200}, "", 0),
    ],
)
async def test_numbers_are_those_of_the_file(desk: Desk, arguments: dict[str, int], shown: str, count: int) -> None:
    desk.write("a.txt", "".join(f"line {number}\n" for number in range(150)))

    [file] = (await done(desk, "cat", paths=["/a.txt"], number_lines=True, **arguments))["files"]

    assert (file["content"], file["line_count"], file["total_lines"]) == (shown, count, 150)
    assert (file["offset"], file["limit"]) == (arguments.get("offset", 0), arguments.get("limit"))


@carries("WS-CAT-3")
async def test_squeezed_lines_keep_their_numbers(desk: Desk) -> None:
    desk.write("a.txt", "one\n\n\n\nfive\n")

    [file] = (await done(desk, "cat", paths=["/a.txt"], number_lines=True, squeeze_blank=True))["files"]

    assert (file["content"], file["line_count"]) == ("     1\tone\n     2\t\n     5\tfive\n", 3)


@carries("WS-CAT-5")
async def test_a_limit_of_0_means_all(desk: Desk) -> None:
    desk.write("a.txt", "x\n" * 700)

    assert (await done(desk, "cat", paths=["/a.txt"], limit=0))["files"][0]["line_count"] == 700


@carries("WS-CAT-5")
async def test_offset_and_limit_hold_for_each_file(desk: Desk) -> None:
    desk.write("a.txt", "1\n2\n3\n")
    desk.write("b.txt", "4\n5\n6\n7\n")

    said = await done(desk, "cat", paths=["/a.txt", "/b.txt"], offset=-2, limit=1)

    assert [file["content"] for file in said["files"]] == ["2\n", "6\n"]


@carries("WS-CAT-4")
async def test_headers_are_lines_of_their_own(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.write("b.txt", "two\n")
    desk.write("c.txt", "three\n")

    said = await done(desk, "cat", paths=["/a.txt", "/b.txt", "/c.txt"], show_headers=True)

    assert said["content"] == "==> /a.txt <==\none\n\n==> /b.txt <==\ntwo\n\n==> /c.txt <==\nthree\n"
    assert [file["content"] for file in said["files"]] == ["one", "two\n", "three\n"]


@carries("WS-CAT-6", "WS-SYNC-3")
async def test_a_file_that_fails_has_its_own_error(desk: Desk) -> None:
    desk.write("a.txt", "one\n")
    (desk.root / "docs").mkdir()

    said = await done(desk, "cat", paths=["/missing", "/a.txt", "/docs", "@project/a.txt", "a\0b"])

    assert said["content"] == "one\n"
    assert [(file["path"], file["error"] is None) for file in said["files"]] == [
        ("/missing", False),
        ("/a.txt", True),
        ("/docs", False),
        ("@project/a.txt", False),
        ("a\0b", False),
    ]
    assert said["files"][0]["error"].startswith("File not found: /missing")
    assert said["files"][0]["content"] is None


@carries("WS-CAT-6")
@pytest.mark.parametrize(("count", "status"), [(0, 400), (21, 400), (20, 200)])
async def test_at_most_20_files_are_shown(desk: Desk, count: int, status: int) -> None:
    desk.write("a.txt", "x\n")

    if status == 400:
        said = await refused(desk, 400, "cat", paths=["/a.txt"] * count)
        assert said["fields"].keys() == {"paths"}
    else:
        assert (await done(desk, "cat", paths=["/a.txt"] * count))["content"] == "x\n" * 20


@carries("WS-CAT-7")
async def test_what_is_not_text_keeps_its_kind(desk: Desk) -> None:
    await done(desk, "write", path="/a.canvas", content={"a": [1]}, file_type="canvas")
    desk.write("b.bin", b"\0\1")

    said = await done(desk, "cat", paths=["/a.canvas", "/b.bin"], show_ends=True)

    assert [(file["content"], file["line_count"], file["total_lines"]) for file in said["files"]] == [
        ({"a": [1]}, None, None),
        ("AAE=", None, None),
    ]
    assert (said["content"], said["files"][1]["encoding"]) == ('{"a":[1]}AAE=', "base64")
