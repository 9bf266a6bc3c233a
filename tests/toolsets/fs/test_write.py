"""fs.write"""

import asyncio
import hashlib
import os
import stat
from pathlib import Path

import pytest

from tests.desk import Desk
from tests.promises import carries


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@carries("FS-WRITE-1")
@pytest.mark.parametrize("content", ["", "plain\n", "\N{SNOWMAN} and \r\n no end", "\ufeffmarked\n", "---\nx: 1\n---\n"])
async def test_what_it_answers_is_true_of_the_disk(desk: Desk, content: str) -> None:
    said = await desk.call("fs.write", path="@project/new.md", content=content)

    assert said == {"ok": True, "path": "@project/new.md", "bytesWritten": len(content.encode()), "sha256After": sha256(content)}
    assert (desk.root / "new.md").read_bytes() == content.encode()


@carries("FS-WRITE-1")
async def test_a_file_that_is_there_is_replaced_and_keeps_its_mode(desk: Desk) -> None:
    file = desk.write("run.sh", "a much longer text than the new one\n")
    file.chmod(0o755)

    await desk.call("fs.write", path="@project/run.sh", content="short\n")

    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("short\n", 0o755)


@carries("FS-WRITE-2")
@pytest.mark.parametrize("letter", ["x", "\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{GRINNING FACE}"])
async def test_100_000_bytes_are_written_and_one_more_is_a_write_limit_error_that_writes_nothing(desk: Desk, letter: str) -> None:
    exactly = letter * (100_000 // len(letter.encode()))
    desk.write("kept.txt", "kept\n")

    fits = await desk.call("fs.write", path="@project/fits.txt", content=exactly)
    over = await desk.call("fs.write", path="@project/kept.txt", content=f"{exactly}x")
    new = await desk.call("fs.write", path="@project/new/over.txt", content=f"{exactly}x")

    assert fits["bytesWritten"] == 100_000
    assert (over["error"]["code"], new["error"]["code"]) == ("E_WRITE_LIMIT", "E_WRITE_LIMIT")
    assert (desk.text("kept.txt"), (desk.root / "new").exists()) == ("kept\n", False)


@carries("FS-WRITE-3")
async def test_a_hash_that_is_not_the_files_is_a_failed_precondition_and_the_file_stays(desk: Desk) -> None:
    desk.write("notes.md", "theirs\n")

    stale = await desk.call("fs.write", path="@project/notes.md", content="mine\n", ifMatchSha256=sha256("seen\n"))
    missing = await desk.call("fs.write", path="@project/gone.md", content="mine\n", ifMatchSha256=sha256("seen\n"))

    assert (stale["error"]["code"], missing["error"]["code"]) == ("E_PRECONDITION_FAILED", "E_PRECONDITION_FAILED")
    assert (desk.text("notes.md"), (desk.root / "gone.md").exists()) == ("theirs\n", False)


@carries("FS-WRITE-3")
async def test_the_hash_that_fs_read_gave_lets_the_write_through(desk: Desk) -> None:
    desk.write("notes.md", "seen\n")
    read = await desk.call("fs.read", path="@project/notes.md")

    said = await desk.call("fs.write", path="@project/notes.md", content="mine\n", ifMatchSha256=read["sha256"])

    assert (said["ok"], desk.text("notes.md")) == (True, "mine\n")


@carries("FS-WRITE-3")
async def test_of_writers_with_one_reading_one_wins_and_the_others_hear_of_it(desk: Desk) -> None:
    desk.write("notes.md", "seen\n")
    writes = [
        desk.holdfast.call("fs.write", path="@project/notes.md", content=f"writer {number}\n", ifMatchSha256=sha256("seen\n"))
        for number in range(8)
    ]

    outcomes = await asyncio.gather(*writes)

    errors = [outcome.answer for outcome in outcomes if outcome.answer.is_error]
    assert len(errors) == 7
    assert all("E_PRECONDITION_FAILED" in error.text for error in errors)


@carries("FS-WRITE-4")
async def test_missing_folders_are_made(desk: Desk) -> None:
    said = await desk.call("fs.write", path="@project/a/b/c/new.md", content="deep\n")

    assert (said["ok"], desk.text("a/b/c/new.md")) == (True, "deep\n")


@carries("FS-WRITE-4", "FS-PATH-6")
async def test_missing_folders_behind_a_link_that_leads_out_are_not_made(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / "link").symlink_to("../outside")

    said = await desk.call("fs.write", path="@project/link/a/b/new.md", content="deep\n")

    assert said["error"]["code"] == "E_SANDBOX_VIOLATION"
    assert list(outside.iterdir()) == []


@carries("FS-WRITE-4")
async def test_a_file_where_a_folder_should_be_is_an_error_and_stays(desk: Desk) -> None:
    desk.write("file", "kept\n")

    said = await desk.call("fs.write", path="@project/file/new.md", content="x")

    assert (said["ok"], desk.last_code, desk.text("file")) == (False, "not_directory", "kept\n")


@carries("FS-WRITE-5")
async def test_a_reader_sees_the_old_file_or_the_new_one_and_no_temporary_file_stays(desk: Desk) -> None:
    versions = [letter * 60_000 for letter in "ab"]
    file = desk.write("busy.txt", versions[0])
    seen: set[str] = set()
    over = asyncio.Event()

    async def look() -> None:
        while not over.is_set():
            seen.add(await asyncio.to_thread(file.read_text))

    looking = asyncio.create_task(look())
    for number in range(1, 21):
        await desk.call("fs.write", path="@project/busy.txt", content=versions[number % 2])
    over.set()
    await looking

    assert seen <= set(versions)
    assert os.listdir(desk.root) == ["busy.txt"]


@carries("PROT-7", "PROT-5")
@pytest.mark.parametrize(
    "path", ["@state/logs/execution.jsonl", "@state/logs/other.md", "@state/logs", "@state/LOGS/x", "@state/./logs/x", "@state\\logs\\x"]
)
async def test_nothing_is_written_into_the_logs(desk: Desk, path: str) -> None:
    await desk.call("fs.list", path="@state")
    before = desk.audit()

    said = await desk.call("fs.write", path=path, content="forged\n")

    assert said["error"]["code"] == "E_SANDBOX_VIOLATION"
    assert desk.audit()[: len(before)] == before
    assert os.listdir(desk.state / "logs") == ["execution.jsonl"]


async def test_the_names_of_our_own_temporary_files_cannot_be_taken(desk: Desk) -> None:
    said = await desk.call("fs.write", path="@project/.holdfast-0123456789abcdef", content="x")

    assert (said["error"]["code"], os.listdir(desk.root)) == ("E_SANDBOX_VIOLATION", [])


async def test_text_that_is_half_a_character_is_a_schema_violation_and_writes_nothing(desk: Desk) -> None:
    said = await desk.take("fs.write", '{"path": "@project/new.md", "content": "\\ud800"}')

    assert (said["error"]["code"], os.listdir(desk.root)) == ("E_SCHEMA_VALIDATION", [])
