"""Directories and files that are swapped for links to the outside, again and again, while they are looked at."""

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.vocabulary.errors import HoldfastError
from holdfast.workspace.find import Criteria, find
from holdfast.workspace.glob import glob
from holdfast.workspace.listing import list_directory
from holdfast.workspace.mount import Mount
from holdfast.workspace.resolve import resolve
from holdfast.workspace.search import Query, search
from holdfast.workspace.walk import walk
from tests.promises import carries
from tests.workspace.looking import ALL, at

SECONDS = 0.3
LEAST_TRIES = 5

_SWAPPING = """
import os, sys
from holdfast.workspace.kernel import RENAME_EXCHANGE, rename_beneath
root, test = os.open(sys.argv[1], os.O_PATH), os.getppid()
while os.getppid() == test:
    for true, link in (("folder", "folder-link"), ("file.txt", "file-link")):
        rename_beneath(root, true, root, link, flags=RENAME_EXCHANGE)
"""


@pytest.fixture
def swapped(root: Path, outside: Path) -> Generator[None]:
    """`folder` and `file.txt` are ours half of the time, and links that lead outside the other half."""
    for folder, word in ((root / "folder" / "deeper", "inside"), (outside / "deeper", "outside")):
        folder.mkdir(parents=True)
        for number in range(20):
            (folder / f"{word}-{number}").write_text(f"needle {word}\n")
            (folder / f"both-{number}").write_text(f"needle {word}\n")
    (root / "file.txt").write_text("needle inside\n")
    (outside / "secret.txt").write_text("needle outside\n")
    (root / "folder-link").symlink_to(outside)
    (root / "file-link").symlink_to(outside / "secret.txt")
    with subprocess.Popen([sys.executable, "-c", _SWAPPING, str(root)]) as swapping:
        time.sleep(0.1)
        yield
        assert swapping.poll() is None
        swapping.kill()


async def listed(mount: Mount) -> list[str]:
    return [entry.path for entry in await list_directory(at(mount, "folder/deeper"), ALL)]


async def walked(mount: Mount) -> list[str]:
    return [entry.path for entry in walk(at(mount), ALL, descend=lambda _: True)]


async def globbed(mount: Mount) -> list[str]:
    return [entry.path for entry in (await glob(at(mount), ["**"], ALL)).entries]


async def found(mount: Mount) -> list[str]:
    return [entry.path for entry in (await find(at(mount), Criteria(name="*[0-9]"), ALL)).entries]


async def searched_by_ripgrep(mount: Mount) -> list[str]:
    return [f"{match.place} {match.text}" for match in (await search(at(mount), Query("need.e"), ALL)).matches]


async def searched_in_process(mount: Mount) -> list[str]:
    return [f"{match.place} {match.text}" for match in (await search(at(mount), Query("needle", regex=False), ALL)).matches]


async def searched_in_a_folder(mount: Mount) -> list[str]:
    place = await resolve(mount, "folder", written="folder")
    return [f"{match.place} {match.text}" for match in (await search(place, Query("need.e"), ALL)).matches]


async def searched_in_one_file(mount: Mount) -> list[str]:
    place = await resolve(mount, "file.txt", written="file.txt")
    return [match.text for match in (await search(place, Query("need.e"), ALL)).matches]


@carries("PATH-5")
@pytest.mark.usefixtures("swapped")
@pytest.mark.parametrize(
    "look",
    [listed, walked, globbed, found, searched_by_ripgrep, searched_in_process, searched_in_a_folder, searched_in_one_file],
    ids=lambda look: look.__name__,
)
async def test_links_swapped_in_a_race_show_nothing_of_the_outside(mount: Mount, look: Callable[[Mount], Awaitable[list[str]]]) -> None:
    started = time.monotonic()
    seen_inside = 0

    while time.monotonic() < started + SECONDS or seen_inside < LEAST_TRIES:
        assert time.monotonic() < started + 30
        # Half of the time there is a link where a folder or a file was asked for.
        with suppress(HoldfastError):
            seen = await look(mount)
            assert [text for text in seen if "outside" in text] == []
            seen_inside += any("inside" in text for text in seen)
