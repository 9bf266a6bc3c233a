"""The guard of a workflow's state."""

import pytest

from holdfast.vocabulary.errors import InvalidFrontMatter, InvalidState, InvalidTransition
from holdfast.workspace.workflow import guard_workflow
from tests.promises import carries

EDGES = {"draft": ("review",), "review": ("draft", "done")}


def state(front: str) -> bytes:
    return f"---\n{front}\n---\nbody\n".encode()


def at_node(node: str) -> bytes:
    return state(f"currentNodeId: {node}")


@carries("FS-FLOW-3")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(at_node("draft"), at_node("review"), id="along an edge"),
        pytest.param(at_node("review"), at_node("draft"), id="back along an edge"),
        pytest.param(at_node("draft"), at_node("draft"), id="staying"),
        pytest.param(at_node("elsewhere"), at_node("elsewhere"), id="staying at a node that is not declared"),
        pytest.param(None, at_node("done"), id="a new file at any node"),
        pytest.param(state("title: x"), at_node("draft"), id="from no node to any"),
        pytest.param(b"no front matter", at_node("draft"), id="from what cannot be read"),
    ],
)
def test_a_step_that_the_graph_allows_passes(before: bytes | None, after: bytes) -> None:
    guard_workflow(before, after, EDGES)


@carries("FS-FLOW-3")
@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        pytest.param(at_node("draft"), at_node("done"), ["review"], id="over a node"),
        pytest.param(at_node("done"), at_node("draft"), [], id="from the end"),
        pytest.param(at_node("elsewhere"), at_node("draft"), [], id="from a node that is not declared"),
        pytest.param(None, at_node("elsewhere"), ["draft", "review", "done"], id="a new file at a node that is not declared"),
    ],
)
def test_a_step_that_the_graph_does_not_have_is_refused_with_those_that_it_has(
    before: bytes | None, after: bytes, allowed: list[str]
) -> None:
    with pytest.raises(InvalidTransition) as caught:
        guard_workflow(before, after, EDGES)

    assert caught.value.facts["allowed"] == allowed


@carries("FS-FLOW-3")
def test_without_edges_any_node_may_follow_any_other() -> None:
    guard_workflow(at_node("draft"), at_node("anything"), None)
    guard_workflow(at_node("draft"), state("title: none"), None)


@carries("FS-FLOW-2")
@pytest.mark.parametrize(
    "front",
    [
        "currentNodeId: ''",
        "currentNodeId: 7",
        "currentNodeId: [a]",
        "currentNodeId: draft\nstepsCompleted: text",
        "currentNodeId: draft\nstepsCompleted: [1]",
        "currentNodeId: draft\nartifacts: {a: 1}",
        "currentNodeId: draft\nvariables: [a]",
        "currentNodeId: draft\ndecisionLog: [a]",
    ],
)
def test_a_state_of_the_wrong_kind_is_refused(front: str) -> None:
    for edges in (EDGES, None):
        with pytest.raises(InvalidState):
            guard_workflow(at_node("draft"), state(front), edges)


@pytest.mark.parametrize("front", ["title: x", "currentNodeId:"])
def test_a_workflow_with_a_graph_must_be_at_a_node(front: str) -> None:
    with pytest.raises(InvalidState):
        guard_workflow(at_node("draft"), state(front), EDGES)


def test_lists_that_are_not_begun_yet_are_no_mistake() -> None:
    guard_workflow(None, state("currentNodeId: draft\nstepsCompleted:\nartifacts: []\nvariables: ~\ndecisionLog: [{why: x}]"), EDGES)


@carries("FS-FLOW-1")
@pytest.mark.parametrize("after", [b"", b"# text\n", b"---\na: [\n---\n"])
def test_a_workflow_without_front_matter_is_refused(after: bytes) -> None:
    with pytest.raises(InvalidFrontMatter):
        guard_workflow(at_node("draft"), after, None)
