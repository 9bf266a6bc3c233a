"""fs.search"""

import pytest

from tests.desk import Desk
from tests.promises import carries


@carries("FS-SEARCH-1", "FS-SEARCH-6")
async def test_the_whole_tree_is_searched_and_a_match_has_mount_path_line_and_text(desk: Desk) -> None:
    desk.write("top.md", "one\n  a needle here  \r\nthree\n")
    desk.write("a/b/c/deep.md", "needle without an end")
    desk.write("other.md", "nothing\n")

    said = await desk.call("fs.search", path="@project", pattern="needle")

    assert [(match["path"], match["line"], match["text"].rstrip("\r")) for match in said["matches"]] == [
        ("@project/a/b/c/deep.md", 1, "needle without an end"),
        ("@project/top.md", 2, "  a needle here  "),
    ]
    assert said["truncated"] is False


@carries("FS-SEARCH-1")
async def test_only_what_is_below_the_path_is_searched_and_a_file_may_be_named_too(desk: Desk) -> None:
    desk.write("a/one.md", "needle\n")
    desk.write("b/two.md", "needle\n")
    desk.write("ab/three.md", "needle\n")

    below = await desk.call("fs.search", path="@project/a", pattern="needle")
    file = await desk.call("fs.search", path="@project/b/two.md", pattern="needle")

    assert [match["path"] for match in below["matches"]] == ["@project/a/one.md"]
    assert [match["path"] for match in file["matches"]] == ["@project/b/two.md"]


@carries("FS-SEARCH-2")
async def test_without_being_told_there_is_one_line_before_and_after_and_at_most_50_matches(desk: Desk) -> None:
    desk.write("many.txt", "".join(f"match {number}\nfiller {number}\n" for number in range(51)))

    said = await desk.call("fs.search", path="@project", pattern="match")

    assert (len(said["matches"]), said["truncated"]) == (50, True)
    assert (said["matches"][1]["before"], said["matches"][1]["after"]) == (["filler 0"], ["filler 1"])


@carries("FS-SEARCH-2", "FS-SEARCH-8")
async def test_exactly_as_many_matches_as_the_limit_are_not_truncated(desk: Desk) -> None:
    desk.write("many.txt", "match\n" * 50)

    said = await desk.call("fs.search", path="@project", pattern="match")

    assert (len(said["matches"]), said["truncated"]) == (50, False)


@carries("FS-SEARCH-3")
@pytest.mark.parametrize("pattern", ["needle", "/need.e/"])
async def test_git_node_modules_and_hidden_folders_are_skipped_at_any_depth_and_hidden_files_are_not(desk: Desk, pattern: str) -> None:
    for path in (".git/HEAD", "node_modules/x/index.js", ".hidden/x.md", "sub/.git/HEAD", "sub/node_modules/y.js", "sub/.cache/z"):
        desk.write(path, "needle\n")
    for path in ("node_modules.md", "sub/.dotfile", "not_node_modules/x"):
        desk.write(path, "needle\n")

    said = await desk.call("fs.search", path="@project", pattern=pattern)

    assert [match["path"] for match in said["matches"]] == [
        "@project/node_modules.md",
        "@project/not_node_modules/x",
        "@project/sub/.dotfile",
    ]


@carries("FS-SEARCH-4")
@pytest.mark.parametrize("pattern", ["a.c", "a*c", "[ac]", "a|c", "(a", "a\\c", "^a", "c$", "-e", "--files", "$HOME", "a/b", "//"])
async def test_no_character_of_a_plain_pattern_is_special(desk: Desk, pattern: str) -> None:
    desk.write("plain.txt", f"abc aac\nx{pattern}y\n")

    said = await desk.call("fs.search", path="@project", pattern=pattern)

    assert [(match["line"], match["text"]) for match in said["matches"]] == [(2, f"x{pattern}y")]


@carries("FS-SEARCH-4")
async def test_a_plain_pattern_is_found_in_its_own_case_only(desk: Desk) -> None:
    desk.write("case.txt", "Needle\nneedle\n")

    said = await desk.call("fs.search", path="@project", pattern="needle")

    assert [match["line"] for match in said["matches"]] == [2]


@carries("FS-SEARCH-5")
async def test_a_pattern_between_slashes_is_a_regular_expression_and_an_i_behind_it_ignores_case(desk: Desk) -> None:
    desk.write("code.py", "def one():\nDEF TWO():\nundefined\n")

    exact = await desk.call("fs.search", path="@project", pattern="/^def \\w+/")
    ignoring = await desk.call("fs.search", path="@project", pattern="/^def \\w+/i")

    assert [match["line"] for match in exact["matches"]] == [1]
    assert [match["line"] for match in ignoring["matches"]] == [1, 2]


@carries("FS-SEARCH-5")
async def test_a_regular_expression_that_cannot_be_understood_is_an_error_that_says_so(desk: Desk) -> None:
    desk.write("code.py", "x\n")

    said = await desk.call("fs.search", path="@project", pattern="/(unclosed/")

    assert (said["ok"], desk.last_code) == (False, "invalid_pattern")


@carries("FS-SEARCH-7")
@pytest.mark.parametrize("pattern", ["needle", "/needl./"])
async def test_context_has_as_many_lines_as_asked_for_and_fewer_at_the_files_ends(desk: Desk, pattern: str) -> None:
    desk.write("ends.txt", "needle first\nb\nc\nd\nneedle last\n")

    said = await desk.call("fs.search", path="@project", pattern=pattern, before=2, after=3)

    first, last = said["matches"]
    assert (first["before"], first["after"]) == ([], ["b", "c", "d"])
    assert (last["before"], last["after"]) == (["c", "d"], [])


@carries("FS-SEARCH-7")
async def test_context_that_was_not_asked_for_is_left_out(desk: Desk) -> None:
    desk.write("x.txt", "a\nneedle\nb\n")

    said = await desk.call("fs.search", path="@project", pattern="needle", before=0, after=0)

    assert said["matches"] == [{"path": "@project/x.txt", "line": 2, "text": "needle"}]


@carries("FS-SEARCH-8")
@pytest.mark.parametrize("pattern", ["needle", "/needl./"])
async def test_it_stops_at_max_matches_says_that_there_is_more_and_tells_what_it_did(desk: Desk, pattern: str) -> None:
    for name in "abc":
        desk.write(f"{name}.txt", "needle\n" * 3)

    said = await desk.call("fs.search", path="@project", pattern=pattern, maxMatches=4)

    assert [(match["path"], match["line"]) for match in said["matches"]] == [
        ("@project/a.txt", 1),
        ("@project/a.txt", 2),
        ("@project/a.txt", 3),
        ("@project/b.txt", 1),
    ]
    assert said["truncated"] is True
    assert said["stats"]["matches"] == 4


@pytest.mark.parametrize("pattern", ["needle", "/needl./"])
@pytest.mark.parametrize("most", [2**31, 2**63, 10**30])
async def test_any_number_of_matches_may_be_asked_for(desk: Desk, pattern: str, most: int) -> None:
    desk.write("x.txt", "needle\n")

    said = await desk.call("fs.search", path="@project", pattern=pattern, maxMatches=most, before=most, after=most)

    assert (said["ok"], len(said["matches"])) == (True, 1)


@carries("PROT-6", "PROT-8")
@pytest.mark.parametrize("pattern", ["needle", "/needl./"])
async def test_matches_in_protected_files_are_dropped_before_they_are_counted(desk: Desk, pattern: str) -> None:
    for path in (".env", "a.pem", "conf/credentials.json", "id_rsa", "my-Secret.txt"):
        desk.write(path, "needle\n" * 10)
    desk.write("z.txt", "needle\n" * 2)

    said = await desk.call("fs.search", path="@project", pattern=pattern, maxMatches=2)

    assert [(match["path"], match["line"]) for match in said["matches"]] == [("@project/z.txt", 1), ("@project/z.txt", 2)]
    assert said["truncated"] is False
