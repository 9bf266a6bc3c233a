"""What we say that git ignores is what git says, and no pattern can run away."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from holdfast.sandbox.upper import Tree
from holdfast.sandbox.upper_ignored import Rules

PIECES = ["a", "b", "ab", "*", "?", "**", "a*", "*b", "a*b", "[ab]", "[!a]", "[a-b]x", "x.y", "*.y", "\\*", "a?"]
NAMES = ["a", "b", "ab", "aab", "x.y", "bx", "*", "axb", ".y"]


def _pattern(randomly: random.Random) -> str:
    body = "/".join(randomly.choice(PIECES) for _ in range(randomly.choice((1, 1, 1, 2, 3))))
    return randomly.choice(("", "", "", "!")) + randomly.choice(("", "", "/")) + body + randomly.choice(("", "", "/"))


def _ours(root: Path, paths: list[str]) -> set[str]:
    """What is ignored, walking down as the look at a layer does."""
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY)
    lower, ignored = Tree(descriptor), set[str]()
    for path in paths:
        rules, parts = Rules().within(lower, ""), path.split("/")
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            if rules.ignore(here, is_folder=(root / here).is_dir()):
                ignored.add(path)
                break
            rules = rules.within(lower, here)
    os.close(descriptor)
    return ignored


def _gits(root: Path, paths: list[str]) -> set[str]:
    said = subprocess.run(
        ["git", "-c", "safe.directory=*", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    assert said.returncode in (0, 1), said.stderr
    return {path for path in said.stdout.decode().split("\0") if path}


@pytest.mark.parametrize("seed", range(12))
def test_we_ignore_what_git_ignores(tmp_path: Path, seed: int) -> None:
    randomly = random.Random(seed)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    paths = sorted({"/".join(randomly.choice(NAMES) for _ in range(randomly.randint(1, 4))) for _ in range(60)})
    made: list[str] = []
    for path in paths:
        file = tmp_path / path
        if not any(above.is_file() for above in (file, *file.parents)) and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
            made.append(path)
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and ".git" not in path.parts]
    for folder in (tmp_path, *randomly.sample(folders, min(3, len(folders)))):
        lines = [_pattern(randomly) for _ in range(randomly.randint(1, 5))]
        (folder / ".gitignore").write_text("\n".join(["# a comment", "", *lines, "trailing  "]) + "\n")
    (tmp_path / ".git/info/exclude").write_text("\n".join(_pattern(randomly) for _ in range(2)))

    assert _ours(tmp_path, made) == _gits(tmp_path, made)


def test_a_pattern_made_to_run_away_does_not(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a" * 100 + "*b\n" + "**/a/" * 200 + "b\n")
    descriptor = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    rules = Rules().within(Tree(descriptor), "")
    os.close(descriptor)

    assert not rules.ignore("a" * 250, is_folder=False)
    assert not rules.ignore("/".join("a" * 1_500), is_folder=False)
