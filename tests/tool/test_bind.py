"""Binding: all mistakes at once, tolerance where it does no harm, and every path a place."""

import json
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tool import AtLeast, AtMost, Content, Context, Otherwise, Shape, Tool, camel_case, tool
from holdfast.tool.bind import Bound, bind, parse
from holdfast.vocabulary.access import FileAccess, MountMode, Want
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, InvalidPath, NotFound, Outside
from holdfast.vocabulary.json import Json
from holdfast.workspace.mount import Mount
from holdfast.workspace.place import Asks, Movable, Place, Readable, Writable
from tests.promises import carries
from tests.tool.plain import PLAIN, made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def mounts(root: Path) -> Generator[dict[str, Mount]]:
    mount = Mount("project", root)
    yield {"project": mount}
    mount.close()


@tool
async def everything(
    ctx: Context,
    text: str,
    count: Annotated[int, AtLeast(1), AtMost(10)] = 5,
    ratio: float = 1.0,
    flag: bool = False,
    kind: Literal["file", "folder"] = "file",
    words: list[str] | None = None,
    numbers: list[int] | None = None,
    patch: Annotated[
        Mapping[str, Json] | None, Shape({"type": "object", "required": ["op"], "properties": {"op": {"type": "string"}}})
    ] = None,
) -> None:
    raise NotImplementedError


@tool
async def files(
    ctx: Context,
    source: Readable,
    target: Writable | None = None,
    folder: Annotated[Readable, Otherwise(".")] = None,  # pyright: ignore[reportArgumentType] - as an author might write it
    many: list[Readable | HoldfastError] | None = None,
) -> None:
    raise NotImplementedError


@tool
async def spelled(ctx: Context, start_line: int = 0, content: Annotated[str, Content()] = "") -> None:
    raise NotImplementedError


@tool
async def rename(ctx: Context, entry: Movable) -> None:
    raise NotImplementedError


async def bound(declared: Any, arguments: Mapping[str, Json], mounts: Mapping[str, Mount] | None = None, **dialect: Any) -> Bound:
    return await bind(made(declared, replace(PLAIN, **dialect)), arguments, mounts or {})


async def mistakes(declared: Any, arguments: Mapping[str, Json], **dialect: Any) -> dict[str, str]:
    with pytest.raises(InvalidArguments) as caught:
        await bound(declared, arguments, **dialect)
    return {mistake.argument: mistake.problem for mistake in caught.value.mistakes}


# Mistakes


@carries("ROAD-2")
async def test_all_mistakes_are_told_at_once_each_with_its_argument() -> None:
    wrong: dict[str, Json] = {
        "count": 0,
        "ratio": "high",
        "flag": 1,
        "kind": "socket",
        "words": "one",
        "numbers": [1, "two"],
        "patch": {"op": 3},
    }

    told = await mistakes(everything, wrong)

    assert told.keys() == {"text", "count", "ratio", "flag", "kind", "words", "numbers.1", "patch.op"}
    assert told["text"] == "is required"
    assert "integer" in (await mistakes(everything, {"text": "", "count": "3"}))["count"]
    assert "1" in told["count"]
    assert "'file'" in told["kind"]


@carries("ROAD-2")
async def test_a_mistake_does_not_repeat_what_the_caller_sent() -> None:
    told = await mistakes(everything, {"text": ["a secret text"], "count": 12345})

    assert "secret" not in str(told)
    assert "12345" not in str(told)


@carries("ROAD-2")
async def test_what_is_missing_inside_an_argument_is_named_with_the_way_to_it() -> None:
    assert await mistakes(everything, {"text": "", "patch": {}}) == {"patch.op": "is required"}


@carries("ROAD-2")
async def test_the_hint_says_what_the_tool_takes() -> None:
    with pytest.raises(InvalidArguments) as caught:
        await bound(spelled, {"start_line": "x"}, wire_name=camel_case)

    assert "spelled takes: startLine?, content?" in caught.value.hint


@pytest.mark.parametrize("value", ["\ud800", "text \udfff"])
async def test_half_a_character_is_a_mistake_of_its_argument(value: str) -> None:
    assert (await mistakes(everything, {"text": value})).keys() == {"text"}
    assert (await mistakes(everything, {"text": "", "words": [value]})).keys() == {"words"}
    assert (await mistakes(everything, {"text": "", "patch": {"op": "", value: 1}})).keys() == {"patch"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 2**5000])
async def test_a_number_that_is_none_or_too_large_is_a_mistake_of_its_argument(value: float) -> None:
    assert (await mistakes(everything, {"text": "", "ratio": value})).keys() == {"ratio"}
    assert (await mistakes(everything, {"text": "", "count": value})).keys() == {"count"}


async def test_endless_nesting_is_a_mistake_of_its_argument_and_no_crash() -> None:
    nested: Json = {}
    for _ in range(50_000):
        nested = {"op": nested}

    assert (await mistakes(everything, {"text": "", "patch": nested})).keys() == {"patch"}


async def test_nothing_is_resolved_when_an_argument_is_wrong(mounts: dict[str, Mount]) -> None:
    with pytest.raises(InvalidArguments):
        await bound(files, {"source": "../outside", "target": 3}, mounts)


# Tolerance


async def test_defaults_stand_for_what_is_not_given() -> None:
    given = (await bound(everything, {"text": "x"})).arguments

    assert given == {
        "text": "x",
        "count": 5,
        "ratio": 1.0,
        "flag": False,
        "kind": "file",
        "words": None,
        "numbers": None,
        "patch": None,
    }


async def test_null_is_the_same_as_not_given() -> None:
    nothing: dict[str, Json] = {"text": "x", "count": None, "ratio": None, "flag": None, "kind": None, "words": None, "patch": None}

    assert await bound(everything, nothing) == await bound(everything, {"text": "x"})


async def test_null_for_what_is_required_is_a_mistake() -> None:
    assert (await mistakes(everything, {"text": None})).keys() == {"text"}


async def test_an_empty_text_is_given_all_the_same() -> None:
    assert (await mistakes(everything, {"text": "", "kind": ""})).keys() == {"kind"}


@carries("FS-SCHEMA-2")
@pytest.mark.parametrize("closed", [True, False])
async def test_keys_that_the_tool_does_not_know_are_let_go(closed: bool) -> None:
    given = await bound(spelled, {"start_line": 3, "unknown": 1, "\ud800": {}, "": None}, closed=closed)

    assert given.arguments == {"start_line": 3, "content": ""}


@carries("DIALECT-4")
@pytest.mark.parametrize("wire_name", [str, camel_case])
@pytest.mark.parametrize("key", ["start_line", "startLine", "StartLine", "START_LINE", "start-line", "startline"])
async def test_an_argument_s_name_is_taken_in_any_usual_spelling(key: str, wire_name: Any) -> None:
    assert (await bound(spelled, {key: 3}, wire_name=wire_name)).arguments["start_line"] == 3


@carries("DIALECT-4")
@pytest.mark.parametrize("order", [1, -1])
async def test_the_exact_spelling_wins_over_a_tolerated_one(order: int) -> None:
    both: list[tuple[str, Json]] = [("start_line", 1), ("startLine", 2)]

    assert (await bound(spelled, dict(both[::order]))).arguments["start_line"] == 1
    assert (await bound(spelled, dict(both[::order]), wire_name=camel_case)).arguments["start_line"] == 2


@carries("DIALECT-4")
async def test_names_inside_an_argument_are_never_changed() -> None:
    patch: Json = {"op": "set", "currentNodeId": {"Deep_Key": 1}, "stepsCompleted": []}

    assert (await bound(everything, {"text": "startLine", "patch": patch})).arguments["patch"] == patch


async def test_a_whole_number_may_be_written_with_a_point() -> None:
    given = (await bound(everything, {"text": "", "count": 3.0, "numbers": [1.0, 2], "ratio": 3})).arguments

    assert (given["count"], given["numbers"], given["ratio"]) == (3, [1, 2], 3)
    numbers = cast("list[object]", given["numbers"])
    assert [type(given["count"]), *map(type, numbers)] == [int, int, int]
    assert (await mistakes(everything, {"text": "", "count": 3.5})).keys() == {"count"}


async def test_true_is_no_number_and_a_number_is_no_truth() -> None:
    assert (await mistakes(everything, {"text": "", "count": True, "flag": 0})).keys() == {"count", "flag"}


# Paths


async def test_a_path_becomes_a_place_and_an_access(mounts: dict[str, Mount], root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.md").touch()
    (root / "link.md").symlink_to("docs/a.md")

    given = await bound(files, {"source": " ./link.md "}, mounts, wire_name=str.upper)

    place = given.arguments["source"]
    assert isinstance(place, Place)
    assert (place.path, str(place)) == ("docs/a.md", "./link.md")
    assert given.accesses[0] == FileAccess("SOURCE", Want.READ, "project", MountMode.READ_WRITE, "docs/a.md", "link.md", "./link.md")


async def test_each_path_asks_for_what_its_type_says(mounts: dict[str, Mount]) -> None:
    given = await bound(files, {"source": "a", "target": "b"}, mounts)

    assert [(each.argument, each.want, each.path) for each in given.accesses] == [
        ("source", Want.READ, "a"),
        ("target", Want.WRITE, "b"),
        ("folder", Want.READ, ""),
    ]


async def test_a_path_that_is_not_given_asks_for_nothing(mounts: dict[str, Mount]) -> None:
    given = await bound(files, {"source": "a"}, mounts)

    assert given.arguments["target"] is None
    assert given.arguments["many"] is None
    assert [each.argument for each in given.accesses] == ["source", "folder"]


@pytest.mark.parametrize("value", [{}, {"folder": None}, {"folder": ""}, {"folder": "."}])
async def test_a_path_that_is_meant_otherwise_is_judged_like_any_other(mounts: dict[str, Mount], value: dict[str, Json]) -> None:
    given = await bound(files, {"source": "a", **value}, mounts)

    assert isinstance(given.arguments["folder"], Place)
    assert given.accesses[-1] == FileAccess("folder", Want.READ, "project", MountMode.READ_WRITE, "", "", ".")


async def test_a_path_that_means_the_entry_itself_is_not_followed(mounts: dict[str, Mount], root: Path) -> None:
    (root / "link").symlink_to("elsewhere")

    assert (await bound(rename, {"entry": "link"}, mounts)).accesses[0].path == "link"


@pytest.mark.parametrize("path", ["", "  "])
async def test_an_empty_path_where_none_is_meant_otherwise_is_invalid(mounts: dict[str, Mount], path: str) -> None:
    with pytest.raises(InvalidPath):
        await bound(files, {"source": path}, mounts)


@pytest.mark.parametrize(
    ("path", "kind"), [("../x", Outside), ("out/x", Outside), ("x\0y", InvalidPath), ("\ud800", InvalidPath), ("nowhere", NotFound)]
)
async def test_a_path_that_resolve_refuses_refuses_the_call(
    mounts: dict[str, Mount], root: Path, path: str, kind: type[HoldfastError]
) -> None:
    (root / "out").symlink_to("/etc")
    (root / "nowhere").symlink_to("missing")

    with pytest.raises(kind):
        await bound(files, {"source": path}, mounts)


@carries("AUDIT-4")
async def test_a_link_that_leads_out_is_refused_with_mount_and_clean_path(mounts: dict[str, Mount], root: Path) -> None:
    (root / "out").symlink_to("/etc")

    with pytest.raises(Outside) as caught:
        await bound(files, {"source": "./a/../out//passwd"}, mounts)

    assert (caught.value.facts["mount"], caught.value.facts["path"]) == ("project", "out/passwd")


@carries("PATH-14")
async def test_of_a_list_of_paths_each_is_a_place_or_its_error(mounts: dict[str, Mount], root: Path) -> None:
    (root / "out").symlink_to("/etc")

    given = await bound(files, {"source": "a", "many": ["one", "../two", "out/x", "", "\ud800", "one"]}, mounts)

    many = cast("list[Place | HoldfastError]", given.arguments["many"])
    assert [each.path if isinstance(each, Place) else each.code for each in many] == [
        "one",
        "outside",
        "outside",
        "invalid_path",
        "invalid_path",
        "one",
    ]
    assert [each.path for each in given.accesses if each.argument == "many"] == ["one", "one"]


async def test_a_list_with_something_that_is_no_path_is_a_mistake(mounts: dict[str, Mount]) -> None:
    assert (await mistakes(files, {"source": "a", "many": ["one", 2]})).keys() == {"many.1"}


async def test_a_path_below_a_file_is_taken_where_the_dialect_says_so(mounts: dict[str, Mount], root: Path) -> None:
    (root / "file").touch()

    given = await bound(files, {"source": "file/below"}, mounts, below_files=True)

    assert given.accesses[0].path == "file/below"
    with pytest.raises(HoldfastError):
        await bound(files, {"source": "file/below"}, mounts)


@tool
async def move(ctx: Context, source: Readable, target: Annotated[Place, Asks(Want.WRITE, receives="source")]) -> None:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("target", "path", "named"),
    [
        ("b.md", "b.md", "b.md"),
        ("docs", "docs/a.md", "docs/a.md"),
        ("new/", "new/a.md", "new/a.md"),
        (".", "a.md", "a.md"),
        ("link", "docs/a.md", "link/a.md"),
    ],
)
async def test_what_goes_into_a_directory_asks_for_the_entry_in_it(
    mounts: dict[str, Mount], root: Path, target: str, path: str, named: str
) -> None:
    (root / "a.md").touch()
    (root / "docs").mkdir()
    (root / "link").symlink_to("docs")

    given = await bound(move, {"source": "a.md", "target": target}, mounts)

    assert (given.accesses[1].path, given.accesses[1].named) == (path, named)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["text", "count", "ratio", "flag", "kind", "words", "numbers", "patch", "Text", "COUNT"]) | st.text(max_size=5)


@carries("PROPERTY-1")
@given(st.dictionaries(NAMES, JSON, max_size=8), st.booleans())
async def test_whatever_is_sent_is_bound_or_invalid_arguments(arguments: dict[str, Json], as_text: bool) -> None:
    tool: Tool = made(everything)

    try:
        given_ = (await bind(tool, parse(json.dumps(arguments)) if as_text else parse(arguments), {})).arguments
    except InvalidArguments:
        return

    assert given_.keys() == {parameter.name for parameter in tool.parameters}
    assert isinstance(given_["text"], str)
    assert type(given_["count"]) is int
    assert 1 <= given_["count"] <= 10
    assert given_["kind"] in ("file", "folder")
