"""Protected paths: which names and trees are met, in which spelling, and that the quick look never misses one."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.vocabulary.protected import NAMES, SPARED, TREES, ProtectedPaths
from tests.promises import carries

USUAL = ProtectedPaths()


@carries("PROT-1", "PROT-2", "PROT-3", "PROT-4")
@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        ".env.production",
        "app/.env",
        "app/.env/inside",
        ".env.example.local",
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        "vendor/lib/.git/hooks/a/b",
        "vendor/.git/config",
        "credentials",
        "aws_credentials.json",
        "my-credential-store/readme.md",
        "secret.txt",
        "client_secret.json",
        "secrets/readme.md",
        "a/b/topsecrets/c/d",
        "id_rsa",
        ".ssh/id_ed25519",
        ".ssh/id_ecdsa",
        "id_dsa",
        "server.pem",
        "tls/private.key",
        "cert.p12",
        "cert.pfx",
        "putty.ppk",
        ".holdfast/config.toml",
        "sub/.holdfast",
    ],
)
@pytest.mark.parametrize("spelled", [str, str.upper, str.title])
def test_what_may_hold_secrets_or_machinery_is_protected_in_any_case(path: str, spelled: object) -> None:
    assert callable(spelled)
    assert USUAL.covers(str(spelled(path)))


@carries("PROT-1")
@pytest.mark.parametrize(
    "path",
    [
        "",
        ".env.example",
        "app/.ENV.Example",
        ".envrc",
        "env",
        "my.env",
        ".git",
        ".git/HEAD",
        ".git/configuration",
        ".git/config.worktree",
        "git/config",
        ".github/hooks/x",
        "config",
        "hooks/pre-commit",
        "id_rsa.pub",
        "my_id_rsa",
        "monkey",
        "key",
        "keys.md",
        "pem",
        "holdfast",
        ".holdfast-notes",
        "src/main.py",
        "sec/ret",
        ".e/nv",
    ],
)
def test_everything_else_is_not_protected(path: str) -> None:
    assert not USUAL.covers(path)


def test_what_is_spared_does_not_spare_what_is_in_it() -> None:
    assert USUAL.covers(".env.example/.env")
    assert USUAL.covers("secrets/.env.example")


@carries("PROT-4")
@pytest.mark.parametrize("path", [".holdfaﬆ", "ſecret", "private.\u212aey"])
def test_letters_that_only_fold_to_others_are_met_too(path: str) -> None:
    assert USUAL.covers(path)


def test_own_names_trees_and_spared_names_are_met_in_any_case() -> None:
    protected = ProtectedPaths(names=("*.PassWord",), trees=("Build/Out",), spared=("Example.password",), own=("project/.Home",))

    assert protected.covers("my.password")
    assert protected.covers("x/build/OUT/y")
    assert not protected.covers("example.PASSWORD")
    assert protected.covers(".home/log", mount="project")


@carries("PROT-7")
@pytest.mark.parametrize(
    ("mount", "path", "protected"),
    [
        ("project", "data/holdfast", True),
        ("project", "data/holdfast/state/logs", True),
        ("project", "Data/HoldFast/state", True),
        ("project", "data/holdfast2", False),
        ("project", "data", False),
        ("project", "", False),
        ("other", "data/holdfast", False),
    ],
)
def test_holdfast_s_own_folder_is_protected_in_the_mount_that_it_lies_in(mount: str, path: str, protected: bool) -> None:
    assert ProtectedPaths(own=("project/data/holdfast",)).covers(path, mount=mount) is protected


def test_without_names_and_trees_nothing_is_protected() -> None:
    nothing = ProtectedPaths(names=(), trees=())

    assert not nothing.covers(".env")
    assert not nothing.may_cover(".env\nsecret")


@pytest.mark.parametrize("name", ["[abc]x", "x[abc]", "a[!b]*", "[[]x", "[]]x", "a[b", "*", "?", "a?b", "**a**"])
def test_any_pattern_of_names_is_met_however_it_is_written(name: str) -> None:
    protected = ProtectedPaths(names=(name,), trees=())
    candidates = ["ax", "xa", "xb", "ac", "acd", "[x", "]x", "a[b", "anything", "z", "axb", "bab"]

    assert [each for each in candidates if protected.covers(each)] == [each for each in candidates if fnmatchcase(each, name)]


def slow(protected: ProtectedPaths, path: str) -> bool:
    """The same question without any short cut."""
    parts = path.casefold().split("/")
    if any(part not in protected.spared and any(fnmatchcase(part, name) for name in protected.names) for part in parts):
        return True
    return any(
        parts[at : at + len(wanted)] == wanted for tree in protected.trees if (wanted := tree.split("/")) for at in range(len(parts))
    )


PIECES = [
    *(name.strip("*") for name in NAMES), *SPARED, *(part for tree in TREES for part in tree.split("/")),
    "", ".", "a", "A", "S", "E", ".Env", "GIT", "ſ", "ﬆ", "K", "İ", "ß", "x.", "ſecret", "config", "/", "/", "/",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=6).map("".join))
@example(".holdfaﬆ")
def test_the_quick_look_never_misses_what_the_slow_one_finds(path: str) -> None:
    assert USUAL.covers(path) is slow(USUAL, path)


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), max_size=5))
def test_a_quick_look_at_many_paths_misses_none_of_them(paths: list[str]) -> None:
    if any(USUAL.covers(path) for path in paths):
        assert USUAL.may_cover("\0".join(paths))


def test_a_quick_look_is_never_sure_when_holdfast_s_own_folder_is_somewhere_below() -> None:
    assert ProtectedPaths(own=("project/data",)).may_cover("data/x")
