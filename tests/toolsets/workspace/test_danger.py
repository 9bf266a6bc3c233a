"""Which calls are dangerous, and who may make them"""

from dataclasses import replace
from typing import Any

import pytest

from tests.desk import Desk
from tests.promises import carries

DANGEROUS = {"write", "edit", "rm", "mv", "plan_write", "plan_edit"}
TWENTY = {
    *("ls", "read", "write", "rm", "mv", "touch", "mkdir", "edit", "grep", "glob", "cat", "file_info", "find", "read_multiple_files"),
    *("ask_user", "exit_plan_mode", "plan_write", "plan_read", "plan_edit", "plan_list"),
}


@carries("WS-DANGER-1")
async def test_there_are_twenty_tools_of_which_six_may_be_dangerous(desk: Desk) -> None:
    tools = [tool for tool in desk.holdfast.tools() if tool.toolset == "workspace"]

    assert {tool.name for tool in tools} == TWENTY
    assert {tool.name for tool in tools if tool.danger.value == "dangerous"} == DANGEROUS
    assert all(tool.description and all(each.schema.get("description") for each in tool.parameters) for tool in tools)


@carries("WS-DANGER-1")
@pytest.mark.parametrize(
    ("tool", "arguments", "allowed"),
    [
        ("write", {"path": "/a.md", "content": "x"}, False),
        ("edit", {"path": "/known.md", "old_string": "a", "new_string": "b"}, False),
        ("rm", {"path": "/known.md"}, False),
        ("mv", {"source": "/known.md", "destination": "/b.md"}, False),
        ("plan_write", {"title": "T", "content": "c"}, True),
        ("plan_write", {"title": "T", "content": "c", "path": "/plans/deep/a.plan"}, True),
        ("plan_write", {"title": "T", "content": "c", "path": "/a.plan"}, False),
        ("plan_write", {"title": "T", "content": "c", "path": "/plans/../a.plan"}, False),
        ("plan_edit", {"path": "/plans/known.plan", "old_string": "a", "new_string": "b"}, True),
        ("plan_edit", {"path": "/known.plan", "old_string": "a", "new_string": "b"}, False),
        ("touch", {"path": "/a.md"}, True),
        ("mkdir", {"path": "/a"}, True),
        ("read", {"path": "/known.md"}, True),
    ],
)
async def test_who_may_not_use_dangerous_tools_may_still_plan(desk: Desk, tool: str, arguments: dict[str, Any], allowed: bool) -> None:
    for path in ("known.md", "known.plan", "plans/known.plan"):
        desk.write(path, "a")

    await desk.take(tool, arguments, replace(desk.holdfast.profile, dangerous=False))

    assert desk.last_code == (None if allowed else "forbidden")


@carries("WS-DANGER-1")
async def test_a_link_out_of_plans_does_not_make_a_plan_safe(desk: Desk) -> None:
    (desk.root / "plans").mkdir()
    (desk.root / "elsewhere").mkdir()
    (desk.root / "plans/link").symlink_to("../elsewhere")

    await desk.take(
        "plan_write", {"title": "T", "content": "c", "path": "/plans/link/a.plan"}, replace(desk.holdfast.profile, dangerous=False)
    )

    assert desk.last_code == "forbidden"
    assert not (desk.root / "elsewhere/a.plan").exists()
