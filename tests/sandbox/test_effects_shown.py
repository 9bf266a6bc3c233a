"""What a person is shown of effects: lines that are counted, and many files in one line where nobody looks at each."""

from pathlib import Path

import pytest

from holdfast.sandbox.effects_shown import Shown, diff_of, shown
from holdfast.sandbox.layer import Layer
from holdfast.vocabulary.effects import EffectKind
from tests.sandbox.layers import looked_at, lowers_of, run_in_layer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a").write_text("one\ntwo\nthree\n")
    (folder / "gone").write_text("x\ny")
    (folder / "binary").write_bytes(b"\0" * 10)
    return folder


def _shown(layer: Layer, root: Path) -> dict[str, Shown]:
    effects = looked_at(layer, root)
    with lowers_of(root) as lowers:
        return {line.path: line for line in shown(layer, lowers, effects)}


def test_lines_that_were_added_and_removed_are_counted(tmp_path: Path, root: Path) -> None:
    layer = run_in_layer(tmp_path, root, "printf 'one\\n2\\n2b\\nthree\\n' >a; rm gone; printf z >binary; mv binary b2; chmod 700 a")

    lines = _shown(layer, root)

    counts = {path: (line.added, line.removed) for path, line in lines.items()}
    assert counts == {"a": (2, 1), "gone": (0, 2), "b2": (1, 0), "binary": (None, None)}


def test_a_text_has_a_diff_and_anything_else_none(tmp_path: Path, root: Path) -> None:
    layer = run_in_layer(tmp_path, root, "printf 'one\\n2\\nthree' >a; printf '\\0\\1' >binary; mkdir d")
    every = {effect.path: effect for effect in looked_at(layer, root).every}

    with lowers_of(root) as lowers:
        told = {path: diff_of(layer, lowers, effect) for path, effect in every.items()}

    assert told["binary"] is None
    assert told["d"] is None
    difference = told["a"]
    assert difference is not None
    assert difference.text.splitlines() == [
        "--- a/a",
        "+++ b/a",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "-three",
        "+2",
        "+three",
        "\\ No newline at end of file",
    ]


def test_a_repository_is_one_line_but_for_its_config_and_hooks(tmp_path: Path, root: Path) -> None:
    layer = run_in_layer(
        tmp_path, root, "git init -q -b main; git add a; git commit -qm 1; git tag v1; rm -r .git/hooks/*; rm -r .git/info"
    )

    lines = _shown(layer, root)

    assert sorted(lines) == [".git", ".git/config", ".git/hooks"]
    assert lines[".git"].kind is EffectKind.ADDED
    assert lines[".git"].text == "repository: 3 objects, refs: HEAD, refs/heads/main, refs/tags/v1"
    assert lines[".git/config"].is_protected


def test_an_ignored_folder_is_one_line(tmp_path: Path, root: Path) -> None:
    (root / ".gitignore").write_text("out\nold\n__pycache__\n")
    (root / "out").mkdir()
    (root / "out/1").touch()
    (root / "old").mkdir()
    (root / "src").mkdir()
    layer = run_in_layer(tmp_path, root, "touch out/2 out/3; rm out/1; rm -r old; mkdir src/__pycache__; touch src/__pycache__/a.pyc")

    lines = _shown(layer, root)

    assert {path: line.text for path, line in lines.items()} == {
        "out": "out: 2 added, 1 deleted",
        "old": "old",
        "src/__pycache__": "src/__pycache__: 2 added",
    }
    assert lines["old"].note == "with everything in it"
    assert (lines["out"].count, lines["out"].is_ignored) == (3, True)
