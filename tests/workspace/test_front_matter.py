"""Front matter: read safely, and changed without touching anything else."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, InvalidFrontMatter, InvalidState, NotFound, StaleHash, TooLarge
from holdfast.vocabulary.json import Json
from holdfast.workspace.changes import Changes
from holdfast.workspace.front_matter import parse, patch, patched, split
from holdfast.workspace.mount import Mount
from holdfast.workspace.operations import read_operations
from tests.promises import carries
from tests.workspace.writing import at, everything, sha256


def after(before: bytes, update: dict[str, Json]) -> bytes:
    return patched(before, read_operations(update))


@carries("FS-PATCH-3", "FS-PATCH-4", "FS-PATCH-5", "FS-PATCH-6")
async def test_every_operation_does_what_it_says_and_nothing_else_changes(mount: Mount, root: Path) -> None:
    (root / "workflow.md").write_bytes(WORKFLOW)

    written = await patch(
        Changes(),
        at(mount, "workflow.md"),
        {
            "stepsCompleted": {"append": ["step-02", "step-01", "step-02"]},
            "variables": {"set": {"name": "no", "depth": 2}},
            "decisionLog": {"append": [{"at": "step-01", "why": "it's: 'so'"}]},
            "artifacts": {"append": ["out/plan.md"]},
            "currentNodeId": {"set": "step-02"},
            "updatedAt": {"set": "2026-01-04T10:00:00Z"},
        },
    )

    assert (root / "workflow.md").read_bytes() == PATCHED
    assert (written.sha256_before, written.sha256_after) == (sha256(WORKFLOW), sha256(PATCHED))


@carries("FS-PATCH-7")
def test_dotted_keys_say_the_same_as_nested_ones() -> None:
    assert after(WORKFLOW, {"artifacts.append": ["x"], "variables.set": {"a": 1}}) == after(
        WORKFLOW, {"artifacts": {"append": ["x"]}, "variables": {"set": {"a": 1}}}
    )


@carries("FS-PATCH-8")
@pytest.mark.parametrize(
    ("before", "update", "expected"),
    [
        pytest.param(b"- a\n- b # c\n\n# d\nx: 1\n", ["new"], b"- a\n- b # c\n- new\n\n# d\nx: 1\n", id="a list without indentation"),
        pytest.param(b"      - a\n", ["new"], b"      - a\n      - new\n", id="a list with much of it"),
        pytest.param(b"  - a   \n  -    b\n", ["new"], b"  - a   \n  -    b\n  - new\n", id="trailing and doubled spaces"),
        pytest.param(
            b"  - |\n    a\n    # b\n\n\nx: 1\n", ["new"], b"  - |\n    a\n    # b\n  - new\n\n\nx: 1\n", id="an item of several lines"
        ),
        pytest.param(b"  - |+\n    a\n\nx: 1\n", ["new"], b"  - |+\n    a\n\n  - new\nx: 1\n", id="an item that keeps its blank lines"),
        pytest.param(b"  - a\n    b\n", ["new"], b"  - a\n    b\n  - new\n", id="an item that is folded"),
        pytest.param(b"  -\n", ["new"], b"  -\n  - new\n", id="an item that is empty"),
    ],
)
def test_a_block_list_is_continued_as_it_is_written(before: bytes, update: list[Json], expected: bytes) -> None:
    assert after(b"---\nartifacts:\n" + before + b"---\n", {"artifacts.append": update}) == b"---\nartifacts:\n" + expected + b"---\n"


@carries("FS-PATCH-8")
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"artifacts: [a]", b"artifacts: [a, new, 'no']"),
        (b"artifacts: [ a, ] # c", b"artifacts: [ a, new, 'no', ] # c"),
        (b"artifacts: [a,\n  b # c\n  ]", b"artifacts: [a,\n  b, new, 'no' # c\n  ]"),
        (b"artifacts: []  # c", b"artifacts:  # c\n  - new\n  - 'no'"),
        (b"artifacts:", b"artifacts:\n  - new\n  - 'no'"),
        (b"artifacts: # c\nx: 1", b"artifacts: # c\n  - new\n  - 'no'\nx: 1"),
        (b"artifacts: ~", b"artifacts:\n  - new\n  - 'no'"),
        (b"x: 1 # c\n# d", b"x: 1 # c\nartifacts:\n  - new\n  - 'no'\n# d"),
        (b"{x: 1}", b"{x: 1, artifacts: [new, 'no']}"),
        (b"{artifacts: }", b"{artifacts: [new, 'no'] }"),
        (b"# only", b"# only\nartifacts:\n  - new\n  - 'no'"),
        (b"{}", b"artifacts:\n  - new\n  - 'no'"),
        (b"'artifacts' : [a]", b"'artifacts' : [a, new, 'no']"),
    ],
)
def test_a_list_is_begun_or_continued_whatever_way_it_is_written(before: bytes, expected: bytes) -> None:
    assert after(b"---\n" + before + b"\n---\nbody", {"artifacts.append": ["new", "no"]}) == b"---\n" + expected + b"\n---\nbody"


@carries("FS-PATCH-8")
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"currentNodeId: a", b"currentNodeId: new"),
        (b'currentNodeId:   "a"   # c', b'currentNodeId:   "new"   # c'),
        (b"currentNodeId: 'a'", b"currentNodeId: 'new'"),
        (b"currentNodeId: |\n  a\n\n# c\nx: 1", b"currentNodeId: new\n\n# c\nx: 1"),
        (b"currentNodeId: |+\n  a\n\nx: 1", b"currentNodeId: new\nx: 1"),
        (b"currentNodeId: a\n  b # c", b"currentNodeId: new # c"),
        (b"currentNodeId:\n  - a\n  - b # c\nx: 1", b"currentNodeId: new # c\nx: 1"),
        (b"currentNodeId: [a,\n b]", b"currentNodeId: new"),
        (b"currentNodeId:  # c", b"currentNodeId: new  # c"),
        (b"x: 1", b"x: 1\ncurrentNodeId: new"),
    ],
)
def test_a_value_is_replaced_where_it_stands_and_keeps_its_quotes(before: bytes, expected: bytes) -> None:
    assert after(b"---\n" + before + b"\n---\n", {"currentNodeId.set": "new"}) == b"---\n" + expected + b"\n---\n"


@carries("FS-PATCH-8")
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"variables: {}", b"variables:\n  a: 1\n  b: [x]"),
        (b"variables: {a: 0}", b"variables: {a: 1, b: [x]}"),
        (b"variables:\n    a: 0 # c\n\n# d", b"variables:\n    a: 1 # c\n    b: [x]\n\n# d"),
        (b"variables:\n  a:\n    deep: 1 # c\n  z: 2", b"variables:\n  a: 1 # c\n  z: 2\n  b: [x]"),
        (b"variables:\n  b: |\n    # no comment\n  z: 2", b"variables:\n  b: [x]\n  z: 2\n  a: 1"),
        (b"variables:\n  b:\n  z:", b"variables:\n  b: [x]\n  z:\n  a: 1"),
    ],
)
def test_variables_are_merged_one_level_deep_and_the_others_stay(before: bytes, expected: bytes) -> None:
    assert after(b"---\n" + before + b"\n---\n", {"variables.set": {"a": 1, "b": ["x"]}}) == b"---\n" + expected + b"\n---\n"


@carries("FS-PATCH-8")
def test_line_ends_byte_order_mark_long_lines_and_an_odd_body_stay() -> None:
    long_line = b"note: " + b"word " * 100 + b"end"
    before = b"\xef\xbb\xbf---  \r\n" + long_line + b"\r\nflag: no\r\nartifacts: [a]\r\n---\r\nbody \xff\r\n---\r\nmore"

    result = after(before, {"artifacts.append": ["b"], "decisionLog.append": [{"x": 1}]})

    assert result == before.replace(b"[a]\r\n", b"[a, b]\r\ndecisionLog:\r\n  - x: 1\r\n")


@pytest.mark.parametrize(
    "value",
    ["no", "null", "1", "1.5", "~", "", " x", "x ", "a: b", "#c", "- x", "2026-01-03", "é", "a\nb", "\t", "\x7f\u2028", "😀", "'", '"'],
)
def test_a_string_is_read_back_as_the_same_string(value: str) -> None:
    result = after(b"---\nvariables:\n  old: 1\n---\n", {"variables.set": {"key": value, f"k{value}": [value, {"in": value}]}})

    assert parse(result)["variables"] == {"old": 1, "key": value, f"k{value}": [value, {"in": value}]}


_text = st.text(st.characters(codec="utf-8"), max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(values=st.dictionaries(_text, _json, max_size=4), log=st.lists(st.dictionaries(_text, _json, max_size=3), max_size=3))
def test_whatever_json_can_say_is_read_back_the_same_and_the_rest_is_untouched(values: dict[str, Json], log: list[Json]) -> None:
    result = after(WORKFLOW, {"variables.set": values, "decisionLog.append": log})

    state = parse(result)
    assert state["variables"] == {"name": "first", "mode": "fast"} | values
    assert state["decisionLog"] == (log or None)
    assert split(result).rest == split(WORKFLOW).rest
    assert result.startswith(WORKFLOW[: WORKFLOW.index(b"variables:")])


@carries("FS-PATCH-1")
def test_every_mistake_in_an_update_is_named_at_once() -> None:
    with pytest.raises(InvalidArguments) as caught:
        read_operations(
            {
                "stepsCompleted": {"set": ["x"]},
                "unknown": {"append": ["x"]},
                "artifacts.append": [1],
                "variables": "x",
                "currentNodeId.set": "",
                "decisionLog": {"append": ["x"]},
                "updatedAt": {"set": "\ud800"},
            }
        )

    assert sorted(mistake.argument for mistake in caught.value.mistakes) == [
        "update.artifacts.append",
        "update.currentNodeId.set",
        "update.decisionLog.append",
        "update.stepsCompleted.set",
        "update.unknown.append",
        "update.updatedAt.set",
        "update.variables",
    ]


@pytest.mark.parametrize(
    "update", [{}, {"artifacts": {}}, {"artifacts.append": ["a"], "artifacts": {"append": ["b"]}}, {"variables.set": {"x": float("nan")}}]
)
def test_an_update_that_says_nothing_or_too_much_is_a_mistake(update: dict[str, Json]) -> None:
    with pytest.raises(InvalidArguments):
        read_operations(update)


def test_a_value_nested_without_end_is_a_mistake() -> None:
    deep: Json = "x"
    for _ in range(5000):
        deep = [deep]

    with pytest.raises(InvalidArguments):
        read_operations({"variables.set": {"deep": deep}})


@carries("FS-PATCH-9")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="an empty file"),
        pytest.param(b"# title\n", id="no front matter"),
        pytest.param(b"---\na: 1\n", id="no end"),
        pytest.param(b"----\na: 1\n----\n", id="four dashes"),
        pytest.param(b"---\n- a\n---\n", id="a list"),
        pytest.param(b"---\njust text\n---\n", id="a text"),
        pytest.param(b"---\na: [\n---\n", id="a bracket that is not closed"),
        pytest.param(b"---\na: 1\na: 2\n---\n", id="a key twice"),
        pytest.param(b"---\na: \xff\n---\n", id="not UTF-8"),
        pytest.param(b"---\na: \x07\n---\n", id="a control character"),
        pytest.param(b"---\na: &x [1]\nb: *x\n---\n", id="an alias"),
        pytest.param(b"---\na: &x 1\nb: &x 2\n---\n", id="an anchor, and twice"),
        pytest.param(b"---\na: !!python/object/apply:os.system [id]\n---\n", id="an object of Python's"),
        pytest.param(b"---\na: 2026-99-99\n---\n", id="a date that cannot be"),
        pytest.param(b"---\na: " + b"9" * 5000 + b"\n---\n", id="a number without end"),
        pytest.param(b"---\na: " + b"[" * 5000 + b"]" * 5000 + b"\n---\n", id="a tree without end"),
        pytest.param(b"---\n" + b"a: 1\n" * 100_000 + b"---\n", id="too long"),
        pytest.param(b"---\na: 1\n...\nb: 2\n---\n", id="two documents"),
        pytest.param(b"---\n\ta: 1\n---\n", id="a tab for indentation"),
    ],
)
async def test_front_matter_that_cannot_be_read_is_told_and_the_file_stays(mount: Mount, root: Path, data: bytes) -> None:
    (root / "workflow.md").write_bytes(data)

    with pytest.raises(InvalidFrontMatter):
        await patch(Changes(), at(mount, "workflow.md"), {"currentNodeId.set": "x"})

    assert everything(root) == {"workflow.md": data}


def test_aliases_that_would_grow_to_a_billion_cost_nothing() -> None:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [
        b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30)
    ]
    started = time.thread_time()

    with pytest.raises(InvalidFrontMatter):
        parse(b"---\n" + b"\n".join(lines) + b"\n---\n")

    assert time.thread_time() - started < 1


@given(st.binary(max_size=80) | st.text("-?:,[]{}#&*!|>'\"%@`~ \n\tab01", max_size=60).map(str.encode))
def test_no_front_matter_is_so_odd_that_it_is_no_clear_error(front: bytes) -> None:
    data = b"---\n" + front + b"\n---\nbody"

    try:
        result = after(data, {"artifacts.append": ["n"], "currentNodeId.set": "x"})
    except HoldfastError:
        return

    assert parse(result)["currentNodeId"] == "x"
    assert result.endswith(b"\n---\nbody")


@pytest.mark.parametrize("front", [b"artifacts: text", b"artifacts: {a: 1}", b"artifacts: 1"])
def test_a_list_cannot_be_added_to_what_is_none(front: bytes) -> None:
    with pytest.raises(InvalidState):
        after(b"---\n" + front + b"\n---\n", {"artifacts.append": ["x"]})


def test_variables_cannot_be_set_in_what_is_no_mapping() -> None:
    with pytest.raises(InvalidState):
        after(b"---\nvariables: [a]\n---\n", {"variables.set": {"x": 1}})


@carries("FS-PATCH-10", "FS-PATCH-12")
async def test_a_stale_hash_a_missing_file_and_a_limit_change_nothing(mount: Mount, root: Path) -> None:
    (root / "workflow.md").write_bytes(WORKFLOW)

    with pytest.raises(StaleHash):
        await patch(Changes(), at(mount, "workflow.md"), {"artifacts.append": ["x"]}, only_if=sha256(b"older"))
    with pytest.raises(NotFound):
        await patch(Changes(), at(mount, "missing.md"), {"artifacts.append": ["x"]})
    with pytest.raises(TooLarge):
        await patch(Changes(), at(mount, "workflow.md"), {"artifacts.append": ["x" * 100]}, max_bytes=len(WORKFLOW) + 50)

    assert everything(root) == {"workflow.md": WORKFLOW}


def test_the_parts_of_a_file_are_the_file() -> None:
    parts = split(WORKFLOW)

    assert parts.opening + parts.front + parts.rest == WORKFLOW
    assert parts.rest.startswith(b"---\n\n# Body")


WORKFLOW = b"""\
---
# Where we are. Do not reorder.
title:   "A  plan"      # two spaces
stepsCompleted:
- step-01   # done on Monday

flag: no
currentNodeId: "step-01"
variables:
    name: first
    mode: 'fast' # or slow
updatedAt: 2026-01-03
decisionLog:
unknown: {b: 1,   a: [1,2]}
# the end
---

# Body
stays \xff as it is\r
---
"""

PATCHED = b"""\
---
# Where we are. Do not reorder.
title:   "A  plan"      # two spaces
stepsCompleted:
- step-01   # done on Monday
- step-02

flag: no
currentNodeId: "step-02"
variables:
    name: 'no'
    mode: 'fast' # or slow
    depth: 2
updatedAt: '2026-01-04T10:00:00Z'
decisionLog:
  - at: step-01
    why: 'it''s: ''so'''
unknown: {b: 1,   a: [1,2]}
artifacts:
  - out/plan.md
# the end
---

# Body
stays \xff as it is\r
---
"""
