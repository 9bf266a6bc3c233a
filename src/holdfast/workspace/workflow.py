"""What the state of a workflow must look like, and where it may go from where it is."""

from collections.abc import Callable, Mapping
from typing import cast

from holdfast.vocabulary.errors import InvalidFrontMatter, InvalidState, InvalidTransition

from .front_matter import parse

Edges = Mapping[str, tuple[str, ...]]


def guard_workflow(before: bytes | None, after: bytes, edges: Edges | None) -> None:
    """Let only a state pass that is valid and can be reached from the one before.

    Without `edges` every node can be reached from every other. Staying is
    always possible, and a workflow without a node can begin at any that
    is declared.

    Raises:
        InvalidFrontMatter: The new state has no front matter that can be read.
        InvalidState: Something in it is not of its kind.
        InvalidTransition: The graph has no such edge.
    """
    state = parse(after)
    for key, (fits, kind) in _KINDS.items():
        if state.get(key) is not None and not fits(state[key]):
            raise InvalidState(f"'{key}' must be {kind}", hint="Correct it, then write again.", key=key, found=type(state[key]).__name__)
    if edges is None:
        return
    if state.get("currentNodeId") is None:
        raise InvalidState("'currentNodeId' is missing", hint="Say at which node the workflow is.", key="currentNodeId")
    _check_transition(_node(before), str(state["currentNodeId"]), edges)


def _check_transition(source: str | None, target: str, edges: Edges) -> None:
    if source == target:
        return
    allowed = edges.get(source, ()) if source is not None else _nodes(edges)
    if target in allowed:
        return
    raise InvalidTransition(
        f"the workflow cannot go from '{source}' to '{target}'" if source else f"'{target}' is not a node of the workflow",
        hint=f"Possible next: {', '.join(allowed)}." if allowed else "Nothing comes after this node.",
        source=source,
        target=target,
        allowed=list(allowed),
    )


def _nodes(edges: Edges) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node for source, targets in edges.items() for node in (source, *targets)))


def _node(data: bytes | None) -> str | None:
    """Where a workflow is; nowhere if it cannot be read, for then a person has to be able to mend it."""
    if data is None:
        return None
    try:
        node = parse(data).get("currentNodeId")
    except InvalidFrontMatter:
        return None
    return node if isinstance(node, str) and node else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(fits(item) for item in cast("list[object]", value))


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "currentNodeId": (_is_name, "a string that is not empty"),
    "stepsCompleted": (_is_list_of(_is_name), "a list of strings"),
    "artifacts": (_is_list_of(_is_name), "a list of strings"),
    "variables": (_is_mapping, "a mapping"),
    "decisionLog": (_is_list_of(_is_mapping), "a list of mappings"),
}
