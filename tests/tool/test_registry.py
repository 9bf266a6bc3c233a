"""The registry: which tools there are, and which of them somebody may see."""

import threading
from collections.abc import Callable

import pytest

from holdfast.tool import Audience, Context, Danger, tool
from holdfast.tool.definition import WireNames, neutral
from holdfast.tool.registry import Registry
from holdfast.tool.tool import Tool
from holdfast.tool.toolset import Toolset, find_toolsets
from holdfast.vocabulary.profile import SHIPPED
from holdfast.vocabulary.scope import Permission, Scope
from tests.promises import carries
from tests.tool.plain import PLAIN


@pytest.fixture
def registry() -> Registry:
    """All toolsets that are shipped."""
    return Registry(find_toolsets("holdfast.toolsets"))


def names(tools: list[Tool]) -> list[str]:
    return [each.name for each in tools]


@carries("REG-1")
def test_a_tool_is_found_by_its_name_and_an_unknown_one_is_not(registry: Registry) -> None:
    found = registry.get("fs.read")

    assert found is not None
    assert (found.name, found.toolset) == ("fs.read", "fs")
    assert [registry.get(name) for name in ("fs_read", "FS.READ", "fs.", "", "no_such_tool", "fs.read ")] == [None] * 6


@carries("REG-1")
def test_a_tool_that_was_found_once_is_the_same_the_next_time(registry: Registry) -> None:
    assert registry.get("fs.read") is registry.get("fs.read")


@carries("REG-3")
def test_without_a_scope_every_tool_for_models_is_listed_in_order(registry: Registry) -> None:
    listed = names(registry.list_for_scope(None))

    for_people = [name for name in registry.names() if name not in listed]
    assert listed == [name for name in registry.names() if name in listed]
    assert {
        "file_read",
        "file_write",
        "fs.list",
        "fs.read",
        "fs.search",
        "fs.write",
        "fs.apply_patch",
        "read_file",
        "list_directory",
    } <= set(listed)
    assert all((found := registry.get(name)) is not None and found.declaration.audience is Audience.PERSON for name in for_people)


@carries("REG-4", "AC-9")
def test_a_scope_lists_what_it_allows_and_nothing_else(registry: Registry) -> None:
    scope = Scope({"fs.write": Permission(), "file_read": Permission(), "fs.list": Permission(allowed=False), "no_such_tool": Permission()})

    assert names(registry.list_for_scope(scope)) == ["file_read", "fs.write"]


@carries("REG-5", "AC-10")
def test_a_scope_without_permissions_lists_file_read_and_web_search_as_far_as_they_exist(registry: Registry) -> None:
    existing = [name for name in registry.names() if name in ("file_read", "web_search")]

    assert names(registry.list_for_scope(Scope())) == existing
    assert "file_read" in existing


@carries("SCOPE-5")
def test_a_shipped_profile_lists_the_whole_of_its_toolsets(registry: Registry) -> None:
    fs, simple = SHIPPED["fs"], SHIPPED["simple"]

    assert names(registry.list_for_scope(fs.scope, toolsets=fs.toolsets)) == [
        "fs.apply_patch",
        "fs.list",
        "fs.read",
        "fs.search",
        "fs.write",
    ]
    assert names(registry.list_for_scope(simple.scope, toolsets=simple.toolsets)) == ["list_directory", "read_file"]


def test_a_scope_is_judged_within_the_toolsets_that_are_wanted(registry: Registry) -> None:
    assert names(registry.list_for_scope(Scope.of("fs.read", "file_read"), toolsets=["core"])) == ["file_read"]
    assert registry.list_for_scope(None, toolsets=[]) == []
    assert registry.list_for_scope(None, toolsets=["no such toolset"]) == []


def test_names_are_told_for_a_scope_and_toolsets_as_tools_are_listed(registry: Registry) -> None:
    scope = Scope.of("fs.read", "file_read")

    assert registry.names(scope) == ["file_read", "fs.read"]
    assert registry.names(scope, toolsets=["fs"]) == ["fs.read"]
    assert registry.names(toolsets=["simple"]) == ["list_directory", "read_file"]
    assert registry.names(Scope(), toolsets=["simple"]) == []


@carries("REG-6")
def test_definitions_for_a_scope_come_in_the_order_of_the_tools(registry: Registry) -> None:
    listed = registry.list_for_scope(Scope.of("fs.write", "fs.list"))

    assert [neutral(each)["name"] for each in listed] == ["fs.list", "fs.write"]


@carries("REG-8")
def test_all_shipped_tools_have_names_on_the_wire_that_lead_back(registry: Registry) -> None:
    wire = WireNames(registry.names())

    assert wire.to_wire("fs.list") == "fs_list"
    assert [wire.from_wire(wire.to_wire(name)) for name in registry.names()] == registry.names()


@carries("ROAD-8")
def test_what_changes_files_is_dangerous_and_what_reads_them_is_safe(registry: Registry) -> None:
    dangers = {each.name: each.danger for each in registry.list_for_scope(None, toolsets=["core", "fs", "simple"])}

    dangerous = {name for name, danger in dangers.items() if danger is Danger.DANGEROUS}
    assert {"file_write", "fs.write", "fs.apply_patch"} <= dangerous
    assert not dangerous & {"file_read", "fs.list", "fs.read", "fs.search", "read_file", "list_directory"}


@carries("REG-7")
def test_many_threads_that_ask_at_once_all_get_the_same_tools() -> None:
    for _ in range(20):
        registry = Registry(find_toolsets("holdfast.toolsets"))
        together = threading.Barrier(8)
        found: list[list[str]] = []

        def ask(registry: Registry = registry, together: threading.Barrier = together, found: list[list[str]] = found) -> None:
            together.wait()
            found.append(names(registry.list_for_scope(None)) + [str(registry.get(name) is not None) for name in registry.names()])

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

        assert len(found) == 8
        assert all(each == found[0] for each in found)


def test_a_tool_for_people_is_found_and_never_listed_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool(audience=Audience.PERSON)
    async def restore(ctx: Context) -> None: ...

    class Fixed(Toolset):
        def load(self, name: str) -> Tool | None:
            return Tool(name, self.name, self.dialect, restore)

    registry = Registry([Fixed("person", "nowhere", PLAIN, frozenset({"restore"}))])

    assert registry.get("restore") is not None
    assert registry.list_for_scope(None) == []
    assert registry.list_for_scope(Scope.of("restore")) == []


ASKED: list[Callable[[Registry], object]] = [
    Registry.names,
    lambda registry: registry.get("x"),
    lambda registry: registry.list_for_scope(None),
]


@pytest.mark.parametrize("ask", ASKED)
def test_an_empty_registry_has_nothing(ask: Callable[[Registry], object]) -> None:
    assert not ask(Registry([]))
