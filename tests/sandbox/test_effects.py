"""What a command did is told to the last byte and bit, and nothing that it did not do."""

import hashlib
import os
import socket
import stat
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.sandbox.effects import Judge, effects_of
from holdfast.sandbox.upper import Stopped
from holdfast.vocabulary.effects import EffectKind, EntryType
from holdfast.vocabulary.errors import TooLarge
from tests.sandbox.layers import brief, did, looked_at, lowers_of, new_layer, run_in_layer

_NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "d/deep").mkdir(parents=True)
    (folder / "a").write_text("1\n")
    (folder / "b").write_text("2\n")
    (folder / "d/x").write_text("x\n")
    (folder / "d/deep/y").write_text("y\n")
    (folder / "link").symlink_to("a")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_each_kind_of_change_is_an_effect(home: Path, root: Path) -> None:
    found = did(home, root, "echo 3 >a; rm b; echo n >new; mkdir -p e/f; chmod 600 d/x; ln -sf d link; chmod 700 d/deep")

    assert brief(found) == {
        "a": "changed file",
        "b": "deleted file",
        "d/deep": "mode directory",
        "d/x": "mode file",
        "e": "added directory",
        "e/f": "added directory",
        "link": "changed link",
        "new": "added file",
    }
    assert found["a"].hash == hashlib.sha256(b"3\n").hexdigest()
    assert found["link"].hash == hashlib.sha256(b"d").hexdigest()
    assert (found["d/x"].mode, found["d/deep"].mode, found["new"].size) == (0o600, 0o700, 2)


def test_what_was_only_copied_up_or_put_back_is_no_effect(home: Path, root: Path) -> None:
    script = "touch a; cat b >b2; mv b2 b; cp -p d/x t; rm d/x; mv t d/x; chmod 600 a; chmod 644 a; rm link; ln -s a link; touch d/deep"

    assert did(home, root, script) == {}


def test_a_folder_that_was_made_anew_has_lost_what_was_in_it(home: Path, root: Path) -> None:
    found = did(home, root, "rm -r d; mkdir d; echo x >d/x; mkdir d/other")

    assert brief(found) == {"d/deep": "deleted directory", "d/deep/y": "deleted file", "d/other": "added directory"}


def test_a_file_in_place_of_a_folder_and_the_other_way_round_are_changes(home: Path, root: Path) -> None:
    found = did(home, root, "rm -r d; echo f >d; rm a; mkdir a; echo z >a/z; rm link; echo l >link")

    assert brief(found) == {
        "a": "changed directory",
        "a/z": "added file",
        "d": "changed file",
        "d/deep": "deleted directory",
        "d/deep/y": "deleted file",
        "d/x": "deleted file",
        "link": "changed file",
    }


def test_a_moved_file_is_a_rename_and_an_empty_one_is_not(home: Path, root: Path) -> None:
    (root / "empty").touch()

    found = did(home, root, "mv a d/moved; chmod 600 d/moved; mv empty void; mv d/x d/deep/x")

    assert brief(found) == {"d/moved": "renamed file", "d/deep/x": "renamed file", "empty": "deleted file", "void": "added file"}
    assert (found["d/moved"].before, found["d/moved"].mode, found["d/deep/x"].before) == ("a", 0o600, "d/x")


def test_two_files_with_the_same_bytes_are_renamed_each_once(home: Path, root: Path) -> None:
    (root / "b").write_text("1\n")

    found = did(home, root, "mkdir n; mv a n/a; mv b n/b; cp n/a n/c")

    assert {path: effect.before for path, effect in found.items()} == {"n": "", "n/a": "a", "n/b": "b", "n/c": ""}


def test_a_hard_link_is_two_files_and_setuid_is_not_told_as_mode(home: Path, root: Path) -> None:
    found = did(home, root, "ln a hard; chmod u+s b; cp b s; chmod 4755 s")

    assert brief(found) == {"hard": "added file", "s": "added file"}
    assert found["s"].mode == 0o755
    assert "setuid" in found["s"].note


def test_git_status_has_no_effects(home: Path, root: Path) -> None:
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "first")
    os.utime(root / "a")

    assert did(home, root, "export GIT_OPTIONAL_LOCKS=0; git status >/dev/null; git log >/dev/null; git show --stat") == {}


def test_special_files_are_named_and_say_that_they_cannot_be_kept(home: Path, root: Path) -> None:
    layer = run_in_layer(home, root, "mkfifo fifo; rm a; mkfifo a")
    folder = os.open(layer.upper("project"), os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{folder}/socket")
    os.close(folder)

    found = {effect.path: effect for effect in looked_at(layer, root).every}

    assert brief(found) == {"a": "changed other", "fifo": "added other", "socket": "added other"}
    assert all("cannot be kept" in effect.note for effect in found.values())


def test_links_that_lead_outside_are_flagged(home: Path, root: Path) -> None:
    found = did(home, root, "ln -s /etc/passwd abs; ln -s ../../x up; ln -s ../a d/in; ln -s ../mount/x trick; ln -s d/../.. deep")

    assert {path for path, effect in found.items() if "outside" in effect.note} == {"abs", "up", "trick", "deep"}


def test_odd_names_and_deep_trees_are_told(home: Path, root: Path) -> None:
    script = r"""printf x >"$(printf 'bad\377')"; printf x >"$(printf 'two\nlines')"; python3 - <<'P'
import os
for _ in range(60):
    os.mkdir("n" * 100)
    os.chdir("n" * 100)
P
"""

    found = did(home, root, script)

    bad = found[os.fsdecode(b"bad\xff")]
    assert "UTF-8" in bad.note
    assert found["two\nlines"].type is EntryType.FILE
    deepest = max(found, key=len)
    assert (found[deepest].type, "too long" in found[deepest].note) == (EntryType.OTHER, True)
    assert len([path for path in found if path.startswith("nnn")]) < 60


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_what_a_layer_says_of_itself_is_not_believed(home: Path, root: Path) -> None:
    layer = new_layer(home, root)
    upper = layer.upper("project")
    os.mknod(upper / "gone", stat.S_IFCHR, os.makedev(0, 0))
    os.mknod(upper / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    (upper / "d").mkdir()
    os.setxattr(upper / "d", "user.overlay.redirect", b"/etc")
    (upper / "a").write_text("1\n")
    os.setxattr(upper / "a", "user.overlay.metacopy", b"")
    (upper / "hidden").symlink_to("/etc")
    (upper / "b").mkdir()
    os.setxattr(upper / "b", "trusted.overlay.opaque", b"y")

    found = {effect.path: effect for effect in looked_at(layer, root).every}

    assert brief(found) == {"zero": "added other", "hidden": "added link", "b": "changed directory"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes trusted attributes")
def test_a_folder_that_root_made_opaque_has_lost_what_was_in_it(home: Path, root: Path) -> None:
    layer = new_layer(home, root)
    (layer.upper("project") / "d").mkdir()
    os.setxattr(layer.upper("project") / "d", "trusted.overlay.opaque", b"y")

    found = {effect.path: effect for effect in looked_at(layer, root).every}

    assert brief(found) == {"d/deep": "deleted directory", "d/deep/y": "deleted file", "d/x": "deleted file"}


def test_what_git_ignored_before_is_ignored_and_a_command_cannot_add_to_it(home: Path, root: Path) -> None:
    (root / ".gitignore").write_text("/build/\n*.o\n!keep.o\n**/cache\ndoc/*.txt\n")
    (root / "d/.gitignore").write_text("*.tmp\n")
    (root / "d/.git/info").mkdir(parents=True)
    (root / "d/.git/info/exclude").write_text("excluded\n")
    script = (
        "echo 'e*' >>.gitignore; mkdir -p build/x d/build d/cache doc/sub; touch build/x/f a.o keep.o d/build/f d/n.tmp n.tmp d/cache/c"
        " doc/n.txt doc/sub/n.txt d/excluded excluded"
    )

    found = did(home, root, script)

    ignored = {path for path, effect in found.items() if effect.is_ignored}
    assert ignored == {"build", "build/x", "build/x/f", "a.o", "d/n.tmp", "d/cache", "d/cache/c", "doc/n.txt", "d/excluded"}


def test_an_ignored_folder_goes_whole_unless_something_protected_is_in_it(home: Path, root: Path) -> None:
    (root / ".gitignore").write_text("node_modules\nout\n")
    (root / "node_modules/p").mkdir(parents=True)
    (root / "node_modules/p/index.js").write_text("x")
    (root / "out").mkdir()
    (root / "out/.env").write_text("SECRET=1")

    found = did(home, root, "rm -r node_modules out")

    assert brief(found) == {"node_modules": "deleted directory", "out": "deleted directory", "out/.env": "deleted file"}
    assert [found[path].is_whole for path in sorted(found)] == [True, False, False]
    assert (found["out/.env"].is_protected, found["out/.env"].is_ignored) == (True, False)


def test_protected_paths_are_marked(home: Path, root: Path) -> None:
    (root / "id_rsa").write_text("key")

    found = did(home, root, "git init -q; echo x >.env; mv id_rsa harmless")

    protected = {path for path, effect in found.items() if effect.is_protected}
    assert {".env", "harmless", ".git/config", ".git/hooks"} <= protected
    assert ".git/HEAD" not in protected


def test_a_sparse_file_without_end_is_told_and_not_read(home: Path, root: Path) -> None:
    found = did(home, root, "truncate -s 1T huge")

    assert (found["huge"].hash, found["huge"].note) == ("", "too large to be kept")


def test_too_many_effects_are_refused(home: Path, root: Path) -> None:
    layer = run_in_layer(home, root, "touch 1 2 3 4")

    with lowers_of(root) as lowers, pytest.raises(TooLarge):
        effects_of(layer, lowers, Judge(), max_effects=3)


def test_a_look_that_nobody_waits_for_ends(home: Path, root: Path) -> None:
    layer, stop = run_in_layer(home, root, "touch 1"), threading.Event()
    stop.set()

    with lowers_of(root) as lowers, pytest.raises(Stopped):
        effects_of(layer, lowers, Judge(), stop=stop)


def test_the_same_effects_have_the_same_hash_and_others_another(home: Path, root: Path) -> None:
    one, two = (looked_at(run_in_layer(home, root, "echo n >n; rm b"), root) for _ in range(2))
    other = looked_at(run_in_layer(home, root, "echo m >n; rm b"), root)

    assert one.hash == two.hash != other.hash
    assert [effect.kind for effect in one.every] == [EffectKind.DELETED, EffectKind.ADDED]


def test_modes_that_keep_us_out_hide_nothing(home: Path, root: Path) -> None:
    layer = run_in_layer(home, root, "mkdir shut; echo s >shut/s; chmod 200 shut/s; chmod 000 shut; chmod 000 a")

    with _ordinary_user(layer.folder):
        # Twice: the second look must not be fooled by what the first one did.
        found, again = (looked_at(layer, root) for _ in range(2))

    assert found == again
    modes = {effect.path: (effect.kind.value, effect.mode) for effect in found.every}
    assert modes == {"a": ("mode", 0), "shut": ("added", 0), "shut/s": ("added", 0o200)}


@contextmanager
def _ordinary_user(folder: Path) -> Generator[None]:
    """Be somebody whom modes keep out, and who has the folder."""
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, _NOBODY, _NOBODY)
    for above in folder.parents:
        os.chmod(above, stat.S_IMODE(above.stat().st_mode) | 0o011)
    os.setegid(_NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def _git(root: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True, env={**os.environ, "HOME": str(root.parent)})
