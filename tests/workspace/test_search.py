"""Searching for text in files, in process and by ripgrep."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.vocabulary.errors import InvalidPattern, NotFound, SpecialFile
from holdfast.workspace import search as searching
from holdfast.workspace.match import CUT, MAX_LINE_CHARACTERS, Found, Match
from holdfast.workspace.mount import Mount
from holdfast.workspace.search import Query, search
from holdfast.workspace.spawner import Confinement
from tests.promises import carries
from tests.workspace.looking import ALL, GUARDED, at, make

both = pytest.mark.parametrize("regex", [False, True], ids=["text", "regex"])


def lines(found: Found) -> list[tuple[str, int, str]]:
    return [(match.place.path, match.line, match.text) for match in found.matches]


@both
async def test_a_match_has_its_place_its_line_and_the_text_without_its_end(mount: Mount, root: Path, regex: bool) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.txt").write_bytes(b"first\n\nan apple\r\nno\napples, apples")

    found = await search(at(mount), Query("apple", regex=regex), ALL)

    assert lines(found) == [("docs/a.txt", 3, "an apple"), ("docs/a.txt", 5, "apples, apples")]
    assert found.matches[0].place.written == "./docs/a.txt"
    assert (found.truncated, found.files_searched, found.files_matched) == (False, 1, 1)


async def test_every_way_of_confinement_finds_the_same(mount: Mount, root: Path, way: Confinement) -> None:
    make(root, "b/c", "a", "b-c", ".hidden/x", "deep/" * 20 + "file")
    (root / "big").write_bytes(b"line\n" * 1_000_000 + b"file big\n")

    found = await search(at(mount), Query("[abcx]|fil.", before=1), ALL)
    beneath = await search(at(mount, "b"), Query("c"), ALL)

    assert await mount.spawner.confinement() is way
    assert [match.place.path for match in found.matches] == [".hidden/x", "a", "b/c", "b-c", "big", "deep/" * 20 + "file"]
    assert found.matches[4] == Match(at(mount).child("big"), 1_000_001, "file big", ("line",), ())
    assert [match.place.path for match in beneath.matches] == ["b/c"]
    with pytest.raises(InvalidPattern):
        await search(at(mount), Query("("), ALL)


async def test_plain_text_is_found_without_confinement_too_whatever_the_size(mount: Mount, root: Path, way: Confinement) -> None:
    make(root, *(f"{number:03}" for number in range(250)))
    (root / "100").write_bytes(b"line\n" * 1_000_000 + b"100\n")

    assert lines(await search(at(mount), Query("100", regex=False), ALL)) == [("100", 1_000_001, "100")]


@both
@carries("PATH-10")
async def test_matches_come_by_path_and_line_however_few_are_asked_for(
    mount: Mount, root: Path, regex: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_MATCHES_WORTH_SORTING", 30)
    for path in ("b/1", "b-1", "b.1", "a", "c/d/e", "c/d.e", "B", "ä", "z"):
        make(root, path)
        (root / path).write_text("x\n" * 20)
    everything = lines(await search(at(mount), Query("x", regex=regex), ALL))

    assert [path for path, line, _ in everything if line == 1] == ["B", "a", "b/1", "b-1", "b.1", "c/d/e", "c/d.e", "z", "ä"]
    for limit in (1, 2, 19, 20, 21, 50, 179, 180, 500):
        found = await search(at(mount), Query("x", regex=regex, max_matches=limit), ALL)
        assert lines(found) == everything[:limit]
        assert found.truncated is (limit < 180)


@both
async def test_lines_around_a_match_are_given_up_to_the_ends_of_the_file(mount: Mount, root: Path, regex: bool) -> None:
    (root / "a").write_text("1x\n2\n3x\n4\n5\n6\n7x")

    found = await search(at(mount), Query("x", regex=regex, before=1, after=2), ALL)

    assert [(match.before, match.line, match.after) for match in found.matches] == [
        ((), 1, ("2", "3x")),
        (("2",), 3, ("4", "5")),
        (("6",), 7, ()),
    ]


@pytest.mark.parametrize("limit", [1, 2])
async def test_the_last_match_within_the_limit_has_all_its_lines(
    mount: Mount, root: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_MATCHES_WORTH_SORTING", 1)
    (root / "a").write_text("".join(f"{number}x\n" for number in range(1, 100)))

    found = await search(at(mount), Query("x", after=3, max_matches=limit), ALL)

    assert found.matches[-1].after == tuple(f"{limit + number}x" for number in (1, 2, 3))


@both
async def test_binary_files_are_left_out_wherever_the_nul_is(mount: Mount, root: Path, regex: bool) -> None:
    (root / "early").write_bytes(b"apple\n\0\n")
    (root / "late").write_bytes(b"apple\n" + b"text\n" * 50_000 + b"\0")
    (root / "text").write_bytes(b"apple\n")

    assert lines(await search(at(mount), Query("apple", regex=regex), ALL)) == [("text", 1, "apple")]


@both
async def test_text_in_other_encodings_is_found_and_shown(mount: Mount, root: Path, regex: bool) -> None:
    (root / "bom").write_bytes(b"\xef\xbb\xbfapple\n")
    (root / "latin1").write_bytes(b"caf\xe9 apple\n")
    (root / "utf16").write_bytes("\ufeffno\nan apple €\n".encode("utf-16-be"))

    found = await search(at(mount), Query("apple", regex=regex), ALL)

    assert lines(found) == [("bom", 1, "apple"), ("latin1", 1, "caf\ufffd apple"), ("utf16", 2, "an apple €")]


@both
async def test_a_file_whose_name_is_not_utf8_is_found_and_shown_with_replacement_characters(mount: Mount, root: Path, regex: bool) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("apple\n")

    assert lines(await search(at(mount), Query("apple", regex=regex), ALL)) == [("caf\ufffd", 1, "apple")]


@both
async def test_a_line_that_is_too_long_is_cut_with_a_mark(mount: Mount, root: Path, regex: bool) -> None:
    (root / "min.js").write_text("x\n" + "ä" * MAX_LINE_CHARACTERS + "x\nx\n")

    found = await search(at(mount), Query("x", regex=regex, max_matches=2, after=1), ALL)

    assert lines(found)[1] == ("min.js", 2, "ä" * MAX_LINE_CHARACTERS + CUT)
    assert found.matches[0].after == ("ä" * MAX_LINE_CHARACTERS + CUT,)


@carries("FS-SEARCH-4")
async def test_no_character_of_a_plain_text_is_special(mount: Mount, root: Path) -> None:
    (root / "a").write_text("-a.*b\nxaxxb\n")

    assert lines(await search(at(mount), Query("-a.*b", regex=False), ALL)) == [("a", 1, "-a.*b")]
    assert lines(await search(at(mount), Query("-a.*b"), ALL)) == [("a", 1, "-a.*b")]


@both
async def test_case_matters_only_if_it_is_asked_for(mount: Mount, root: Path, regex: bool) -> None:
    (root / "a").write_text("Straße\nSTRASSE\nÉtude\nétude\n\u212aelvin\n")

    async def found(pattern: str, *, case_sensitive: bool) -> list[int]:
        result = await search(at(mount), Query(pattern, regex=regex, case_sensitive=case_sensitive), ALL)
        return [match.line for match in result.matches]

    assert await found("STRA", case_sensitive=True) == [2]
    assert await found("stra", case_sensitive=False) == [1, 2]
    assert await found("étude", case_sensitive=False) == [3, 4]
    assert await found("kelvin", case_sensitive=False) == [5]


@both
async def test_what_is_kept_from_sight_is_dropped_before_it_is_counted(mount: Mount, root: Path, regex: bool) -> None:
    make(root, ".env", "a/credentials.json", "z")
    for path in (".env", "a/credentials.json", "z"):
        (root / path).write_text("key\n" * 10)

    found = await search(at(mount), Query("key", regex=regex, max_matches=10), GUARDED)

    assert ({match.place.path for match in found.matches}, len(found.matches), found.truncated) == ({"z"}, 10, False)


@both
async def test_only_files_that_are_asked_for_are_searched(mount: Mount, root: Path, regex: bool) -> None:
    make(root, "src/a.rs", "src/B.RS", "src/b.py", "doc/a.rs", "x.rs/plain", "a[1].rs")

    async def searched(query: Query) -> list[str]:
        return [match.place.path for match in (await search(at(mount), query, ALL)).matches]

    pattern = "[/.]" if regex else "."
    query = Query(pattern, regex=regex)
    assert await searched(replace(query, names=("*.rs",))) == ["a[1].rs", "doc/a.rs", "src/B.RS", "src/a.rs"]
    assert await searched(replace(query, names=("*.py", "A[[]*"))) == ["a[1].rs", "src/b.py"]
    assert await searched(replace(query, include=_is_source)) == ["src/B.RS", "src/a.rs", "src/b.py"]
    assert await searched(replace(query, names=("a.*",), include=_is_source)) == ["src/a.rs"]


@both
@carries("FS-SEARCH-3")
async def test_directories_can_be_left_out_by_name_or_because_they_are_hidden(mount: Mount, root: Path, regex: bool) -> None:
    make(root, "node_modules/a", "src/node_modules/a", "src/.cache/a", ".git/a", ".dotfile-a", "[x]/a", "node_modules_a", "src/!a/a")

    query = Query("a", regex=regex, skip_directories=("node_modules", "[x]", "!a"), skip_hidden_directories=True)

    assert [match.place.path for match in (await search(at(mount), query, ALL)).matches] == [".dotfile-a", "node_modules_a"]


@carries("PATH-10")
async def test_nothing_is_ignored_and_no_settings_of_the_user_count(mount: Mount, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, ".git/HEAD", "ignored", ".hidden", "a")
    for name in (".gitignore", ".ignore", ".rgignore"):
        (root / name).write_text("ignored\n.git\n")
    (root / "settings").write_text("--max-count=0\n--glob=!a\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(root / "settings"))

    found = await search(at(mount), Query("^(.git/HEAD|ignored|.hidden|a)$", include=_is_named_in_itself), ALL)

    assert [match.place.path for match in found.matches] == [".git/HEAD", ".hidden", "a", "ignored"]


@both
async def test_one_file_can_be_searched(mount: Mount, root: Path, regex: bool, way: Confinement) -> None:
    (root / "a").write_text("1\nx 2\nx 3\nx 4\n")

    found = await search(at(mount, "a"), Query("x", regex=regex, max_matches=2, before=1), ALL)

    assert lines(found) == [("a", 2, "x 2"), ("a", 3, "x 3")]
    assert (found.truncated, found.matches[0].before) == (True, ("1",))


async def test_what_is_not_there_or_no_file_cannot_be_searched(mount: Mount, root: Path) -> None:
    os.mkfifo(root / "pipe")

    with pytest.raises(NotFound, match="not found"):
        await search(at(mount, "gone"), Query("x"), ALL)
    with pytest.raises(SpecialFile):
        await search(at(mount, "pipe"), Query("x"), ALL)


@both
@carries("PATH-7")
async def test_links_are_not_searched(mount: Mount, root: Path, outside: Path, regex: bool) -> None:
    make(root, "real")
    (root / "real").write_text("outside\n")
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "again").symlink_to("real")

    assert lines(await search(at(mount), Query("outside", regex=regex), ALL)) == [("real", 1, "outside")]


@both
async def test_an_empty_tree_has_no_matches(mount: Mount, regex: bool) -> None:
    found = await search(at(mount), Query("x", regex=regex), ALL)

    assert (found.matches, found.truncated, found.files_searched) == ([], False, 0)


@pytest.mark.parametrize("pattern", ["foo(", "[z-a]", "*", r"\p{Nonsense}", "a{2,1}", r"(?<name", r"(a)\1", "(?=a)"])
async def test_a_pattern_that_ripgrep_does_not_understand_is_explained_in_one_line(mount: Mount, pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        await search(at(mount), Query(pattern), ALL)

    assert "\n" not in str(caught.value)
    assert len(caught.value.message) > len("the pattern cannot be understood: ")


@both
@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0b", "a" * 40_000])
async def test_a_pattern_that_no_line_can_match_is_refused(mount: Mount, pattern: str, regex: bool) -> None:
    with pytest.raises(InvalidPattern) as caught:
        await search(at(mount), Query(pattern, regex=regex), ALL)

    assert caught.value.hint


_text = st.text(st.sampled_from("ab AB.é\u212aſßk\t\r"), max_size=12)


_file = st.lists(_text, max_size=6).map("\n".join).map(str.encode) | st.binary(max_size=20).map(lambda data: b"a" + data)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(["a", "b/c", "b-c", "b/d/e"]), _file, min_size=1),
    pattern=_text.filter(bool),
    case_sensitive=st.booleans(),
    around=st.integers(0, 2),
    limit=st.integers(0, 3),
)
@carries("PATH-10")
async def test_the_search_in_process_finds_what_ripgrep_finds(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], pattern: str, case_sensitive: bool, around: int, limit: int
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for path, data in files.items():
        make(root, path)
        (root / path).write_bytes(data)
    mount = Mount("project", root)

    here = Query(pattern, regex=False, case_sensitive=case_sensitive, before=around, after=around, max_matches=limit)
    by_ripgrep = replace(here, regex=True, pattern=re.escape(pattern))

    assert (await search(at(mount), here, ALL)).matches == (await search(at(mount), by_ripgrep, ALL)).matches
    mount.close()


def _is_named_in_itself(path: str) -> bool:
    return path in (".git/HEAD", "ignored", ".hidden", "a")


def _is_source(path: str) -> bool:
    return path.startswith("src/")


@pytest.mark.parametrize("pattern", [r"\d+\b", r"\w{3}", "[^a]$", "[[:upper:]]", r"\p{Lu}", r"\x41", "(?i)k", r"(?:a|\W)b", "."])
async def test_a_pattern_finds_the_same_in_a_small_tree_whether_or_not_all_of_it_is_ascii(mount: Mount, root: Path, pattern: str) -> None:
    (root / "a").write_text("12 Ab\nkey = A-b\n\nshort\n")
    small = await search(at(mount), Query(pattern, case_sensitive=True), ALL)

    (root / "z").write_text("é")

    assert [match for match in small.matches if match.place.path == "a"] == [
        match for match in (await search(at(mount), Query(pattern, case_sensitive=True), ALL)).matches if match.place.path == "a"
    ]


async def test_letters_and_digits_of_the_whole_world_are_found_in_a_small_tree(mount: Mount, root: Path) -> None:
    (root / "a").write_text("٣\nÉté\n")

    assert [match.line for match in (await search(at(mount), Query(r"^\d$"), ALL)).matches] == [1]
    assert [match.line for match in (await search(at(mount), Query(r"^éTÉ\b", case_sensitive=False), ALL)).matches] == [2]
