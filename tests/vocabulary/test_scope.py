"""Scopes: exactly the tools of the map, and two safe ones when there is no map."""

import pytest

from holdfast.vocabulary.scope import Permission, Scope
from tests.promises import carries


@carries("TYPE-2")
def test_a_scope_allows_exactly_the_tools_that_it_names() -> None:
    scope = Scope({"read": Permission(paths=("docs/**",), timeout_seconds=120)})

    assert scope.permission("read") == Permission(True, ("docs/**",), 120)
    assert scope.permission("write") is None
    assert scope.permission("file_read") is None


@carries("SCOPE-2")
def test_a_tool_that_is_named_and_not_allowed_has_no_permission() -> None:
    assert Scope({"read": Permission(allowed=False)}).permission("read") is None


def test_a_scope_that_allows_nothing_of_what_it_names_does_not_fall_back_to_the_safe_tools() -> None:
    assert Scope({"read": Permission(allowed=False)}).permission("file_read") is None


@carries("REG-5")
@pytest.mark.parametrize(
    ("tool", "allowed"), [("file_read", True), ("web_search", True), ("file_write", False), ("bash", False), ("", False)]
)
def test_an_empty_scope_allows_file_read_and_web_search_alone(tool: str, allowed: bool) -> None:
    assert (Scope().permission(tool) is not None) is allowed


def test_a_scope_of_some_tools_allows_them_without_conditions() -> None:
    scope = Scope.of("read", "fs.list")

    assert scope.permission("fs.list") == Permission()
    assert scope.permission("fs.read") is None
