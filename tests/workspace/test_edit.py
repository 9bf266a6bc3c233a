"""Changing a part of a file."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.vocabulary.errors import InvalidArguments, InvalidRange, ManyMatches, NoMatch, NotFound, StaleHash, TooLarge
from holdfast.workspace.changes import Changes
from holdfast.workspace.edit import insert, replace
from holdfast.workspace.mount import Mount
from holdfast.workspace.nearest import nearest
from tests.promises import carries
from tests.workspace.writing import at, everything, sha256


@carries("ENGINE-3")
async def test_the_one_occurrence_is_replaced_and_both_hashes_told(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"one two three\n")

    written = await replace(Changes(), at(mount, "file"), "two", "2")

    assert (root / "file").read_bytes() == b"one 2 three\n"
    assert (written.sha256_before, written.sha256_after) == (sha256(b"one two three\n"), sha256(b"one 2 three\n"))


@carries("WRITE-7")
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"\xff\xfe\x00 a \x80b", "a", "å", b"\xff\xfe\x00 a \x80b", id="a wide mark without wide text finds nothing"),
        pytest.param(b"\x80 a \xff\x00", "a", "å", b"\x80 \xc3\xa5 \xff\x00", id="invalid UTF-8 stays"),
        pytest.param(b"\xef\xbb\xbfa b", "a", "c", b"\xef\xbb\xbfc b", id="a byte order mark stays"),
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n", id="text with LF finds CRLF and is written so"),
        pytest.param(b"a\r\nb\r\n", "a", "x\ny", b"x\r\ny\r\nb\r\n", id="new lines in a file of CRLF are CRLF"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n", id="CRLF is not doubled"),
        pytest.param(b"a\nb\r\nc\n", "a\nb", "x\ny", b"x\ny\r\nc\n", id="in a mixed file the exact bytes win"),
        pytest.param(b"a\nb\r\nc\n", "b\nc", "x\ny", b"a\nx\r\ny\n", id="in a mixed file CRLF is found too"),
        pytest.param(b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n", id="text with CRLF finds LF and is written so"),
        pytest.param(b"no newline", "newline", "line", b"no line", id="a missing last newline stays missing"),
        pytest.param("\ufeffa b\r\n".encode("utf-16-le"), "a b\n", "ü\n", "\ufeffü\r\n".encode("utf-16-le"), id="UTF-16, low byte first"),
        pytest.param("\ufeffa b".encode("utf-16-be"), "b", "c", "\ufeffa c".encode("utf-16-be"), id="UTF-16, high byte first"),
        pytest.param(
            "\ufeff\u6101\u0100a".encode("utf-16-le"),
            "a",
            "b",
            "\ufeff\u6101\u0100b".encode("utf-16-le"),
            id="never in the middle of a character",
        ),
        pytest.param("\ufeffa".encode("utf-32-le"), "a", "b", "\ufeffb".encode("utf-32-le"), id="UTF-32"),
    ],
)
async def test_what_an_edit_does_not_touch_stays_byte_for_byte(
    mount: Mount, root: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (root / "file").write_bytes(before)

    if before == after:
        with pytest.raises(NoMatch):
            await replace(Changes(), at(mount, "file"), old, new)
    else:
        await replace(Changes(), at(mount, "file"), old, new)

    assert (root / "file").read_bytes() == after


@carries("ENGINE-3")
async def test_text_that_is_there_more_than_once_is_refused_with_its_lines(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"a\nb\na\n")

    with pytest.raises(ManyMatches) as caught:
        await replace(Changes(), at(mount, "file"), "a", "c")

    assert (caught.value.facts["count"], caught.value.facts["lines"]) == (2, [1, 3])
    assert everything(root) == {"file": b"a\nb\na\n"}


async def test_text_that_overlaps_with_itself_is_there_more_than_once(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"aaa")

    with pytest.raises(ManyMatches):
        await replace(Changes(), at(mount, "file"), "aa", "b")

    assert everything(root) == {"file": b"aaa"}


@carries("ENGINE-3")
async def test_text_that_is_not_there_is_refused_with_what_comes_nearest(mount: Mount, root: Path) -> None:
    content = b"def first():\n    return 1\n\n\ndef second():\n\treturn 2\n"
    (root / "file").write_bytes(content)

    with pytest.raises(NoMatch) as caught:
        await replace(Changes(), at(mount, "file"), "def second():\n    return 2\n", "x")

    assert caught.value.facts["nearest"] == [{"line": 5, "expected": "    return 2", "found": "\treturn 2"}]
    assert everything(root) == {"file": content}


async def test_nothing_can_be_replaced_by_naming_nothing(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x")

    with pytest.raises(InvalidArguments):
        await replace(Changes(), at(mount, "file"), "", "y")

    assert everything(root) == {"file": b"x"}


async def test_half_a_character_cannot_be_written(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x")

    for old, new in (("x", "\ud800"), ("\udfff", "y")):
        with pytest.raises(InvalidArguments):
            await replace(Changes(), at(mount, "file"), old, new)

    assert everything(root) == {"file": b"x"}


@carries("ENGINE-5")
async def test_an_edit_made_from_an_old_reading_changes_nothing(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"second\n")

    with pytest.raises(StaleHash):
        await replace(Changes(), at(mount, "file"), "second", "third", only_if=sha256(b"first\n"))
    with pytest.raises(StaleHash):
        await insert(Changes(), at(mount, "file"), 0, "third", only_if=sha256(b"first\n"))

    assert everything(root) == {"file": b"second\n"}


async def test_a_missing_or_too_large_file_cannot_be_edited(mount: Mount, root: Path) -> None:
    (root / "large").write_bytes(b"x" * 100)

    with pytest.raises(NotFound):
        await replace(Changes(), at(mount, "missing"), "x", "y")
    with pytest.raises(TooLarge):
        await insert(Changes(), at(mount, "large"), 0, "y", max_bytes=99)

    assert everything(root) == {"large": b"x" * 100}


@carries("ENGINE-4")
@pytest.mark.parametrize(
    ("before", "line", "content", "after"),
    [
        (b"a\nb\n", 0, "x\n", b"x\na\nb\n"),
        (b"a\nb\n", 1, "x\ny", b"a\nx\ny\nb\n"),
        (b"a\nb\n", 2, "x", b"a\nb\nx\n"),
        (b"a\nb", 2, "x", b"a\nb\nx\n"),
        (b"a\nb", 1, "x", b"a\nx\nb"),
        (b"", 0, "x", b"x\n"),
        (b"a\r\nb\r\n", 1, "x\ny\n", b"a\r\nx\r\ny\r\nb\r\n"),
        (b"a\r\nb", 2, "x", b"a\r\nb\r\nx\r\n"),
        (b"\xef\xbb\xbfa\n", 0, "x", b"\xef\xbb\xbfx\na\n"),
        (b"\xef\xbb\xbf", 0, "x", b"\xef\xbb\xbfx\n"),
        (b"\xff\na\x80\n", 1, "x", b"\xff\nx\na\x80\n"),
        ("\ufeffa\nb\n".encode("utf-16-le"), 1, "x", "\ufeffa\nx\nb\n".encode("utf-16-le")),
        ("\ufeffa\nb".encode("utf-16-be"), 2, "x", "\ufeffa\nb\nx\n".encode("utf-16-be")),
        (b"a\n", 1, "", b"a\n"),
    ],
)
async def test_lines_are_put_before_the_line_or_at_the_end(
    mount: Mount, root: Path, before: bytes, line: int, content: str, after: bytes
) -> None:
    (root / "file").write_bytes(before)

    await insert(Changes(), at(mount, "file"), line, content)

    assert (root / "file").read_bytes() == after


@carries("ENGINE-4")
@pytest.mark.parametrize("line", [-1, 3, 10**12])
async def test_a_line_that_is_not_there_takes_no_insertion(mount: Mount, root: Path, line: int) -> None:
    (root / "file").write_bytes(b"a\nb\n")

    with pytest.raises(InvalidRange) as caught:
        await insert(Changes(), at(mount, "file"), line, "x")

    assert caught.value.facts["lines"] == 2
    assert everything(root) == {"file": b"a\nb\n"}


@given(
    before=st.binary(max_size=60), new=st.text(st.characters(codec="utf-8"), max_size=10), cut=st.integers(0, 60), length=st.integers(1, 6)
)
async def test_an_edit_changes_its_own_bytes_and_no_others(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, new: str, cut: int, length: int
) -> None:
    piece = before[cut : cut + length]
    marked = before.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
    try:
        old = piece.decode()
    except UnicodeDecodeError:
        return
    if not piece or marked or before.count(piece) != 1 or b"\r" in before + new.encode():
        return
    mount = Mount("project", tmp_path_factory.mktemp("edit"))
    (mount.root / "file").write_bytes(before)

    try:
        await replace(Changes(), at(mount, "file"), old, new)
    except ManyMatches:
        assert before.find(piece, before.find(piece) + 1) >= 0
    else:
        assert (mount.root / "file").read_bytes() == before.replace(piece, new.encode())
    finally:
        mount.close()


def test_the_nearest_text_is_found_across_typing_errors_and_white_space() -> None:
    text = "import os\n\n\ndef resolve(path):\n    return os.path.realpath(path)\n\n\ndef close():\n    pass\n"

    assert [one.line for one in nearest(text, "def reslove(path):")][:1] == [4]
    assert [one.line for one in nearest(text, "return  os.path.realpath( path )")] == [5]
    assert [one.line for one in nearest(text, "def resolve(path):\n    return path")] == [4]
    assert nearest(text, "nothing like it at all, truly") == []
    assert nearest(text, "\n \n") == []
    assert nearest("", "x") == []


def test_a_text_that_begins_within_a_line_is_compared_from_there() -> None:
    found = nearest("x = first(\n    1,\n    2)\n", "first(\n    1,\n    3)")

    assert [(one.line, one.expected, one.found) for one in found] == [(1, "    3)", "    2)")]


def test_long_lines_are_shown_where_they_differ() -> None:
    found = nearest("start " + "y" * 300 + "END", "start " + "y" * 300 + "end")

    assert found == [] or (len(found[0].found) <= 200 and "END" in found[0].found)


@pytest.mark.parametrize(
    "text", ["x = 1 # same\n" * 500_000, "word " * 1_000_000, "\n" * 5_000_000, "".join(f"line {n} of it\n" for n in range(300_000))]
)
def test_looking_for_what_comes_nearest_is_quick_in_a_large_file(text: str) -> None:
    started = time.thread_time()

    nearest(text, "x = 2 # line 99999 of that\nword and word\n")

    assert time.thread_time() - started < 1
