"""The files that are worked on: the same bytes in every run, made in seconds."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

NEEDLE = "quince_harbour"
FILES_WITH_NEEDLE = 9
_WORDS = """
    return value index buffer when the request has been answered before its deadline each reader takes one copy of list
    class import def self path open close write lock state where none true false for in not and or if else while with as
    error message hint limit total count first last next line block record table column schema token user session event
"""
_ENDINGS = (".py", ".py", ".py", ".ts", ".ts", ".js", ".json", ".md", ".txt", ".yaml")
_FILES_PER_FOLDER = 30
_LOG_BLOCK = 1_000_000


def make_tree(folder: Path, files: int) -> Path:
    """A source tree of `files` files, 7.7 KB each on average; 81,000 of them are 627 MB."""
    if not _is_there(folder, f"{files} files"):
        text = _text(Random(1), 400_000)
        for number, path in enumerate(tree_paths(folder, files)):
            if number % _FILES_PER_FOLDER == 0:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_content(number, files, text))
        _end(folder)
    return folder


def tree_paths(folder: Path, files: int) -> Iterator[Path]:
    """The paths of the tree's files, thirty to a folder, three folders deep."""
    for number in range(files):
        leaf = number // _FILES_PER_FOLDER
        yield folder / f"part_{leaf // 90:02}" / f"area_{leaf // 9 % 10}" / f"unit_{leaf % 9}" / f"file_{number:05}{_ENDINGS[number % 10]}"


def make_log(file: Path, size: int) -> Path:
    """A log of about `size` bytes, in lines of 40 to 160."""
    if not _is_there(file.parent, f"{size} bytes"):
        block = _text(Random(2), _LOG_BLOCK)
        with file.open("wb") as log:
            for number in range(size // _LOG_BLOCK):
                log.write(b"block %06d " % number + block)
        _end(file.parent)
    return file


def _content(number: int, files: int, text: bytes) -> bytes:
    size = 4000 + number * 2_654_435_761 % 7480
    start = number * 40_503 % (len(text) - size)
    body = text[start : start + size]
    if number in range(0, files // FILES_WITH_NEEDLE * FILES_WITH_NEEDLE, files // FILES_WITH_NEEDLE):
        body = body[: size // 2] + f"\nlet {NEEDLE} = {number}\n".encode() + body[size // 2 :]
    return b"# file %05d\n" % number + body + b"\n"


def _text(random: Random, size: int) -> bytes:
    words, lines = _WORDS.split(), list[str]()
    length = 0
    while length < size:
        line = " ".join(random.choices(words, k=random.randint(7, 25)))
        lines.append(line)
        length += len(line) + 1
    return ("\n".join(lines) + "\n").encode()[: size - 1] + b"\n"


def _is_there(folder: Path, what: str) -> bool:
    """Whether the same data is there from an earlier run; otherwise the folder is emptied for it."""
    label = folder.with_suffix(".label")
    if label.exists() and label.read_text() == what:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    label.with_suffix(".unfinished").write_text(what)
    return False


def _end(folder: Path) -> None:
    folder.with_suffix(".unfinished").rename(folder.with_suffix(".label"))
