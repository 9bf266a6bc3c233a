"""Windows of lines, found without reading the rest of the file, against a reference that reads everything."""

import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.workspace import lines as lines_module
from holdfast.workspace import survey as survey_module
from holdfast.workspace.lines import Lines, Window, find_window
from holdfast.workspace.survey import Survey, Surveys
from tests.promises import carries


def naive(data: bytes, lines: Lines, max_bytes: int) -> Window:
    """What `find_window` must find, by the slow way."""
    every: list[bytes] = re.findall(rb"[^\n]*\n|[^\n]+", data)
    first = lines.skip if lines.skip >= 0 else max(0, len(every) + lines.skip)
    start = sum(map(len, every[:first]))
    wanted = every[first:] if lines.at_most is None else every[first : first + lines.at_most]
    end = start + min(max_bytes, sum(map(len, wanted)))
    return Window(start, end, first, more=end < len(data))


@contextmanager
def opened(data: bytes) -> Generator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.fileno()


def surveyed(descriptor: int) -> Survey:
    return Surveys().of_file(descriptor, os.fstat(descriptor))


DATA = st.lists(st.sampled_from([b"\n", b"a", b"bb", b"\r\n", b"\xff", b"ccccccc", "é".encode()]), max_size=40).map(b"".join)
LINES = st.builds(Lines, skip=st.integers(-5, 5) | st.integers(-45, 45), at_most=st.none() | st.integers(0, 4) | st.integers(0, 45))


@carries("ENGINE-1")
@settings(max_examples=400)
@given(data=DATA, lines=LINES, max_bytes=st.integers(0, 20) | st.just(1000), step=st.integers(1, 9), block=st.integers(1, 9))
def test_a_window_is_the_same_as_by_reading_everything(data: bytes, lines: Lines, max_bytes: int, step: int, block: int) -> None:
    with opened(data) as descriptor, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "_STEP", step)
        patch.setattr(lines_module, "BLOCK", block)
        patch.setattr(survey_module, "BLOCK", block)

        with_survey = find_window(descriptor, len(data), lines, surveyed(descriptor), max_bytes)
        without = find_window(descriptor, len(data), lines, None, max_bytes)

    expected = naive(data, lines, max_bytes)
    assert with_survey == expected
    assert (without.start, without.end, without.more) == (expected.start, expected.end, expected.more)
    assert without.first in (None, expected.first)
    assert without.first is not None or lines.skip < 0


@pytest.mark.parametrize("data", [b"", b"\n", b"x", b"x\n", b"\n\n", b"x\n\n"])
def test_counted_from_the_end_the_last_line_is_the_one_that_has_something_or_ends_in_a_newline(data: bytes) -> None:
    with opened(data) as descriptor:
        window = find_window(descriptor, len(data), Lines(-1), None, 100)

    assert data[window.start : window.end] == (data.splitlines(keepends=True) or [b""])[-1]


def test_the_first_line_is_known_to_be_the_first_when_all_lines_are_counted_from_the_end() -> None:
    with opened(b"a\nb\n") as descriptor:
        assert find_window(descriptor, 4, Lines(-2), None, 100).first == 0
        assert find_window(descriptor, 4, Lines(-9), None, 100).first == 0
        assert find_window(descriptor, 4, Lines(-1), None, 100).first is None


@pytest.mark.parametrize("wanted", [0, 1, 2, 9_999, 50_000, 77_777, 99_999, 100_000, 200_000])
@pytest.mark.parametrize("is_surveyed", [True, False])
def test_in_a_file_of_many_blocks_any_line_is_found(large: tuple[int, int, Survey], wanted: int, is_surveyed: bool) -> None:
    descriptor, size, survey = large

    window = find_window(descriptor, size, Lines(wanted, 1), survey if is_surveyed else None, 1000)

    expected = b"" if wanted >= 100_000 else f"line {wanted:06} {'x' * (wanted % 60)}\n".encode()
    assert os.pread(descriptor, window.end - window.start, window.start) == expected


@pytest.mark.parametrize("wanted", [1, 2, 500, 50_000, 99_999, 100_000, 200_000])
def test_in_a_file_of_many_blocks_any_line_is_found_from_the_end(large: tuple[int, int, Survey], wanted: int) -> None:
    descriptor, size, survey = large

    window = find_window(descriptor, size, Lines(-wanted, 1), survey, 1000)

    number = max(0, 100_000 - wanted)
    assert window.first == number
    assert os.pread(descriptor, 11, window.start) == f"line {number:06}".encode()


def test_the_end_of_a_large_file_is_found_without_reading_its_beginning(
    large: tuple[int, int, Survey], monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptor, size, _ = large
    read: list[int] = []
    pread = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        data = pread(fd, length, offset)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)

    find_window(descriptor, size, Lines(-10), None, 10_000)
    find_window(descriptor, size, Lines(0, 10), None, 10_000)

    assert sum(read) < size // 20


def test_with_a_survey_a_line_in_the_middle_is_found_by_reading_one_block_at_most(
    large: tuple[int, int, Survey], monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptor, size, survey = large
    read: list[int] = []
    pread = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        data = pread(fd, length, offset)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)

    find_window(descriptor, size, Lines(77_777, 10), survey, 10_000)

    assert sum(read) <= survey_module.BLOCK + 3 * 64 * 1024


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[int, int, Survey]]:
    """A hundred thousand lines in several blocks."""
    file: Path = tmp_path_factory.mktemp("large") / "file"
    file.write_bytes(b"".join(f"line {number:06} {'x' * (number % 60)}\n".encode() for number in range(100_000)))
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    yield descriptor, file.stat().st_size, surveyed(descriptor)
    os.close(descriptor)
