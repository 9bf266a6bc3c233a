"""fs.apply_patch"""

import hashlib
import os
from typing import Any

import pytest

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.limits import FsLimits, Limits
from holdfast.vocabulary.profile import Profile
from tests.desk import Desk
from tests.promises import carries

FLOW = """---
# where we are
currentNodeId: draft   # the node
stepsCompleted:
  - start   # first
variables:
  name: Ada
  "odd key": {a: [1, 2]}
custom: {kept:  yes}
updatedAt: 2026-01-03T00:00:00Z
---
# Body

--- is not an end here\r
\ttabs and trailing blanks   \nno end of line"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def put(desk: Desk, text: str, name: str = "flow.md") -> None:
    (desk.state / name).write_bytes(text.encode(errors="surrogateescape"))


def text(desk: Desk, name: str = "flow.md") -> str:
    return (desk.state / name).read_bytes().decode(errors="surrogateescape")


async def patch(desk: Desk, update: Json, path: str = "@state/flow.md", **more: Json) -> Any:
    return await desk.call("fs.apply_patch", path=path, patch={"operation": "updateFrontmatter", "update": update, **more})


@carries("FS-PATCH-1", "FS-SCHEMA-3")
@pytest.mark.parametrize("operation", ["replaceBody", "", "updatefrontmatter", None, 3])
async def test_another_operation_is_a_schema_violation_and_changes_nothing(desk: Desk, operation: Json) -> None:
    put(desk, FLOW)

    said = await desk.call(
        "fs.apply_patch", path="@state/flow.md", patch={"operation": operation, "update": {"currentNodeId": {"set": "x"}}}
    )

    assert (said["error"]["code"], text(desk)) == ("E_SCHEMA_VALIDATION", FLOW)


@carries("FS-PATCH-1")
@pytest.mark.parametrize(
    "update",
    [
        {},
        {"unknown": {"set": 1}},
        {"stepsCompleted": {"remove": ["a"]}},
        {"stepsCompleted": ["a"]},
        {"stepsCompleted.append": [1]},
        {"currentNodeId": {"set": 3}},
        {"currentNodeId": "next"},
        {"variables": {"set": ["a"]}},
        {"decisionLog": {"append": ["text"]}},
        {"currentNodeId": {"set": "\ud800"}},
    ],
)
async def test_an_update_that_means_nothing_is_a_schema_violation_and_changes_nothing(desk: Desk, update: Json) -> None:
    put(desk, FLOW)

    said = await patch(desk, update)

    assert (said["error"]["code"], text(desk)) == ("E_SCHEMA_VALIDATION", FLOW)


@carries("FS-PATCH-2")
@pytest.mark.parametrize("path", ["@project/flow.md", "@central/flow.md", "@project/new.md"])
async def test_outside_of_state_it_is_a_sandbox_violation(desk: Desk, path: str) -> None:
    desk.write("flow.md", FLOW)
    (desk.holdfast.road.surroundings.mounts["central"].root / "flow.md").write_text(FLOW)

    said = await patch(desk, {"currentNodeId": {"set": "x"}}, path)

    assert (said["error"]["code"], os.listdir(desk.root)) == ("E_SANDBOX_VIOLATION", ["flow.md"])
    assert (desk.root / "flow.md").read_bytes() == FLOW.encode()


@carries("FS-PATCH-3")
@pytest.mark.parametrize("field", ["stepsCompleted", "artifacts"])
async def test_steps_and_artifacts_get_what_they_do_not_have_yet_each_once(desk: Desk, field: str) -> None:
    put(desk, f"---\n{field}:\n  - one\n---\nbody\n")

    await patch(desk, {field: {"append": ["one", "two", "two", "three"]}})

    assert text(desk) == f"---\n{field}:\n  - one\n  - two\n  - three\n---\nbody\n"


@carries("FS-PATCH-3")
async def test_a_list_that_is_not_there_is_made(desk: Desk) -> None:
    put(desk, "---\ncurrentNodeId: a\n---\n")

    said = await patch(desk, {"artifacts": {"append": ["docs/plan.md"]}})

    assert (said["ok"], "docs/plan.md" in text(desk)) == (True, True)
    assert text(desk).startswith("---\ncurrentNodeId: a\n")


@carries("FS-PATCH-4")
async def test_variables_are_merged_one_level_deep(desk: Desk) -> None:
    put(desk, "---\nvariables:\n  kept: 1\n  nested: {a: 1, b: 2}\n---\n")

    await patch(desk, {"variables": {"set": {"nested": {"c": 3}, "new": "x"}}})

    from holdfast.workspace.front_matter import parse

    assert parse(text(desk).encode())["variables"] == {"kept": 1, "nested": {"c": 3}, "new": "x"}


@carries("FS-PATCH-5")
async def test_decisions_are_appended_as_they_are_also_twice(desk: Desk) -> None:
    put(desk, "---\ndecisionLog:\n  - {id: 1}\n---\n")
    decision: Json = {"id": 2, "why": "because: it's\nlong", "tags": ["a", None, True, 1.5], "Deep Key": {"camelCase": {"snake_case": 1}}}

    await patch(desk, {"decisionLog": {"append": [decision, decision]}})

    from holdfast.workspace.front_matter import parse

    assert parse(text(desk).encode())["decisionLog"] == [{"id": 1}, decision, decision]


@carries("FS-PATCH-6")
async def test_the_node_and_the_time_are_replaced(desk: Desk) -> None:
    put(desk, FLOW)

    await patch(desk, {"currentNodeId": {"set": "review"}, "updatedAt": {"set": "2026-02-01T12:00:00Z"}})

    lines = text(desk).splitlines()
    assert lines[2] == "currentNodeId: review   # the node"
    assert "2026-02-01T12:00:00Z" in lines[9]
    assert text(desk).count("currentNodeId") == 1


@carries("FS-PATCH-7")
async def test_dotted_keys_and_nested_ones_mean_the_same(desk: Desk) -> None:
    put(desk, FLOW, "dotted.md")
    put(desk, FLOW, "nested.md")

    await patch(desk, {"stepsCompleted.append": ["two"], "variables.set": {"x": 1}, "currentNodeId.set": "b"}, "@state/dotted.md")
    nested: Json = {"stepsCompleted": {"append": ["two"]}, "variables": {"set": {"x": 1}}, "currentNodeId": {"set": "b"}}
    await patch(desk, nested, "@state/nested.md")

    assert text(desk, "dotted.md") == text(desk, "nested.md") != FLOW


@carries("FS-PATCH-8")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("body", ["", "body\n", "invalid \udcff bytes\r\nmixed\n", "---\nlooks: like yaml\n---\n"])
async def test_all_that_is_not_updated_stays_byte_for_byte(desk: Desk, newline: str, mark: str, body: str) -> None:
    front = '---\n# comment  \nold:   "quoted"   # why\ncurrentNodeId: a\nunknown: [1,  2,\n  3]\n---\n'.replace("\n", newline)
    put(desk, mark + front + body)

    said = await patch(desk, {"currentNodeId": {"set": "b"}})

    assert said["ok"], said
    assert text(desk) == mark + front.replace("currentNodeId: a", "currentNodeId: b") + body


@carries("FS-PATCH-9")
@pytest.mark.parametrize(
    "broken",
    [
        "no front matter\n",
        "---\nnever: closed\n",
        "---\na: [1\n---\n",
        "---\n- a list\n---\n",
        "---\na: 1\na: 2\n---\n",
        "",
        "---\na: \udcff\n---\n",
    ],
)
async def test_front_matter_that_cannot_be_read_is_an_error_and_the_file_stays(desk: Desk, broken: str) -> None:
    put(desk, broken)

    said = await patch(desk, {"currentNodeId": {"set": "b"}})

    assert (said["error"]["code"], text(desk)) == ("E_INVALID_FRONTMATTER", broken)


@carries("FS-PATCH-10")
async def test_a_hash_that_is_not_the_files_is_a_failed_precondition_and_the_right_one_is_not(desk: Desk) -> None:
    put(desk, FLOW)

    stale = await patch(desk, {"currentNodeId": {"set": "b"}}, ifMatchSha256=sha256("other"))
    unchanged = text(desk)
    good = await patch(desk, {"currentNodeId": {"set": "b"}}, ifMatchSha256=sha256(FLOW))

    assert (stale["error"]["code"], unchanged, good["ok"]) == ("E_PRECONDITION_FAILED", FLOW, True)


@carries("FS-PATCH-11")
async def test_it_answers_the_path_and_the_hash_before_and_after(desk: Desk) -> None:
    put(desk, FLOW)

    said = await patch(desk, {"currentNodeId": {"set": "b"}})

    assert said == {"ok": True, "path": "@state/flow.md", "sha256Before": sha256(FLOW), "sha256After": sha256(text(desk))}
    assert said["sha256After"] != said["sha256Before"]


@carries("FS-PATCH-12")
async def test_the_write_limit_holds_for_the_patched_file(desk: Desk) -> None:
    front = "---\ncurrentNodeId: a\n---\n"
    room = 100_000 - len(front)
    put(desk, front + "x" * room)

    fits = await patch(desk, {"currentNodeId": {"set": "b"}})
    over = await patch(desk, {"currentNodeId": {"set": "bb"}})

    assert fits["ok"], fits
    assert over["error"]["code"] == "E_WRITE_LIMIT"
    assert text(desk) == front.replace(": a", ": b") + "x" * room


@carries("FS-PATCH-12", "FS-HOST-4")
async def test_the_agents_own_write_limit_holds_for_a_patch(desk: Desk) -> None:
    put(desk, "---\ncurrentNodeId: a\n---\n")
    small = Profile("small", ("fs",), limits=Limits(fs=FsLimits(max_write_bytes=30)))
    arguments: dict[str, Json] = {
        "path": "@state/flow.md",
        "patch": {"operation": "updateFrontmatter", "update": {"currentNodeId": {"set": "a long name"}}},
    }

    said = await desk.take("fs.apply_patch", arguments, small)

    assert (said["error"]["code"], text(desk)) == ("E_WRITE_LIMIT", "---\ncurrentNodeId: a\n---\n")


@carries("FS-PATCH-12")
async def test_no_temporary_file_stays_behind_a_patch(desk: Desk) -> None:
    put(desk, FLOW)

    await patch(desk, {"currentNodeId": {"set": "b"}})
    await patch(desk, {"currentNodeId": {"set": "c"}}, ifMatchSha256="0" * 64)

    assert sorted(os.listdir(desk.state)) == ["flow.md", "logs"]
