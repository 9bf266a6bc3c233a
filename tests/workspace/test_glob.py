"""Finding entries by patterns of their paths."""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob as wcmatch

from holdfast.vocabulary.errors import InvalidPattern, NotDirectory, NotFound, TimedOut
from holdfast.workspace.directories import Names
from holdfast.workspace.entry import Kind
from holdfast.workspace.glob import glob
from holdfast.workspace.mount import Mount
from holdfast.workspace.pattern import MAX_BYTES, MAX_CHOICES, trail
from tests.promises import carries
from tests.workspace.looking import ALL, GUARDED, at, make, paths

TREE = (
    *("README.md", "src/main.rs", "src/lib/a.rs", "src/lib/deep/b.rs", "src/.hidden.rs"),
    *("test_one/x.md", "test_two.md", ".config/y.md", "empty/"),
)
BOMBS = (
    *("*a" * 30 + "b", "*a" * 500 + "b", "?*" * 500 + "b", "*" * 1_000 + "b", "**/" * 300 + "x"),
    *("{a,b}" * 200, "{a,b,c,d}*" * 4, "{" * 500, "[" * 1_000),
)


async def found(mount: Mount, *patterns: str, path: str = "") -> list[str]:
    return paths((await glob(at(mount, path), patterns, ALL)).entries)


@carries("ENGINE-6")
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.md", ["README.md", "test_two.md"]),
        ("*", [".config", "README.md", "empty", "src", "test_one", "test_two.md"]),
        ("**/*.md", [".config/y.md", "README.md", "test_one/x.md", "test_two.md"]),
        ("/src/**/*.rs", ["src/.hidden.rs", "src/lib/a.rs", "src/lib/deep/b.rs", "src/main.rs"]),
        ("src/*.rs", ["src/.hidden.rs", "src/main.rs"]),
        ("*/*.rs", ["src/.hidden.rs", "src/main.rs"]),
        ("test_*", ["test_one", "test_two.md"]),
        ("**/lib", ["src/lib"]),
        ("src/lib/**", ["src/lib/a.rs", "src/lib/deep", "src/lib/deep/b.rs"]),
        ("**/deep/**/b.rs", ["src/lib/deep/b.rs"]),
        ("*/", [".config", "empty", "src", "test_one"]),
        ("**/?.rs", ["src/lib/a.rs", "src/lib/deep/b.rs"]),
        ("**/[ab].rs", ["src/lib/a.rs", "src/lib/deep/b.rs"]),
        ("**/[!a].rs", ["src/lib/deep/b.rs"]),
        ("{README,test_two}.md", ["README.md", "test_two.md"]),
        ("src/{lib/{a,x},main}.rs", ["src/lib/a.rs", "src/main.rs"]),
        ("./src//main.rs", ["src/main.rs"]),
        ("**", None),
        ("SRC/*", []),
        ("missing/**/*.md", []),
    ],
)
async def test_a_pattern_matches(mount: Mount, root: Path, pattern: str, matches: list[str] | None) -> None:
    make(root, *TREE)

    entries = await found(mount, pattern)

    assert entries == (matches if matches is not None else _everything(root))


async def test_patterns_are_counted_from_the_place_and_several_are_joined(mount: Mount, root: Path) -> None:
    make(root, *TREE)

    assert await found(mount, "/*.rs", "lib/*", "*.rs", path="src") == ["src/.hidden.rs", "src/lib/a.rs", "src/lib/deep", "src/main.rs"]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("[slug]", r"\[slug\]"), ("a*b", r"a\*b"), ("{x}", r"\{x\}"), ("a,b", "{a,b,a\\,b}"), ("{", "{"), ("}x{", "}x{"), ("a\\b", r"a\\b")],
)
async def test_a_backslash_takes_away_the_meaning_of_what_follows(mount: Mount, root: Path, name: str, pattern: str) -> None:
    make(root, name, "s", "x")

    assert await found(mount, pattern) == [name]


@carries("PATH-7")
async def test_links_match_as_links_and_are_not_followed(mount: Mount, root: Path, outside: Path) -> None:
    make(root, "folder/file.txt")
    (root / "away.txt").symlink_to(outside / "secret.txt")
    (root / "round").symlink_to("folder")

    entries = (await glob(at(mount), ["**/*.txt", "round/**"], ALL)).entries

    assert [(entry.path, entry.kind) for entry in entries] == [("away.txt", Kind.LINK), ("folder/file.txt", Kind.FILE)]


async def test_a_directory_that_becomes_a_link_on_the_way_is_not_entered(
    mount: Mount, root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "inner/file", "swapped/file")
    names = mount.directories.names

    def meanwhile(descriptor: int, *, wait: bool = True) -> Names:
        met = names(descriptor)
        if "swapped" in met.directories and not (root / "swapped").is_symlink():
            (root / "swapped").rename(outside / "swapped")
            (root / "swapped").symlink_to("inner")
        return met

    monkeypatch.setattr(mount.directories, "names", meanwhile)

    assert await found(mount, "**/file") == ["inner/file"]


async def test_the_first_of_many_come_in_order_and_the_rest_is_told(mount: Mount, root: Path) -> None:
    make(root, "c", "a", "b/c", "b/a")

    first = await glob(at(mount), ["**"], ALL, limit=3)
    exactly = await glob(at(mount), ["**"], ALL, limit=5)

    assert (paths(first.entries), first.truncated) == (["a", "b", "b/a"], True)
    assert (len(exactly.entries), exactly.truncated) == (5, False)


async def test_what_is_kept_from_sight_does_not_match(mount: Mount, root: Path) -> None:
    make(root, ".env", "a", "secrets/a")

    assert paths((await glob(at(mount), ["**"], GUARDED)).entries) == ["a"]


async def test_directories_in_which_nothing_can_match_are_not_opened(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "src/a/x.py", "node_modules/b/x.py", "other/x.py")
    opened: list[str] = []
    names = mount.directories.names

    def watched(descriptor: int, *, wait: bool = True) -> Names:
        opened.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        return names(descriptor)

    monkeypatch.setattr(mount.directories, "names", watched)

    await found(mount, "src/*/*.py")

    assert opened == ["root", "src", "a"]


@pytest.mark.parametrize("pattern", ["../x", "a/../b", "{a,..}/b", r"\.\./x", "", "/", "./", "x" * (MAX_BYTES + 1)])
async def test_a_pattern_that_goes_up_or_names_nothing_is_refused(mount: Mount, pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        await glob(at(mount), [pattern], ALL)

    assert caught.value.hint


async def test_two_dots_inside_of_a_name_are_ordinary(mount: Mount, root: Path) -> None:
    make(root, "a..b")

    assert await found(mount, "a..*") == ["a..b"]


@pytest.mark.parametrize("pattern", BOMBS)
async def test_no_pattern_runs_away(mount: Mount, root: Path, pattern: str) -> None:
    make(root, "a" * 250, "d/" + "a" * 250)

    # One that ran away would take for ever.
    async with asyncio.timeout(60):
        with suppress(InvalidPattern):
            await glob(at(mount), [pattern], ALL)


async def test_braces_may_not_multiply_without_end(mount: Mount) -> None:
    with pytest.raises(InvalidPattern, match="combinations"):
        await glob(at(mount), ["{a,b}" * 9], ALL)

    assert MAX_CHOICES < 2**9


async def test_a_place_that_is_not_a_directory_is_refused(mount: Mount, root: Path) -> None:
    make(root, "file")

    with pytest.raises(NotFound, match="directory not found"):
        await glob(at(mount, "gone"), ["*"], ALL)
    with pytest.raises(NotDirectory, match="not a directory"):
        await glob(at(mount, "file"), ["*"], ALL)


async def test_a_glob_that_takes_too_long_is_stopped(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, *(f"{number}/x" for number in range(50)))
    opened = 0
    names = mount.directories.names

    def slow(descriptor: int, *, wait: bool = True) -> Names:
        nonlocal opened
        opened += 1
        time.sleep(0.02)
        return names(descriptor)

    monkeypatch.setattr(mount.directories, "names", slow)

    with pytest.raises(TimedOut):
        await glob(at(mount), ["**"], ALL, deadline=0.1)

    await asyncio.sleep(0.1)
    stopped_at = opened
    await asyncio.sleep(0.1)
    assert opened == stopped_at < 50


_names = st.sampled_from(["a", "b", "ab", ".a", "b.c"])
_parts = st.sampled_from(["*", "**", "?", "a", "b", "a*", "*b", "[ab]", "*.c", "{a,b}", "{a*,.a}"])


@given(st.lists(_names, min_size=1, max_size=4), st.lists(_parts, min_size=1, max_size=4))
def test_patterns_mean_what_they_mean_elsewhere(names: list[str], parts: list[str]) -> None:
    # At the end of a pattern `**` means everything below for us, and also the directory itself for others.
    if parts[-1] == "**":
        parts = [*parts, "*"]
    flags = wcmatch.GLOBSTAR | wcmatch.DOTGLOB | wcmatch.BRACE

    assert _matches(names, "/".join(parts)) == wcmatch.globmatch("/".join(names), "/".join(parts), flags=flags)


def _matches(names: list[str], pattern: str) -> bool:
    where = trail([pattern])
    for name in names[:-1]:
        below = where.below(name)
        if below is None:
            return False
        where = below
    return bool(where.wanted(names[-1]))


def _everything(root: Path) -> list[str]:
    return sorted((str(path.relative_to(root)) for path in root.rglob("*")), key=lambda path: path.split("/"))
