"""What `fs` shows a model, what it takes from one, and the tool host through which a workflow's engine uses it."""

import asyncio
import json
import re
from typing import Any, cast

import pytest

from holdfast import ToolHost
from holdfast.vocabulary.json import Json
from tests.desk import Desk
from tests.promises import carries

# As the document has them; descriptions and defaults are ours.
SCHEMAS: dict[str, dict[str, Any]] = {
    "fs.list": {"properties": {"path": {"type": "string"}}, "required": ["path"]},
    "fs.read": {
        "properties": {
            "path": {"type": "string"},
            "startLine": {"type": "integer", "minimum": 1},
            "endLine": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
    },
    "fs.search": {
        "properties": {
            "path": {"type": "string"},
            "pattern": {"type": "string"},
            "before": {"type": "integer", "minimum": 0},
            "after": {"type": "integer", "minimum": 0},
            "maxMatches": {"type": "integer", "minimum": 1},
        },
        "required": ["path", "pattern"],
    },
    "fs.write": {
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "ifMatchSha256": {"type": "string"}},
        "required": ["path", "content"],
    },
    "fs.apply_patch": {
        "properties": {
            "path": {"type": "string"},
            "patch": {
                "type": "object",
                "properties": {
                    "operation": {"const": "updateFrontmatter"},
                    "update": {"type": "object"},
                    "ifMatchSha256": {"type": "string"},
                },
                "required": ["operation", "update"],
                "additionalProperties": True,
            },
        },
        "required": ["path", "patch"],
    },
}


def without_notes(schema: Any) -> Any:
    """A schema without what only explains it."""
    if not isinstance(schema, dict):
        return schema
    notes = ("description", "default")
    items = cast("dict[str, Any]", schema).items()
    return {key: without_notes(value) for key, value in items if key not in notes or isinstance(value, dict)}


async def executed(desk: Desk, name: str, arguments: str, agent: str = "sm") -> Any:
    return await ToolHost(desk.holdfast).execute("call-1", name, arguments, {"agentId": agent})


@carries("FS-SCHEMA-1", "TYPE-3")
@pytest.mark.parametrize("tool", SCHEMAS)
async def test_a_schema_is_the_documents_and_allows_no_other_key(desk: Desk, tool: str) -> None:
    found = desk.holdfast.road.registry.get(tool)

    assert found is not None
    assert without_notes(found.schema) == {"type": "object", **SCHEMAS[tool], "additionalProperties": False}


@carries("FS-SCHEMA-1")
async def test_every_argument_says_what_it_is(desk: Desk) -> None:
    for tool in desk.holdfast.tools():
        assert tool.description
        assert all(parameter.schema.get("description") for parameter in tool.parameters if parameter.name != "patch"), tool.name


@carries("FS-SCHEMA-2")
async def test_keys_that_the_schema_does_not_know_are_ignored(desk: Desk) -> None:
    desk.write("notes.md", "text\n")

    said = await desk.call("fs.read", path="@project/notes.md", reason="to see", encoding="utf-8", extra={"deep": [1]})

    assert (said["ok"], said["content"]) == (True, "text\n")


@carries("FS-SCHEMA-3", "ROAD-2")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("fs.list", {}, ["path"]),
        ("fs.list", {"path": None}, ["path"]),
        ("fs.read", {"startLine": 0, "endLine": "2"}, ["path", "startLine", "endLine"]),
        ("fs.read", {"path": ["@project"], "startLine": 1.5}, ["path", "startLine"]),
        (
            "fs.search",
            {"path": 1, "pattern": 2, "before": -1, "after": True, "maxMatches": 0},
            ["path", "pattern", "before", "after", "maxMatches"],
        ),
        ("fs.write", {"path": "@project/x", "content": {"a": 1}, "ifMatchSha256": 3}, ["content", "ifMatchSha256"]),
        ("fs.apply_patch", {"path": "@state/x", "patch": {}}, ["patch.operation", "patch.update"]),
        ("fs.apply_patch", {"path": "@state/x", "patch": {"operation": "updateFrontmatter", "update": []}}, ["patch.update"]),
        ("fs.apply_patch", {"patch": "updateFrontmatter"}, ["path", "patch"]),
    ],
)
async def test_bad_arguments_are_a_schema_violation_that_names_every_mistake(
    desk: Desk, tool: str, arguments: dict[str, Json], named: list[str]
) -> None:
    said = await desk.take(tool, arguments)

    assert (said["error"]["code"], desk.last_code) == ("E_SCHEMA_VALIDATION", "invalid_arguments")
    assert sorted(said["error"]["details"]["arguments"]) == sorted(named)
    assert all(f"'{name}'" in said["error"]["message"] for name in named)
    assert list(desk.root.iterdir()) == []


@carries("FS-SCHEMA-3")
@pytest.mark.parametrize("deep", [65, 300, 900])
async def test_arguments_nested_without_end_are_a_schema_violation(desk: Desk, deep: int) -> None:
    nested = "[" * deep + "]" * deep

    said = await desk.take("fs.apply_patch", f'{{"path": "@state/x", "patch": {nested}}}')
    told = await desk.take("fs.apply_patch", {"path": "@state/x", "patch": json.loads(nested)})

    assert (said["error"]["code"], told["error"]["code"]) == ("E_SCHEMA_VALIDATION", "E_SCHEMA_VALIDATION")
    assert len(desk.audit()) == 2


@carries("FS-HOST-1")
async def test_the_visible_tools_are_five_openai_functions_with_names_for_the_wire(desk: Desk) -> None:
    tools: list[dict[str, Any]] = ToolHost(desk.holdfast).visible_tools("fs")

    assert [tool["function"]["name"] for tool in tools] == ["fs_apply_patch", "fs_list", "fs_read", "fs_search", "fs_write"]
    assert all(tool["type"] == "function" and tool.keys() == {"type", "function"} for tool in tools)
    assert all(tool["function"].keys() == {"name", "description", "parameters"} for tool in tools)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["function"]["name"]) for tool in tools)
    assert json.dumps(tools)


@carries("FS-HOST-2", "AUDIT-2")
@pytest.mark.parametrize("name", ["fs_read", "fs.read"])
async def test_a_call_is_an_id_a_name_of_either_kind_json_text_and_a_context(desk: Desk, name: str) -> None:
    desk.write("notes.md", "text\n")

    said = await executed(desk, name, '{"path": "@project/notes.md", "startLine": 1, "endLine": 20}')

    line = desk.audit()[-1]
    assert (said["ok"], said["content"]) == (True, "text\n")
    assert (line["toolCallId"], line["toolName"], line["agentId"]) == ("call-1", "fs.read", "sm")
    assert line["input"] == {"path": "@project/notes.md", "startLine": 1, "endLine": 20}


@carries("FS-HOST-5")
@pytest.mark.parametrize("arguments", ["", "not json", "[]", '"text"', "null", "3", '{"path": ', '{"path": NaN}', "{" * 2000, "\ud800"])
async def test_arguments_that_are_no_json_object_are_an_answer_with_ok_false(desk: Desk, arguments: str) -> None:
    said = await executed(desk, "fs_read", arguments)

    assert (said["ok"], said["error"]["code"]) == (False, "E_SCHEMA_VALIDATION")
    assert len(desk.audit()) == 1


@carries("FS-HOST-5", "ROAD-1")
@pytest.mark.parametrize("name", ["fs.delete", "", "read_file", "file_write", "__class__", "fs/read", "x" * 100_000, "\ud800"])
async def test_a_tool_that_is_unknown_to_the_agent_is_an_answer_with_ok_false(desk: Desk, name: str) -> None:
    said = await executed(desk, name, "{}")

    assert (said["ok"], said["error"]["code"]) == (False, "E_INTERNAL")
    assert "Unknown tool" in said["error"]["message"]
    assert len(json.dumps(said)) < 1_000
    assert len(desk.audit()) == 1


@carries("FS-HOST-3")
async def test_answers_survive_json_dumps_whatever_the_disk_holds(desk: Desk) -> None:
    desk.write("odd.bin", bytes(range(256)) * 10 + b"\nneedle \xff\n")
    (desk.root / b"caf\xe9".decode(errors="surrogateescape")).write_bytes(b"needle \xed\xa0\x80\n")
    calls: list[tuple[str, dict[str, Json]]] = [
        ("fs_list", {"path": "@project"}),
        ("fs_read", {"path": "@project/odd.bin"}),
        ("fs_search", {"path": "@project", "pattern": "needle"}),
        ("fs_search", {"path": "@project", "pattern": "/need.e/"}),
    ]

    for name, arguments in calls:
        said = await executed(desk, name, json.dumps(arguments))

        assert said["ok"], said
        assert json.loads(json.dumps(said, ensure_ascii=False).encode()) == said


@carries("FS-HOST-6", "ROAD-4", "AUDIT-1")
async def test_a_cancelled_call_stops_changes_nothing_more_and_is_audited(desk: Desk) -> None:
    started = asyncio.Event()
    desk.holdfast.watch(lambda event: started.set())
    desk.write("notes.md", "before\n")

    call = asyncio.create_task(executed(desk, "fs_write", '{"path": "@project/notes.md", "content": "after\\n"}'))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    seen = desk.text("notes.md")
    await asyncio.sleep(0.05)
    assert desk.text("notes.md") == seen in ("before\n", "after\n")
    assert [entry.name for entry in desk.root.iterdir()] == ["notes.md"]
    lines = desk.audit()
    assert len(lines) == 1
    assert lines[0]["output"]["code"] == "cancelled"
