"""How much is searched in process, and how much of that on the loop's own thread."""

from pathlib import Path

import pytest

from holdfast.workspace.kernel import WouldBlock
from holdfast.workspace.literal import NotForUs
from holdfast.workspace.match import Query
from holdfast.workspace.mount import Mount
from holdfast.workspace.scan import Allowance, Size, scan_small, size_of
from tests.promises import carries
from tests.workspace.looking import ALL, at, make

PLAIN = Query("x", regex=False)
NOTHING = Query("x", regex=False, names=("*.none",))

here = Allowance.of(wait=False)
there = Allowance.of(wait=True)


@carries("PATH-11")
@pytest.mark.parametrize("query", [PLAIN, NOTHING], ids=["all files", "no file is asked for"])
def test_many_files_are_not_searched_on_the_loop_and_very_many_not_in_process(mount: Mount, root: Path, query: Query) -> None:
    make(root, *(f"{number:03}" for number in range(here.files)))
    assert scan_small(at(mount), query, ALL, wait=False).matches == []
    make(root, "one-more")

    with pytest.raises(WouldBlock):
        scan_small(at(mount), query, ALL, wait=False)
    assert scan_small(at(mount), query, ALL, wait=True).matches == []
    make(root, *(f"more-{number:03}" for number in range(there.files)))
    with pytest.raises(NotForUs):
        scan_small(at(mount), query, ALL, wait=True)


@carries("PATH-11")
def test_many_directories_are_not_walked_on_the_loop_and_very_many_not_in_process(mount: Mount, root: Path) -> None:
    make(root, *(f"{number:03}/" for number in range(here.directories)))
    with pytest.raises(WouldBlock):
        scan_small(at(mount), PLAIN, ALL, wait=False)

    make(root, *(f"more-{number:03}/" for number in range(there.directories)))
    with pytest.raises(NotForUs):
        scan_small(at(mount), PLAIN, ALL, wait=True)


@carries("PATH-11")
def test_a_directory_with_very_many_names_is_not_gone_through_on_the_loop(mount: Mount, root: Path) -> None:
    make(root, *(f"{number}/" for number in range(1_001)))

    with pytest.raises(WouldBlock):
        scan_small(at(mount), PLAIN, ALL, wait=False)


@carries("PATH-11")
def test_large_files_are_not_searched_on_the_loop_and_very_large_ones_not_in_process(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"-" * here.size)
    scan_small(at(mount), PLAIN, ALL, wait=False)
    (root / "b").write_bytes(b"-")

    with pytest.raises(WouldBlock):
        scan_small(at(mount), PLAIN, ALL, wait=False)
    scan_small(at(mount), PLAIN, ALL, wait=True)
    (root / "c").write_bytes(b"-" * there.size)
    with pytest.raises(NotForUs):
        scan_small(at(mount), PLAIN, ALL, wait=True)


@carries("PATH-11")
def test_very_many_matches_are_not_collected_on_the_loop_unless_few_are_wanted(mount: Mount, root: Path) -> None:
    (root / "a").write_bytes(b"x\n" * (here.matches + 1))

    with pytest.raises(WouldBlock):
        scan_small(at(mount), PLAIN, ALL, wait=False)
    assert len(scan_small(at(mount), PLAIN, ALL, wait=True).matches) == here.matches + 1
    limited = scan_small(at(mount), Query("x", regex=False, max_matches=10), ALL, wait=False)
    assert len(limited.matches) > 10


def test_a_small_tree_is_known_to_be_small(mount: Mount, root: Path) -> None:
    make(root, *(f"{number}" for number in range(here.files)))
    assert size_of(at(mount), PLAIN, ALL, wait=True) is Size.SMALL_ASCII

    make(root, "one-more")

    assert size_of(at(mount), PLAIN, ALL, wait=True) is Size.LARGE
