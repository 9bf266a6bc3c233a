"""The guard of @state/workflow.md in fs.write and fs.apply_patch."""

from typing import Any

import pytest

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.profile import Profile, Workflow
from tests.desk import Desk
from tests.promises import carries

AT_DRAFT = "---\ncurrentNodeId: draft\nstepsCompleted: [start]\n---\nbody\n"
EDGES = Profile("flow", ("fs",), workflow=Workflow({"draft": ("review",), "review": ("draft", "done")}))


async def write(desk: Desk, content: str, profile: Profile | None = None, path: str = "@state/workflow.md") -> Any:
    return await desk.take("fs.write", {"path": path, "content": content}, profile)


async def patch(desk: Desk, update: Json, profile: Profile | None = None, path: str = "@state/workflow.md") -> Any:
    return await desk.take("fs.apply_patch", {"path": path, "patch": {"operation": "updateFrontmatter", "update": update}}, profile)


def put(desk: Desk, text: str) -> None:
    (desk.state / "workflow.md").write_text(text)


def now(desk: Desk) -> str:
    return (desk.state / "workflow.md").read_text()


@carries("FS-FLOW-1", "FS-FLOW-4")
@pytest.mark.parametrize("content", ["", "no front matter\n", "---\nnever: closed\n", "---\na: [\n---\n", "---\n- list\n---\n"])
async def test_a_workflow_without_valid_front_matter_is_refused_and_stays_as_it_was(desk: Desk, content: str) -> None:
    put(desk, AT_DRAFT)

    said = await write(desk, content)

    assert (said["error"]["code"], now(desk)) == ("E_INVALID_FRONTMATTER", AT_DRAFT)


@carries("FS-FLOW-1")
async def test_a_patch_of_a_workflow_without_valid_front_matter_is_refused(desk: Desk) -> None:
    put(desk, "none\n")

    said = await patch(desk, {"currentNodeId": {"set": "draft"}})

    assert (said["error"]["code"], now(desk)) == ("E_INVALID_FRONTMATTER", "none\n")


@carries("FS-FLOW-2", "FS-FLOW-4")
@pytest.mark.parametrize(
    "front",
    ["currentNodeId: 3", "currentNodeId: ''", "stepsCompleted: start", "stepsCompleted: [1]", "artifacts: {a: b}", "variables: [a]"],
)
async def test_a_field_of_the_wrong_shape_is_a_schema_violation_and_nothing_is_written(desk: Desk, front: str) -> None:
    put(desk, AT_DRAFT)

    said = await write(desk, f"---\n{front}\n---\n")

    assert (said["error"]["code"], now(desk)) == ("E_SCHEMA_VALIDATION", AT_DRAFT)


@carries("FS-FLOW-3", "FS-FLOW-4")
@pytest.mark.parametrize("node", ["done", "nowhere", "start"])
async def test_the_node_cannot_leave_the_graphs_edges_by_either_tool(desk: Desk, node: str) -> None:
    put(desk, AT_DRAFT)

    patched = await patch(desk, {"currentNodeId": {"set": node}}, EDGES)
    written = await write(desk, AT_DRAFT.replace("draft", node), EDGES)

    assert (patched["error"]["code"], written["error"]["code"]) == ("E_INVALID_TRANSITION", "E_INVALID_TRANSITION")
    assert now(desk) == AT_DRAFT


@carries("FS-FLOW-3")
async def test_the_node_moves_along_the_edges_and_may_stay(desk: Desk) -> None:
    put(desk, AT_DRAFT)

    stay = await patch(desk, {"stepsCompleted": {"append": ["draft"]}}, EDGES)
    along = await patch(desk, {"currentNodeId": {"set": "review"}}, EDGES)
    further = await write(desk, now(desk).replace("currentNodeId: review", "currentNodeId: done"), EDGES)

    assert (stay["ok"], along["ok"], further["ok"]) == (True, True, True)
    assert "currentNodeId: done" in now(desk)


@carries("FS-FLOW-3")
async def test_without_edges_the_node_moves_freely(desk: Desk) -> None:
    put(desk, AT_DRAFT)

    said = await patch(desk, {"currentNodeId": {"set": "anywhere"}})

    assert (said["ok"], "currentNodeId: anywhere" in now(desk)) == (True, True)


@carries("FS-FLOW-3")
async def test_a_new_workflow_begins_at_any_node_that_is_declared_and_at_no_other(desk: Desk) -> None:
    other = await write(desk, "---\ncurrentNodeId: nowhere\n---\n", EDGES)
    declared = await write(desk, "---\ncurrentNodeId: draft\n---\n", EDGES)

    assert (other["error"]["code"], declared["ok"]) == ("E_INVALID_TRANSITION", True)


@carries("FS-FLOW-4")
@pytest.mark.parametrize("path", ["@state/other.md", "@state/sub/workflow.md", "@project/workflow.md", "@state/Workflow.md"])
async def test_other_files_are_not_guarded(desk: Desk, path: str) -> None:
    assert (await write(desk, "no front matter\n", EDGES, path))["ok"] is True


@carries("FS-FLOW-1", "FS-FLOW-3")
@pytest.mark.parametrize(
    "path", ["@state/./workflow.md", "@state\\workflow.md", "@state/link.md", "@state/sub/../workflow.md", " @state//workflow.md "]
)
async def test_no_other_spelling_gets_around_the_guard(desk: Desk, path: str) -> None:
    put(desk, AT_DRAFT)
    (desk.state / "link.md").symlink_to("workflow.md")

    written = await write(desk, "no front matter\n", EDGES, path)
    patched = await patch(desk, {"currentNodeId": {"set": "done"}}, EDGES, path)

    assert (written["ok"], patched["ok"], now(desk)) == (False, False, AT_DRAFT)
