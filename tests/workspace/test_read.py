"""Reading: what is in a file, its windows and limits, and the hash of the whole."""

import codecs
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.vocabulary.errors import LineTooLong, TooLarge
from holdfast.workspace import read as read_module
from holdfast.workspace.lines import Lines
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Place
from holdfast.workspace.read import Slice, read
from tests.promises import carries
from tests.workspace.reading import PLENTY, at, sha256


async def whole(mount: Mount, root: Path, data: bytes) -> Slice:
    (root / "file").write_bytes(data)
    return await read(at(mount, "file"), max_bytes=PLENTY)


# What is in a file


async def test_a_file_comes_whole_with_its_size_lines_and_hash(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, b"one\ntwo\nthree")

    assert part.text == "one\ntwo\nthree"
    assert (part.size, part.first, part.lines, part.total_lines) == (13, 0, 3, 3)
    assert (part.cut, part.more) == (False, False)
    assert part.sha256 == sha256(b"one\ntwo\nthree")


@pytest.mark.parametrize("data", [b"narrow", codecs.BOM_UTF16_LE + b"w\0"])
async def test_a_slice_says_when_its_file_was_last_modified(mount: Mount, root: Path, data: bytes) -> None:
    (root / "file").write_bytes(data)
    os.utime(root / "file", (1000.5, 2000.5))

    assert (await read(at(mount, "file"), max_bytes=10)).modified == 2000.5


async def test_an_empty_file_has_no_lines_and_the_hash_of_nothing(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, b"")

    assert (part.text, part.size, part.lines, part.total_lines) == ("", 0, 0, 0)
    assert (part.cut, part.more, part.sha256) == (False, False, sha256(b""))


async def test_line_ends_are_kept_as_they_are(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, b"dos\r\nmac\runix\n\x0b\x0c\x85\xe2\x80\xa8end")

    assert part.data == b"dos\r\nmac\runix\n\x0b\x0c\x85\xe2\x80\xa8end"
    assert part.total_lines == 3


@carries("ENGINE-2")
async def test_a_byte_order_mark_is_not_text_and_counts_for_hash_and_size(mount: Mount, root: Path) -> None:
    data = codecs.BOM_UTF8 + b"one\ntwo\n"

    part = await whole(mount, root, data)

    assert part.text == "one\ntwo\n"
    assert (part.size, part.sha256) == (len(data), sha256(data))
    assert (await read(at(mount, "file"), Lines(1), max_bytes=PLENTY)).text == "two\n"


@pytest.mark.parametrize("surveyed", [True, False])
async def test_a_byte_order_mark_is_not_text_when_all_lines_are_counted_from_the_end_either(
    mount: Mount, root: Path, surveyed: bool
) -> None:
    (root / "file").write_bytes(codecs.BOM_UTF8 + b"one\ntwo\n")

    part = await read(at(mount, "file"), Lines(-5), max_bytes=PLENTY, surveyed=surveyed)

    assert part.text == "one\ntwo\n"


async def test_bytes_that_are_not_utf_8_are_shown_as_replacement_characters_and_kept_in_the_data(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, b"caf\xe9\nna\xefve\n")

    assert part.text == "caf\ufffd\nna\ufffdve\n"
    assert part.data == b"caf\xe9\nna\xefve\n"
    assert not part.encoding.is_binary


@carries("ENGINE-2")
async def test_a_binary_file_is_read_and_said_to_be_binary(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, b"\x7fELF\0\0\n\0\xff")

    assert part.encoding.is_binary
    assert part.data == b"\x7fELF\0\0\n\0\xff"


# UTF-16 and UTF-32

WIDE = [
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
]


@carries("ENGINE-2")
@pytest.mark.parametrize(("name", "mark"), WIDE)
async def test_a_wide_file_is_shown_as_its_text_with_the_hash_of_its_bytes(mount: Mount, root: Path, name: str, mark: bytes) -> None:
    data = mark + "grün\r\n\u0a0a\u2028ende\nlast".encode(name)

    part = await whole(mount, root, data)

    assert part.text == "grün\r\n\u0a0a\u2028ende\nlast"
    assert (part.lines, part.total_lines, part.first, part.more, part.cut) == (3, 3, 0, False, False)
    assert (part.size, part.sha256) == (len(data), sha256(data))


@pytest.mark.parametrize("whole_lines", [True, False])
async def test_a_wide_file_has_the_windows_and_limits_of_the_same_text_in_utf_8(mount: Mount, root: Path, whole_lines: bool) -> None:
    text = "eins\nzwei\r\ndrei\ré €\n\nfünf"
    (root / "narrow").write_text(text, newline="")
    (root / "wide").write_bytes(codecs.BOM_UTF16_LE + text.encode("utf-16-le"))
    windows = [Lines(skip, at_most) for skip in range(-6, 7) for at_most in (None, 0, 1, 2, 9)]

    for lines in windows:
        for max_bytes in (40, 12, 7, 6):
            seen = [await shown(at(mount, path), lines, max_bytes, whole_lines=whole_lines) for path in ("narrow", "wide")]
            assert seen[0] == seen[1], (lines, max_bytes)


async def shown(place: Place, lines: Lines, max_bytes: int, *, whole_lines: bool) -> object:
    try:
        part = await read(place, lines, max_bytes=max_bytes, whole_lines=whole_lines)
    except LineTooLong as error:
        return error.code
    return part.text, part.first, part.lines, part.cut, part.more, part.total_lines


async def test_a_wide_file_that_is_too_big_to_be_decoded_is_too_large(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_module, "MAX_WIDE_BYTES", 100)

    with pytest.raises(TooLarge):
        await whole(mount, root, codecs.BOM_UTF16_LE + b"x\0" * 50)


async def test_a_wide_file_that_ends_in_half_a_character_is_read(mount: Mount, root: Path) -> None:
    part = await whole(mount, root, codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"\n")

    assert part.text == "ab\ufffd"


# Windows and limits


def naive(data: bytes, lines: Lines, max_bytes: int, *, whole_lines: bool) -> tuple[bytes, bool, bool] | None:
    """What is to be read, whether it is cut, and whether there is more; None when one line is too long."""
    every: list[bytes] = re.findall(rb"[^\n]*\n|[^\n]+", data)
    first = lines.skip if lines.skip >= 0 else max(0, len(every) + lines.skip)
    wanted = every[first:] if lines.at_most is None else every[first : first + lines.at_most]
    joined = b"".join(wanted)
    if len(joined) <= max_bytes:
        return joined, False, first + len(wanted) < len(every)
    if not whole_lines:
        return joined[:max_bytes], True, True
    while wanted and sum(map(len, wanted)) > max_bytes:
        wanted.pop()
    return (b"".join(wanted), True, True) if wanted else None


DATA = st.lists(st.sampled_from([b"\n", b"a", b"bb\n", b"\r\n", b"ccccccc", "é".encode(), "€\n".encode()]), max_size=30).map(b"".join)


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Generator[Mount]:
    """One mount for all examples of a test."""
    mount = Mount("desktop", tmp_path_factory.mktemp("desktop"))
    yield mount
    mount.close()


@carries("ENGINE-1")
@settings(max_examples=300)
@given(
    data=DATA,
    lines=st.builds(Lines, skip=st.integers(-5, 5) | st.integers(-30, 30), at_most=st.none() | st.integers(0, 4) | st.integers(0, 30)),
    max_bytes=st.integers(0, 20) | st.just(1000),
    whole_lines=st.booleans(),
    small=st.sampled_from([0, 10, 1 << 16]),
    surveyed=st.booleans(),
)
async def test_a_slice_is_the_same_as_by_reading_everything(
    desktop: Mount, data: bytes, lines: Lines, max_bytes: int, whole_lines: bool, small: int, surveyed: bool
) -> None:
    (desktop.root / "file").write_bytes(data)
    expected = naive(data, lines, max_bytes, whole_lines=whole_lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_module, "SMALL", small)
        try:
            part = await read(at(desktop, "file"), lines, max_bytes=max_bytes, whole_lines=whole_lines, surveyed=surveyed)
        except LineTooLong:
            assert expected is None
            return

    assert expected is not None
    bytes_wanted, cut, more = expected
    assert part.data == bytes_wanted[: len(part.data)]
    assert len(bytes_wanted) - len(part.data) < (4 if cut and not whole_lines else 1)
    assert (part.cut, part.more) == (cut, more)
    assert part.data.decode() or not part.data
    assert part.lines == len(re.findall(rb"[^\n]*\n|[^\n]+", part.data))
    assert part.sha256 == (sha256(data) if surveyed else None)
    assert part.total_lines == (len(re.findall(rb"[^\n]*\n|[^\n]+", data)) if surveyed else None)


async def test_a_file_of_exactly_the_limit_is_not_cut(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x" * 99 + b"\n")

    part = await read(at(mount, "file"), max_bytes=100, whole_lines=True)

    assert (len(part.data), part.cut, part.more) == (100, False, False)


async def test_one_byte_over_the_limit_is_cut(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x" * 49 + b"\n" + b"y" * 51)

    by_character = await read(at(mount, "file"), max_bytes=100)
    by_line = await read(at(mount, "file"), max_bytes=100, whole_lines=True)

    assert (len(by_character.data), by_character.lines, by_character.cut) == (100, 2, True)
    assert (len(by_line.data), by_line.lines, by_line.cut) == (50, 1, True)
    assert by_line.sha256 == sha256(b"x" * 49 + b"\n" + b"y" * 51)


async def test_a_character_is_never_cut_in_two(mount: Mount, root: Path) -> None:
    (root / "file").write_text("€" * 10)

    assert [(await read(at(mount, "file"), max_bytes=limit)).text for limit in (2, 3, 5, 29)] == ["", "€", "€", "€" * 9]


async def test_one_giant_line_is_cut_within_or_is_line_too_long(mount: Mount, root: Path) -> None:
    (root / "file").write_bytes(b"x" * 3_000_000)

    part = await read(at(mount, "file"), max_bytes=1000)

    assert (len(part.data), part.lines, part.total_lines, part.cut) == (1000, 1, 1, True)
    with pytest.raises(LineTooLong):
        await read(at(mount, "file"), max_bytes=1000, whole_lines=True)


async def test_a_window_beyond_the_end_is_empty_and_knows_the_total(mount: Mount, root: Path) -> None:
    (root / "file").write_text("one\ntwo\n")

    part = await read(at(mount, "file"), Lines(10, 5), max_bytes=100)

    assert (part.data, part.lines, part.total_lines, part.more, part.cut) == (b"", 0, 2, False, False)


async def test_numbers_beyond_what_a_disk_can_hold_are_taken(mount: Mount, root: Path) -> None:
    (root / "file").write_text("one\ntwo\n")

    assert (await read(at(mount, "file"), Lines(10**30, 10**30), max_bytes=100)).text == ""
    assert (await read(at(mount, "file"), Lines(-(10**30), 10**30), max_bytes=100)).text == "one\ntwo\n"
