"""Surveys: the hash and the lines of a whole file, kept for as long as they are true and no longer."""

import hashlib
import os
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.workspace import survey as survey_module
from holdfast.workspace.survey import Stopped, Survey, Surveys
from tests.promises import carries

SETTLED = 0.03


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that has been as it is for a while, so that what is found out about it may be kept."""
    file = tmp_path / "file"
    file.write_bytes(b"one\ntwo\n")
    time.sleep(SETTLED)
    return file


def survey_of(surveys: Surveys, file: Path) -> Survey:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return surveys.of_file(descriptor, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@given(data=st.lists(st.sampled_from([b"\n", b"a", b"bb\n", b"\r\n"]), max_size=40).map(b"".join), block=st.integers(1, 9))
def test_a_survey_has_the_hash_the_lines_and_the_newlines_before_each_block(data: bytes, block: int) -> None:
    with tempfile.TemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey_module, "BLOCK", block)
        file.write(data)
        file.flush()
        about = os.fstat(file.fileno())

        by_pass = Surveys().of_file(file.fileno(), about)
        by_bytes = Surveys().of_bytes(data, about, started=time.time_ns())

    assert by_pass == by_bytes
    assert by_pass.sha256 == sha256(data)
    assert by_pass.total_lines == data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)
    assert list(by_pass.marks) == [data[:at].count(b"\n") for at in range(0, len(data), block)]


def test_a_file_that_has_not_changed_is_surveyed_once(file: Path) -> None:
    surveys = Surveys()

    first = survey_of(surveys, file)

    assert survey_of(surveys, file) is first
    assert surveys.kept(file.stat()) is first


def test_a_small_file_s_survey_is_kept_too(file: Path) -> None:
    surveys = Surveys()

    survey = surveys.of_bytes(file.read_bytes(), file.stat(), started=time.time_ns())

    assert surveys.kept(file.stat()) is survey


@carries("PATH-12")
def test_a_file_rewritten_with_the_same_size_and_its_time_set_back_is_surveyed_again(file: Path) -> None:
    surveys, about = Surveys(), file.stat()
    survey_of(surveys, file)
    assert surveys.kept(about) is not None

    file.write_bytes(b"eno\nowt\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))

    assert (file.stat().st_size, file.stat().st_mtime_ns, file.stat().st_ino) == (about.st_size, about.st_mtime_ns, about.st_ino)
    assert survey_of(surveys, file).sha256 == sha256(b"eno\nowt\n")


@carries("PATH-12")
def test_a_file_replaced_by_one_of_the_same_size_and_time_is_surveyed_again(file: Path) -> None:
    surveys, about = Surveys(), file.stat()
    survey_of(surveys, file)

    other = file.with_name("other")
    other.write_bytes(b"eno\nowt\n")
    os.utime(other, ns=(about.st_atime_ns, about.st_mtime_ns))
    other.rename(file)

    assert survey_of(surveys, file).sha256 == sha256(b"eno\nowt\n")


@carries("PATH-12")
@pytest.mark.parametrize("round_", range(20))
def test_a_file_rewritten_right_after_it_was_surveyed_is_surveyed_again(tmp_path: Path, round_: int) -> None:
    surveys, file = Surveys(), tmp_path / "file"
    file.write_bytes(b"first")
    about = file.stat()
    survey_of(surveys, file)

    file.write_bytes(b"later")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))

    assert survey_of(surveys, file).sha256 == sha256(b"later")


@carries("PATH-12")
def test_what_changed_a_moment_before_the_reading_began_is_not_kept(file: Path) -> None:
    surveys, about = Surveys(), file.stat()

    surveys.of_bytes(b"", about, started=about.st_ctime_ns + 19_000_000)
    too_early = surveys.kept(about)
    surveys.of_bytes(b"", about, started=about.st_ctime_ns + 21_000_000)

    assert too_early is None
    assert surveys.kept(about) is not None


def test_a_change_that_is_dated_in_the_future_is_not_kept(file: Path) -> None:
    surveys, about = Surveys(), file.stat()

    surveys.of_bytes(b"", about, started=about.st_ctime_ns - 3_600_000_000_000)

    assert surveys.kept(about) is None


def test_a_file_that_grows_during_the_pass_is_surveyed_up_to_the_size_that_it_had(file: Path) -> None:
    surveys = Surveys()
    with file.open("r+b") as grown:
        about = os.fstat(grown.fileno())
        grown.seek(0, os.SEEK_END)
        grown.write(b"three\n")
        grown.flush()

        survey = surveys.of_file(grown.fileno(), about)

    assert (survey.sha256, survey.total_lines) == (sha256(b"one\ntwo\n"), 2)
    assert surveys.kept(about) is None


def test_a_file_that_shrinks_during_the_pass_is_surveyed_as_far_as_it_goes_and_not_kept(file: Path) -> None:
    surveys = Surveys()
    with file.open("r+b") as shrunk:
        about = os.fstat(shrunk.fileno())
        shrunk.truncate(2)

        survey = surveys.of_file(shrunk.fileno(), about)

    assert (survey.sha256, survey.total_lines) == (sha256(b"on"), 1)
    assert surveys.kept(about) is None


def test_reads_that_come_back_short_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"".join(b"%d\n" % number for number in range(2000)))
    monkeypatch.setattr(survey_module, "BLOCK", 1000)
    whole = survey_of(Surveys(), file)
    preadv = os.preadv

    def short(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        return preadv(descriptor, [buffers[0][:700]], offset)

    monkeypatch.setattr(os, "preadv", short)

    assert survey_of(Surveys(), file) == whole


def test_a_pass_that_nobody_waits_for_any_more_stops(file: Path) -> None:
    stop = threading.Event()
    stop.set()
    descriptor = os.open(file, os.O_RDONLY)

    with pytest.raises(Stopped):
        Surveys().of_file(descriptor, os.fstat(descriptor), stop)

    os.close(descriptor)


def test_the_surveys_that_were_asked_for_longest_ago_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "_KEPT", 2)
    files = [tmp_path / name for name in "abc"]
    for file in files:
        file.write_text(file.name)
    time.sleep(SETTLED)
    surveys = Surveys()

    survey_of(surveys, files[0])
    survey_of(surveys, files[1])
    surveys.kept(files[0].stat())
    survey_of(surveys, files[2])

    assert [surveys.kept(file.stat()) is not None for file in files] == [True, False, True]
