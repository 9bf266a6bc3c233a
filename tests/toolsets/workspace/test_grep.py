"""grep"""

from typing import Any

import pytest

from holdfast.toolsets.workspace._path_pattern import path_filter  # pyright: ignore[reportPrivateUsage] - many patterns, without files
from tests.desk import Desk
from tests.promises import carries
from tests.toolsets.asking import add_chat, done, refused


def places(said: Any) -> list[tuple[str, int]]:
    return [(match["path"], match["line_number"]) for match in said["matches"]]


@carries("WS-GREP-1", "WS-SYNC-7")
async def test_matches_come_by_path_and_line_from_disk_and_database(desk: Desk) -> None:
    desk.write("src/main.rs", "fn main() {}\n// TODO: Implement error handling\n")
    await done(desk, "write", path="/a.md", content="TODO: a\nx\nTODO: b\n")
    await done(desk, "write", path="/gone.md", content="nothing\nTODO: gone\n")
    (desk.root / "gone.md").unlink()

    said = await done(desk, "grep", pattern="TODO:")

    assert said["matches"] == [
        {"path": "/a.md", "line_number": 1, "line_text": "TODO: a"},
        {"path": "/a.md", "line_number": 3, "line_text": "TODO: b"},
        {"path": "/gone.md", "line_number": 2, "line_text": "TODO: gone"},
        {"path": "/src/main.rs", "line_number": 2, "line_text": "// TODO: Implement error handling"},
    ]
    assert said["truncated"] is False


@carries("WS-GREP-2")
async def test_case_matters_only_when_that_is_asked(desk: Desk) -> None:
    desk.write("a.txt", "todo\nTODO\n")

    either = await done(desk, "grep", pattern="Todo")
    exact = await done(desk, "grep", pattern="TODO", case_sensitive=True)

    assert (places(either), places(exact)) == ([("/a.txt", 1), ("/a.txt", 2)], [("/a.txt", 2)])


@carries("WS-GREP-3")
@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("%.rs", {"src/main.rs", "src/Deep/lib.RS", "my_src.rs"}),
        ("*.rs", {"src/main.rs", "src/Deep/lib.RS", "my_src.rs"}),
        ("/src/%", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md"}),
        ("src/*", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md"}),
        ("SRC/*", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md"}),
        ("//src//*", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md"}),
        ("src", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md", "my_src.rs", "myXsrc.txt"}),
        ("y_s", {"my_src.rs"}),
        ("%y_s%", {"my_src.rs"}),
        ("/src/*/lib.rs", {"src/Deep/lib.RS"}),
        ("*/deep/*", {"src/Deep/lib.RS"}),
        ("main.rs", {"src/main.rs"}),
        (" *main* ", {"src/main.rs"}),
        ("*", {"src/main.rs", "src/Deep/lib.RS", "src/notes.md", "my_src.rs", "myXsrc.txt"}),
        ("/src/main.rs*main.rs", set[str]()),
        ("a.b", set[str]()),
    ],
)
def test_path_pattern_says_which_files_are_searched(pattern: str, fitting: set[str]) -> None:
    paths = ["src/main.rs", "src/Deep/lib.RS", "src/notes.md", "my_src.rs", "myXsrc.txt"]

    fits = path_filter(pattern)

    assert {path for path in paths if fits(path)} == fitting


@carries("WS-GREP-3")
async def test_path_pattern_holds_for_disk_and_database(desk: Desk) -> None:
    desk.write("src/disk.rs", "needle\n")
    desk.write("other.rs", "needle\n")
    await done(desk, "write", path="/src/gone.RS", content="needle\n")
    (desk.root / "src/gone.RS").unlink()

    said = await done(desk, "grep", pattern="needle", path_pattern="/src/%.rs")

    assert places(said) == [("/src/disk.rs", 1), ("/src/gone.RS", 1)]


async def test_path_is_where_the_search_begins(desk: Desk) -> None:
    desk.write("src/a.rs", "needle\n")
    desk.write("b.rs", "needle\n")

    assert places(await done(desk, "grep", pattern="needle", path="/src")) == [("/src/a.rs", 1)]
    assert places(await done(desk, "grep", pattern="needle", path="/b.rs")) == [("/b.rs", 1)]


@carries("WS-GREP-4")
@pytest.mark.parametrize(("arguments", "count"), [({}, 50), ({"limit": 7}, 7), ({"limit": 0}, 120)])
async def test_the_limit_is_50_and_0_means_all(desk: Desk, arguments: dict[str, int], count: int) -> None:
    desk.write("a.txt", "needle\n" * 120)

    said = await done(desk, "grep", pattern="needle", **arguments)

    assert [match["line_number"] for match in said["matches"]] == list(range(1, count + 1))
    assert said["truncated"] is (count < 120)


@carries("WS-GREP-5")
@pytest.mark.parametrize(
    ("arguments", "before", "after"),
    [
        ({}, None, None),
        ({"before_context": 1}, ["2"], None),
        ({"after_context": 2}, None, ["4", "5"]),
        ({"context": 1}, ["2"], ["4"]),
        ({"context": 1, "before_context": 2}, ["1", "2"], ["4"]),
        ({"context": 2, "after_context": 0}, ["1", "2"], None),
        ({"context": 9}, ["1", "2"], ["4", "5"]),
        ({"context": 0}, None, None),
    ],
)
async def test_context_is_there_when_it_is_asked_for(
    desk: Desk, arguments: dict[str, int], before: list[str] | None, after: list[str] | None
) -> None:
    desk.write("a.txt", "1\n2\nneedle\n4\n5\n")

    [match] = (await done(desk, "grep", pattern="needle", **arguments))["matches"]

    assert (match.get("before"), match.get("after")) == (before, after)


@carries("WS-GREP-6")
async def test_the_syntax_is_ripgreps_and_the_description_says_so(desk: Desk) -> None:
    desk.write("a.rs", "fn one() {}\nfn (\n\u00c4pfel\n")
    [tool] = [tool for tool in desk.holdfast.tools() if tool.name == "grep"]

    assert places(await done(desk, "grep", pattern=r"fn \w+\(")) == [("/a.rs", 1)]
    assert places(await done(desk, "grep", pattern=r"^\p{Lu}", case_sensitive=True)) == [("/a.rs", 3)]
    assert "ripgrep" in tool.description


@carries("WS-GREP-6")
@pytest.mark.parametrize("pattern", ["(", "[z-a]", "a\nb", "", r"\1", "x{1,99999999}"])
async def test_a_pattern_that_cannot_be_understood_is_a_bad_request(desk: Desk, pattern: str) -> None:
    desk.write("a.txt", "a\n")

    await refused(desk, 400, "grep", pattern=pattern)


@carries("WS-GREP-7")
async def test_nothing_is_ignored(desk: Desk) -> None:
    desk.write(".gitignore", "build/\n*.log\n")
    for path in ("build/out.txt", "a.log", ".hidden/b.txt", ".env", "node_modules/c.js"):
        desk.write(path, "needle\n")

    said = await done(desk, "grep", pattern="needle")

    assert {path for path, _ in places(said)} == {"/build/out.txt", "/a.log", "/.hidden/b.txt", "/.env", "/node_modules/c.js"}


@carries("WS-GREP-7", "WS-SYNC-7")
async def test_chats_are_searched_as_text(desk: Desk) -> None:
    chat = '{"messages":[{"role":"user","content":"where is the\\nneedle, please?"}]}'
    await add_chat(desk, "/chats/one.chat", chat, content_kind="json")

    [match] = (await done(desk, "grep", pattern="^needle"))["matches"]

    assert (match["path"], match["line_text"]) == ("/chats/one.chat", "needle, please?")


async def test_binary_files_are_not_searched(desk: Desk) -> None:
    desk.write("a.bin", b"needle\0\n")

    assert (await done(desk, "grep", pattern="needle"))["matches"] == []
